#!/bin/sh
# man_installed.sh ROOT BUILD: what is installed has every page of the manual once, in its section,
# and a page for the name of each function that leads to the one that describes it.
set -eu
root=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
man=$(dirname "$(find "$work/prefix" -type d -name man3)")

sections=3
[ ! -e "$build/aloft" ] || sections='1 3'
for section in $sections; do
  for page in "$root"/man/*."$section"; do
    cmp -s "$page" "$man/man$section/$(basename "$page")" ||
      { echo "$(basename "$page") is not installed in man$section" >&2; failed=1; }
  done
done
seen=0
cat "$root"/include/aloft/*.h "$root"/include/aloft/adapters/*.h | awk -f "$root/tests/build/man_headers.awk" |
  sed -nE 's/^function .*[ *](aloft_[a-z0-9_]+)\(.*/\1/p' >"$work/names"
while read -r name; do
  seen=$((seen + 1))
  target=$(sed -n 's/^\.so //p' "$man/man3/$name.3" 2>/dev/null) || target=""
  grep -q "^\.Fo $name\$" "$man/${target:-none}" 2>/dev/null ||
    { echo "man 3 $name leads nowhere" >&2; failed=1; }
done <"$work/names"
if find "$work/prefix" -path '*/man/*' -type f | sed 's|.*/||' | sort | uniq -d | grep . >&2; then
  echo "these pages are installed twice" >&2
  failed=1
fi
echo "$seen functions lead to their pages"
[ "$seen" -gt 0 ] || failed=1
exit $failed
