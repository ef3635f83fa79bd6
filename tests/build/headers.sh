#!/bin/sh
# headers.sh ROOT COMPILER STANDARD: each public header compiles alone, and twice, with that
# compiler under a strict set of warnings; those of the adapters where the library is that they are
# for. 77 (skipped) when the compiler is not there.
set -u
root=$1 compiler=$2 standard=$3
command -v "$compiler" >/dev/null 2>&1 || { echo "no $compiler"; exit 77; }
case $standard in c++*) language=c++ ;; *) language=c ;; esac
failed=0 seen=0

check() { # NAME [COMPILER OPTION...]
  name=$1
  shift
  seen=$((seen + 1))
  printf '#include <aloft/%s>\n#include <aloft/%s>\nextern int nothing;\n' "$name" "$name" |
    "$compiler" -x $language -std="$standard" -Wall -Wextra -Wpedantic -Wconversion -Wcast-qual \
      -Wshadow -Werror -fsyntax-only -I "$root/include" "$@" - ||
    { echo "$name: not as $standard" >&2; failed=1; }
}

for header in "$root"/include/aloft/*.h; do
  name=$(basename "$header")
  check "$name"
  [ "$name" = aloft.h ] || grep -q "<aloft/$name>" "$root/include/aloft/aloft.h" ||
    { echo "aloft.h does not include $name" >&2; failed=1; }
done
for header in "$root"/include/aloft/adapters/*.h; do
  case $header in
    */epoll.h) package="" ;;
    */libevent.h) package=libevent_core ;;
    */glib.h) package=glib-2.0 ;;
    *) echo "$header: of which library?" >&2; failed=1; continue ;;
  esac
  options=""
  if [ "$package" ]; then
    pkg-config --exists $package || { echo "no $package: $(basename "$header") is not checked"; continue; }
    options=$(pkg-config --cflags $package | sed 's/-I/-isystem /g') # their warnings are theirs
  fi
  # shellcheck disable=SC2086  # options are words
  check "adapters/$(basename "$header")" $options
done
echo "$seen headers as $standard with $compiler"
[ $seen -gt 0 ] && exit $failed
