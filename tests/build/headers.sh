#!/bin/sh
# headers.sh ROOT COMPILER STANDARD: each public header compiles alone, and twice, with that
# compiler under a strict set of warnings. 77 (skipped) when the compiler is not there.
set -u
root=$1 compiler=$2 standard=$3
command -v "$compiler" >/dev/null 2>&1 || { echo "no $compiler"; exit 77; }
case $standard in c++*) language=c++ ;; *) language=c ;; esac
failed=0 seen=0
for header in "$root"/include/aloft/*.h; do
  name=$(basename "$header")
  seen=$((seen + 1))
  printf '#include <aloft/%s>\n#include <aloft/%s>\nextern int nothing;\n' "$name" "$name" |
    "$compiler" -x $language -std="$standard" -Wall -Wextra -Wpedantic -Werror \
      -fsyntax-only -I "$root/include" - || { echo "$name: not as $standard" >&2; failed=1; }
  [ "$name" = aloft.h ] || grep -q "<aloft/$name>" "$root/include/aloft/aloft.h" ||
    { echo "aloft.h does not include $name" >&2; failed=1; }
done
echo "$seen headers as $standard with $compiler"
[ $seen -gt 0 ] && exit $failed
