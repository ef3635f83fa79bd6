#!/bin/sh
# demo.sh [BUILD]: rows over NATS, on this machine, with nothing to set up: a nats-server, aloft lite
# with a sample database, aloft gateway on examples/queries, all on free ports of 127.0.0.1. Shows
# requests with the real commands, then load. Ends with 0 only if every reply was right. BUILD is
# the folder with the command, build/release by default.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(cd "${1:-build/release}" && pwd) || exit 1
PATH=$build:$PATH:/usr/sbin:/usr/local/sbin
work=$(mktemp -d)
pids=""
failed=0

stop() { # PID: as an operator would, then for good
  kill "$1" 2>/dev/null || return 0
  tries=100
  while kill -0 "$1" 2>/dev/null && [ $tries -gt 0 ]; do
    sleep 0.1
    tries=$((tries - 1))
  done
  kill -9 "$1" 2>/dev/null
  wait "$1" 2>/dev/null
}

clean_up() {
  for pid in $pids; do stop "$pid"; done
  pids=""
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

give_up() {
  echo "demo: $*" >&2
  for log in "$work"/*.log; do
    [ -s "$log" ] && sed "s|^|  $(basename "$log"): |" "$log" | tail -n 20 >&2
  done
  exit 1
}

wrong() {
  echo "demo: WRONG: $*" >&2
  failed=1
}

wait_for() { # WHAT COMMAND...: until the command succeeds, at most 30 s
  what=$1 tries=300
  shift
  while ! "$@" 2>/dev/null; do
    [ $tries -gt 0 ] || give_up "$what did not come"
    sleep 0.1
    tries=$((tries - 1))
  done
}

show() { # ARGUMENT...: the command line as one would type it
  printf '\n$ aloft'
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9_./:,=-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
}

run() { # STATUS ARGUMENT...: shows and runs aloft, and wants this exit status
  status=$1
  shift
  show "$@"
  aloft "$@" >"$work/shown" 2>&1
  ended=$?
  cat "$work/shown"
  [ $ended = "$status" ] || wrong "exit status $ended instead of $status"
}

expect() { # NAME: the output, but for what was sent and how long it took, is demo/expected/NAME
  grep -vE '^(Sending request on|Received with rtt) ' "$work/shown" |
    cmp -s - "demo/expected/$1" || wrong "not the output of demo/expected/$1"
}

expect_error() { # TEXT
  grep -qF "$1" "$work/shown" || wrong "no error with the text '$1'"
}

# ---- the servers ----

nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$work" >"$work/nats-server.log" 2>&1 &
nats=$!
pids="$nats"
wait_for "nats-server" grep -q nats:// "$work"/nats-server_"$nats".ports
NATS_URL=$(sed 's/.*"\(nats:[^"]*\)".*/\1/' "$work"/nats-server_"$nats".ports)

password=demo-$$-$(date +%s)
ALOFT_LITE_PASSWORD=$password aloft lite "$work/sample.db" --listen 127.0.0.1:0 --user demo \
  --tlscert-out "$work/lite.pem" --verbose >"$work/lite.out" 2>"$work/lite.log" &
lite=$!
pids="$lite $pids"
wait_for "aloft lite" grep -q '^listening on ' "$work/lite.out"
address=$(sed -n 's/^listening on //p' "$work/lite.out")
SQLCMDSERVER=tcp:${address%:*},${address##*:}
SQLCMDUSER=demo
SQLCMDPASSWORD=$password
export NATS_URL SQLCMDSERVER SQLCMDUSER SQLCMDPASSWORD

echo "nats-server listens on $NATS_URL, aloft lite on $address."
run 0 sql --ca-file "$work/lite.pem" -b -i demo/sample.sql

ALOFT_SQL="Server=$SQLCMDSERVER;User Id=demo;Password=$password;Encrypt=Mandatory;CA File=$work/lite.pem"
export ALOFT_SQL
show gateway examples/queries
aloft gateway examples/queries >"$work/gateway.out" 2>"$work/gateway.log" &
gateway=$!
pids="$gateway $pids"
wait_for "aloft gateway" grep -q '^gateway ready: ' "$work/gateway.out"
cat "$work/gateway.out"

# ---- rows ----

run 0 sql --ca-file "$work/lite.pem" --format table -W -Q 'SELECT id, message FROM fortune ORDER BY id'
expect fortunes.txt
run 0 request fortune '{"id": 6}'
expect fortune.json
run 0 request orders.of_customer '{"customer": "Ada Byron", "since": "2024-02-01"}'
expect orders_of_customer.json
run 0 request orders.totals '{"minimum": 100}'
expect order_totals.json

# ---- errors ----

run 1 request error
expect_error 'error 500: SQL 8134: Divide by zero error encountered.'
run 1 request fortune '{"id": "six"}'
expect_error "error 400: the parameter 'id' is not a whole number: int"

# ---- a deadline that reaches the query ----

run 1 request slow -H 'Aloft-Timeout:100ms'
expect_error 'error 504: the query was stopped after the 100ms that the request had'
wait_for "ATTENTION in aloft lite" grep -q 'statement stopped by ATTENTION' "$work/lite.log"
echo "in the log of aloft lite:"
grep -B 1 'statement stopped by ATTENTION' "$work/lite.log"

# ---- load ----

printf '\nThe endpoint fortunes, 64 requests in flight:\n'
LD_PRELOAD=$build/bench/libaloft_heap_count.so "$build/demo/aloft_demo_load" "$NATS_URL" 5 ||
  wrong "the load met a reply that was not right"

# ---- the end ----

kill -TERM "$gateway"
wait "$gateway" || wrong "the gateway ended with exit status $?"
pids="$lite $nats"
sed 's/^/\n/' "$work/gateway.log"
clean_up
[ $failed = 0 ] || exit 1
echo "demo: every reply was checked, and right."
