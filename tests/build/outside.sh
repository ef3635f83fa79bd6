#!/bin/sh
# outside.sh ROOT BUILD VERSION CC: installs the build into a scratch prefix, moves it, and builds
# and runs an outside program against it: with CMake and with pkg-config, shared and static.
set -eu
root=$1 build=$2 version=$3 compiler=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$root/tests/build/outside/outside.c

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
mv "$work/first" "$work/prefix"
pc=$(find "$work/prefix" -name aloft.pc)
library=$(dirname "$(dirname "$pc")")
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH

check() { # NAME PROGRAM shared|static
  said=$("$2") || { echo "$1: failed, having said: $said" >&2; exit 1; }
  [ "$said" = "$version ALOFT_TIMEOUT" ] || { echo "$1: said '$said'" >&2; exit 1; }
  linked=static
  ! readelf -d "$2" | grep -q 'NEEDED.*libaloft' || linked=shared
  [ $linked = "$3" ] || { echo "$1: is linked $linked" >&2; exit 1; }
  echo "$1: $said, $linked"
}

cmake -S "$root/tests/build/outside" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' >"$work/log" 2>&1 &&
  cmake --build "$work/cmake" >>"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
check find_package "$work/cmake/with_aloft" shared
check find_package "$work/cmake/with_static" static

[ "$(pkg-config --modversion aloft)" = "$version" ]
# shellcheck disable=SC2046  # options are words
"$compiler" "$program" -o "$work/shared" $(pkg-config --cflags --libs aloft)
LD_LIBRARY_PATH=$library
export LD_LIBRARY_PATH
check pkg-config "$work/shared" shared
rm "$library"/libaloft.so*
# shellcheck disable=SC2046
"$compiler" "$program" -o "$work/static" $(pkg-config --static --cflags --libs aloft)
check pkg-config "$work/static" static

# No file that was installed knows where it was built.
if grep -rlIF -e "$root" -e "$work/first" "$work/prefix" >&2; then
  echo "these files name the place of the build" >&2
  exit 1
fi
