#!/bin/sh
# man.sh ALOFT PAGE COMMAND...: the options of "aloft COMMAND --help", of all these commands together,
# and those of the man page are the same ones.
set -u
aloft=$1 page=$2
shift 2
shown=$(mktemp) described=$(mktemp)
trap 'rm -f "$shown" "$described"' EXIT

for command in "$@"; do
  # shellcheck disable=SC2086  # "bench inflight" is two words
  "$aloft" $command --help |
    sed -nE 's/^  (-.), --([a-z-]+).*/\1 --\2/p; s/^      --([a-z-]+).*/--\1/p' | grep . ||
    { echo "no options in the help of $command" >&2; exit 1; }
done | tr ' ' '\n' | sort -u >"$shown"
# .It Fl s , -server Ar URL
grep -E '^\.It Fl ' "$page" | sed -E 's/ (Ar|Oo|Ns|Op) .*//; s/^\.It Fl //' |
  tr -d ' ' | tr ',' '\n' | sed -E 's/^/-/' | sort -u >"$described"

[ -s "$shown" ] || { echo "no options in the help of $*" >&2; exit 1; }
diff -u "$shown" "$described" || { echo "help (-) and $page (+) differ" >&2; exit 1; }
grep -q '^\.Sh EXIT STATUS' "$page" || { echo "$page has no EXIT STATUS" >&2; exit 1; }
