#!/bin/sh
# layers.sh ROOT PATHS CC: holds the include paths that the build really uses (PATHS, a line for
# each folder of src/) to layers.txt. A header that a layer must not see must not be found, one that
# it may see must be, and each header compiles alone in its own layer.
set -u
root=$1 paths=$2 compiler=$3
table=$root/tests/build/layers.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
  echo "layers: $*" >&2
  failed=1
}

headers=$(cd "$root/src" && find . -name '*.h' | sed 's|^\./||' | sort)
twice=$(for header in $headers; do basename "$header"; done | sort | uniq -d)
[ -z "$twice" ] || fail "the same name in two layers: $twice"

for folder in $(cd "$root/src" && find . -name CMakeLists.txt | sed 's|^\./||; s|/*CMakeLists.txt$||'); do
  grep -q "^$folder\( \|$\)" "$table" || fail "src/$folder is not in layers.txt"
done

compile() { # OPTIONS...: the text on standard input
  # shellcheck disable=SC2086  # the options of the layer are words
  "$compiler" -x c -std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -DALOFT_BUILDING \
    $include "$@" -
}

check_layer() { # LAYER SEEN...
  layer=$1
  include=$(sed -n "s|^$layer ||p" "$paths")
  [ -n "$include" ] || { fail "the build has no layer $layer"; return; }
  for header in $headers; do
    name=$(basename "$header")
    printf '#if __has_include("%s")\nfound %s\n#endif\n' "$name" "$header"
  done | compile -E -P | sed -n 's/^found //p' >"$work/found"
  tried=""
  for header in $headers; do
    may=no
    for seen in "$@"; do
      [ "$(dirname "$header")" = "$seen" ] && may=yes
    done
    can=no
    grep -qx "$header" "$work/found" && can=yes
    [ $may = $can ] || fail "src/$layer: may it see $header? $may; can it? $can"
    [ "$(dirname "$header")" != "$layer" ] ||
      printf '#include "%s"\nextern int nothing;\n' "$(basename "$header")" |
        compile -Wall -Wextra -Wpedantic -Werror -fsyntax-only ||
      fail "$header does not compile alone"
    # One real compilation for each pair of folders; the search above has looked at every header.
    if [ $may = no ] && [ "$(dirname "$header")" != "$tried" ] && tried=$(dirname "$header") &&
      printf '#include "%s"\n' "$(basename "$header")" | compile -fsyntax-only 2>/dev/null; then
      fail "src/$layer compiles a file that includes $header"
    fi
  done
}

while read -r line; do
  case $line in '' | '#'*) continue ;; esac
  # shellcheck disable=SC2086  # words
  check_layer $line
done <"$table"
echo "$(echo "$headers" | wc -l) headers seen from $(grep -c '^[a-z]' "$table") layers"
exit $failed
