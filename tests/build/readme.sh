#!/bin/sh
# readme.sh ROOT CC LIBRARY: the C program in README.md compiles without a warning and links.
set -eu
root=$1 compiler=$2 library=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md" >"$work/readme.c"
lines=$(wc -l <"$work/readme.c")
[ "$lines" -ge 10 ] || { echo "README.md has no C program" >&2; exit 1; }
# shellcheck disable=SC2046  # options are words
"$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$root/include" "$work/readme.c" \
  -o "$work/readme" "$library" $(pkg-config --libs libuv)
echo "README.md: a program of $lines lines"
