#!/bin/sh
# man_programs.sh ROOT CC LIBRARY: the programs in the library's manual compile without a warning and
# link; those that need no server also run, and return 0.
set -eu
root=$1 compiler=$2 library=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each literal display is a program: the text as a reader sees it.
awk -v work="$work" '
  /^\.Ed/ { if (file) close(file); file = "" }
  file { gsub(/\\&/, ""); gsub(/\\e/, "\\"); print >file }
  /^\.Bd -literal/ {
    page = FILENAME
    sub(/.*\//, "", page)
    sub(/\.3$/, "", page)
    file = work "/" page "." ++count[page] ".c"
  }' "$root"/man/*.3

ran=0 seen=0
for program in "$work"/*.c; do
  name=$(basename "$program" .c)
  seen=$((seen + 1))
  # shellcheck disable=SC2046  # options are words
  "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror \
    -I "$root/include" "$program" -o "$work/$name" "$library" $(pkg-config --libs libuv openssl) -lpthread ||
    { echo "man page $name: its program does not compile" >&2; exit 1; }
  grep -qE 'aloft_(nats|tds|tds_pool)_open' "$program" && continue
  ran=$((ran + 1))
  code=0
  "$work/$name" >"$work/said" || code=$?
  [ $code = 0 ] || { echo "man page $name: its program returned $code" >&2; exit 1; }
done
echo "$seen programs compile, $ran run"
[ "$seen" -gt 0 ]
