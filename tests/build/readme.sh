#!/bin/sh
# readme.sh ROOT CC LIBRARY: the C program in README.md compiles without a warning, links, and runs
# against a nats-server of its own, where nobody answers and the program has to say so.
set -eu
root=$1 compiler=$2 library=$3
work=$(mktemp -d)
server=""
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md" >"$work/readme.c"
lines=$(wc -l <"$work/readme.c")
[ "$lines" -ge 10 ] || { echo "README.md has no C program" >&2; exit 1; }

mkfifo "$work/log"
nats-server -a 127.0.0.1 -p -1 2>"$work/log" &
server=$!
exec 3<"$work/log"
port=""
while read -r line <&3; do
  case $line in
    *'client connections on'*) port=${line##*:} ;;
    *'Server is ready'*) break ;;
  esac
done
[ -n "$port" ] || { echo "nats-server did not start" >&2; exit 1; }

sed "s/127\.0\.0\.1:4222/127.0.0.1:$port/" "$work/readme.c" >"$work/here.c"
# shellcheck disable=SC2046  # options are words
"$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$root/include" "$work/here.c" \
  -o "$work/readme" "$library" $(pkg-config --libs libuv openssl)
code=0
said=$("$work/readme" 2>&1) || code=$?
echo "README.md: a program of $lines lines; it said: $said"
case $said in
  *'nobody listens'*) [ $code = 1 ] ;;
  *) exit 1 ;;
esac
