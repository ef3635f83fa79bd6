#!/bin/sh
# man_pages.sh ROOT: the library's manual says what the public headers say. Each function stands in
# the SYNOPSIS of one page, with its prototype, and no other does; each member of a public struct
# stands in the list under ".Ss struct NAME" of one page, and no other does; each constant and macro
# stands somewhere. A page's NAME lists what its SYNOPSIS declares, and what pages point to is there.
set -u
root=$1
here=$root/tests/build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

compare() { # KIND
  grep "^$1 " "$work/headers" | LC_ALL=C sort >"$work/declared"
  grep "^$1 " "$work/pages" | LC_ALL=C sort >"$work/described"
  [ -s "$work/declared" ] || { echo "no $1 found in the headers" >&2; failed=1; }
  diff "$work/declared" "$work/described" | grep '^[<>]' >&2 && {
    echo "man pages: these are in the headers (<) or in the pages (>) alone, or there twice" >&2
    failed=1
  }
  echo "$(wc -l <"$work/declared") of $1"
}

cat "$root"/include/aloft/*.h "$root"/include/aloft/adapters/*.h | awk -f "$here/man_headers.awk" >"$work/headers"
awk -f "$here/man_pages.awk" "$root"/man/*.3 >"$work/pages"
compare function
compare member
# Only this way: pages may name constants of other headers.
for kind in headers pages; do
  grep '^word ' "$work/$kind" | LC_ALL=C sort -u >"$work/$kind.words"
done
if comm -23 "$work/headers.words" "$work/pages.words" | grep . >&2; then
  echo "man pages: these are in the headers and in no page" >&2
  failed=1
fi
if comm -13 "$work/headers.words" "$work/pages.words" | grep -v ' ALOFT_UNKNOWN$' | grep . >&2; then
  echo "man pages: these are in a page and in no header" >&2
  failed=1
fi

for page in "$root"/man/*.3; do
  title=$(basename "$page" .3)
  { echo "$title"
    awk '/^\.Sh / { inside = $2 == "SYNOPSIS" } inside && /^\.F[on] / { print $2 }' "$page"
  } | sort >"$work/wanted"
  awk '/^\.Sh / { inside = $2 == "NAME" } inside && /^\.Nm / { print $2 }' "$page" | sort >"$work/named"
  cmp -s "$work/wanted" "$work/named" || {
    diff "$work/wanted" "$work/named" | grep '^[<>]' >&2
    echo "$title.3: these are in its SYNOPSIS (<) or its NAME (>) alone" >&2
    failed=1
  }
done

sed -nE 's/^\.Xr (aloft[a-z_]*) 3( .*)?$/\1/p' "$root"/man/*.[13] | sort -u | while read -r name; do
  [ -f "$root/man/$name.3" ] || echo "$name"
done >"$work/missing"
awk '$1 == ".Fn" && $2 ~ /^aloft_/ { print $2 }' "$root"/man/*.3 | sort -u | while read -r name; do
  grep -q "^function .*[ *]$name(" "$work/headers" || echo "$name"
done >>"$work/missing"
if grep . "$work/missing" >&2; then
  echo "man pages: they point to these, which are not there" >&2
  failed=1
fi
exit $failed
