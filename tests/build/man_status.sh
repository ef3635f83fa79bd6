#!/bin/sh
# man_status.sh ROOT CC [--write]: the list in man/aloft_status.3 is the table of
# include/aloft/status.h, number for number and word for word. With --write it is made so.
set -eu
root=$1 compiler=$2 page=$1/man/aloft_status.3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/list.c" <<'END'
#include <aloft/status.h>
#include <stdio.h>
#define ITEM(name, number, class, meaning, advice) \
  puts(".It Dv " #name " Pq " #number ", Dv ALOFT_CLASS_" #class "\n" meaning ";\n" advice ".");
int main(void) {
  ALOFT_STATUS_TABLE(ITEM)
  return 0;
}
END
"$compiler" -std=c11 -I "$root/include" "$work/list.c" -o "$work/list"
"$work/list" >"$work/expected"

# The list follows the comment that says where it comes from.
if [ "${3:-}" = --write ]; then
  awk -v list="$work/expected" '
    inside && /^\.El/ { inside = 0; while ((getline line < list) > 0) print line }
    !inside || /^\.Bl/ { print }
    /^\.\\" The list is made from ALOFT_STATUS_TABLE/ { inside = 1 }' "$page" >"$work/page"
  cat "$work/page" >"$page"
fi
awk '/^\.\\" The list is made from ALOFT_STATUS_TABLE/ { inside = 1; next }
     inside && /^\.El/ { exit }
     inside && !/^\.Bl/' "$page" >"$work/found"
diff -u "$work/expected" "$work/found" >&2 || {
  echo "man/aloft_status.3 is not the table (-): run $0 . cc --write" >&2
  exit 1
}
count=$(grep -c '^\.It' "$work/found")
echo "$count statuses"
[ "$count" -gt 0 ]
