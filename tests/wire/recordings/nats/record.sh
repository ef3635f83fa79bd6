#!/usr/bin/env bash
# Records what nats-server sends to a client, one file for each conversation, in this folder.
# Needs bash (for /dev/tcp) and nats-server. What changes from run to run is replaced by made-up
# text of the same length. The tests need only the files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
stop_server() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" || true; fi
  server=
}
trap 'stop_server; rm -rf "$work"' EXIT

# start_server [configuration line...]: sets `server` and `port`.
start_server() {
  stop_server
  rm -f "$work"/*.ports
  { echo 'listen: "127.0.0.1:-1"'; echo 'server_name: "recorded"'
    echo "ports_file_dir: \"$work\""; printf '%s\n' "$@"; } >"$work/server.conf"
  nats-server -c "$work/server.conf" -l "$work/server.log" &
  server=$!
  until grep -qs nats "$work"/*.ports; do sleep 0.05; done
  port=$(sed 's/.*:\([0-9]*\)".*/\1/' "$work"/*.ports)
}

# wait_for FILE PATTERN [COUNT]: until that many lines match.
wait_for() {
  for _ in $(seq 200); do
    [ "$(grep -ac -- "$2" "$1" || true)" -ge "${3:-1}" ] && return
    sleep 0.05
  done
  echo "record.sh: no '$2' in $1" >&2
  exit 1
}

# open_client NAME: connects descriptor 3 and collects what it receives.
open_client() {
  name=$1
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  cat <&3 >"$work/$name" &
  reader=$!
  wait_for "$work/$name" '^INFO'
}
say() { printf "$@" >&3; }

# say_headers SUBJECT_AND_REPLY HEADERS DATA: an HPUB; HEADERS with printf's escapes.
say_headers() {
  local header_size
  header_size=$(printf "$2" | wc -c)
  say "HPUB $1 $header_size $((header_size + ${#3}))\r\n$2$3\r\n"
}

# close_client: what was received becomes the recording.
close_client() {
  kill "$reader" 2>/dev/null || true
  wait "$reader" || true
  exec 3>&-
  LC_ALL=C sed -E -e 's/"server_id":"N[A-Z2-7]{55}"/"server_id":"NAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"/' \
    -e 's/"port":[0-9]{5}/"port":42220/' -e 's/,"git_commit":"[^"]*"//' \
    "$work/$name" >"$here/$name.txt"
}

connect='CONNECT {"verbose":false,"protocol":1,"headers":true,"no_responders":true}\r\n'
of_size() { head -c "$1" /dev/zero | tr '\0' "$2"; }

start_server
open_client plain
say "$connect"'PING\r\n'
wait_for "$work/plain" '^PONG'
close_client

open_client sizes
say "$connect"'SUB sizes.* 7\r\nSUB > 18446744073709551615 \r\n'
say 'PUB sizes.0 0\r\n\r\nPUB sizes.1 answers.here 1\r\nx\r\n'
say 'PUB sizes.2 2\r\n\r\n\r\nPUB sizes.crlf a.b.c.d 20\r\nMSG no 1 2\r\n\r\nPING\r\n\r\n'
say 'PUB sizes.binary 5\r\n\001\000\377\n\r\r\n'
for size in 9 10 99 100 1000; do say 'PUB sizes.%s %s\r\n%s\r\n' $size $size "$(of_size $size s)"; done
say 'PUB %s %s 3\r\nend\r\n' "subject.$(of_size 300 l)" "reply.$(of_size 200 r)"
say 'PING\r\n'
wait_for "$work/sizes" '^PONG'
close_client

open_client headers
say "$connect"'SUB headers.> 12\r\n'
say_headers headers.one 'NATS/1.0\r\nA: b\r\n\r\n' hello
say_headers 'headers.empty reply.to' 'NATS/1.0\r\n\r\n' ''
say_headers headers.many 'NATS/1.0\r\nName: first\r\nname:second\r\nNAME:  \t third \t\r\nEmpty:\r\nColons: a:b:c\r\nText: \303\251\342\202\254 is UTF-8\r\n\r\n' four
say_headers 'headers.status reply.to' 'NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Stream: 9\r\n\r\n' ''
say 'PUB headers.none 2\r\nno\r\nPING\r\n'
wait_for "$work/headers" '^PONG'
close_client

open_client no_responders
say "$connect"'SUB _INBOX.0123456789abcdefghijkl.* 1\r\n'
say 'PUB nobody.listens _INBOX.0123456789abcdefghijkl.00000001 2\r\nhi\r\nPING\r\n'
wait_for "$work/no_responders" '^PONG'
close_client

# Another client may publish bytes that no subject and no header block should have.
open_client hostile_publisher
say "$connect"'SUB > 1\r\n'
say 'PUB control\001\000\177byte 2\r\nhi\r\nPUB not.utf8.\377\300 2\r\nhi\r\nPUB a.\rb 2\r\nhi\r\n'
say_headers not.headers 'hello world!!' hi
say_headers tiny h hi
say_headers no.end 'NATS/1.0\r\n' hi
say 'PING\r\n'
wait_for "$work/hostile_publisher" '^PONG'
close_client

open_client unknown_operation
say "$connect"'BOGUS\r\n'
wait_for "$work/unknown_operation" '^-ERR'
close_client

open_client verbose
say 'CONNECT {"verbose":true,"protocol":1}\r\nSUB a 1\r\nPUB a 2\r\nhi\r\nUNSUB 1\r\nPING\r\n'
wait_for "$work/verbose" '^PONG'
close_client

start_server 'max_payload: 64'
open_client max_payload
say "$connect"'PUB a 65\r\n'
wait_for "$work/max_payload" '^-ERR'
close_client

start_server 'authorization { user: "ann", password: "right" }'
open_client authorization
say 'CONNECT {"verbose":false,"user":"ann","pass":"wrong"}\r\n'
wait_for "$work/authorization" '^-ERR'
close_client

start_server 'authorization { users: [ { user: "ann", password: "right", permissions: {' \
  'publish: "open.>", subscribe: "open.>" } } ] }'
open_client permissions
say 'CONNECT {"verbose":false,"user":"ann","pass":"right"}\r\nSUB open.a 1\r\n'
say 'PUB shut.a 2\r\nhi\r\nSUB shut.b 2\r\nSUB shut.c group 3\r\nPUB open.a 2\r\nhi\r\nPING\r\n'
wait_for "$work/permissions" '^PONG'
close_client

start_server 'ping_interval: "1s"'
open_client ping
say "$connect"'PING\r\n'
wait_for "$work/ping" '^PONG'
wait_for "$work/ping" '^PING'
say 'PONG\r\n'
close_client

start_server 'lame_duck_duration: "30s"' 'lame_duck_grace_period: "1s"'
open_client lame_duck
say "$connect"'PING\r\n'
wait_for "$work/lame_duck" '^PONG'
nats-server -sl "ldm=$server"
wait_for "$work/lame_duck" '"ldm":true'
close_client
