#!/bin/sh
# symbols.sh NAME OBJECTS OTHERS: the objects of a layer without I/O (a file with their names) call
# nothing but themselves, the layers under them (OTHERS) and a handful of the C library: no heap, no
# clock, no socket, no output.
set -u
name=$1 objects=$2 others=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/allowed" <<'END'
memchr
memcmp
memcpy
memmove
memset
strchr
strlen
__stack_chk_fail
_GLOBAL_OFFSET_TABLE_
END
# An assertion is of ours, in builds that have assertions.
[ "${4:-}" = asserts ] && echo __assert_fail >>"$work/allowed"

# shellcheck disable=SC2046  # a list of files
nm -A -u $(cat "$objects") | sed 's/:[[:space:]]*[Uuvw] / /' >"$work/undefined"
# shellcheck disable=SC2046
nm --defined-only $(cat "$objects" "$others") | awk 'NF == 3 { print $3 }' >>"$work/allowed"
awk 'NR == FNR { allowed[$1]; next } !($2 in allowed) { sub(".*/", "", $1); print "  " $1 ": " $2 }' \
  "$work/allowed" "$work/undefined" | sort -u >"$work/found"
if [ -s "$work/found" ]; then
  echo "$name calls what it must not know:" >&2
  cat "$work/found" >&2
  exit 1
fi
echo "$name: $(wc -w <"$objects") objects, $(wc -l <"$work/undefined") calls to other files"
