#!/bin/sh
# Everything that judges the source without running it.
set -u
failed=0
step() { # NAME COMMAND...
  echo "lint: $1"
  shift
  "$@" || failed=1
}

format_is_right() { build-aux/sources.sh | xargs clang-format --dry-run -Werror; }

tidy() {
  find bench examples fuzz src -name '*.c' -type f | while read -r file; do
    grep -q "/$file\"" build/dev-clang/compile_commands.json && echo "$file"
  done | xargs -r -P "${JOBS:-2}" -n 1 clang-tidy --quiet -p build/dev-clang 2>/dev/null
}

step format format_is_right
step hygiene sh tests/build/hygiene.sh "$PWD"
step includes sh tests/build/includes.sh "$PWD"
step 'warnings of gcc' build-aux/build.sh dev
ALOFT_BUILD=build/dev-clang
export ALOFT_BUILD
step 'warnings of clang' build-aux/build.sh dev -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
step clang-tidy tidy
[ $failed = 0 ] && echo "lint: nothing found"
exit $failed
