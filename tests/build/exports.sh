#!/bin/sh
# exports.sh ROOT LIBRARY: the shared library shows aloft_* and nothing else, and just what the
# public headers declare.
set -u
root=$1 library=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort >"$work/exported"
# A declaration may run over several lines; the name is the last word before the first bracket, or
# before the semicolon of a variable.
cat "$root"/include/aloft/*.h | grep -v '^ *#' | tr '\n' ' ' | sed 's|/\*|\n&|g; s|\*/|&\n|g' |
  grep -v '^/\*' | tr '\n' ' ' | tr ';' '\n' |
  sed -n 's/.*ALOFT_API [^(]*[ *]\(aloft_[a-z0-9_]*\)\((.*\)\{0,1\}$/\1/p' | sort -u >"$work/declared"
[ -s "$work/declared" ] || { echo "exports: no declaration found" >&2; failed=1; }
if grep -v '^aloft_' "$work/exported" >&2; then
  echo "exports: these are not aloft_*" >&2
  failed=1
fi
if comm -23 "$work/exported" "$work/declared" | grep . >&2; then
  echo "exports: these are exported and in no public header" >&2
  failed=1
fi
if comm -13 "$work/exported" "$work/declared" | grep . >&2; then
  echo "exports: these are declared and not in the library" >&2
  failed=1
fi
echo "$(wc -l <"$work/exported") exported, $(wc -l <"$work/declared") declared"
exit $failed
