#!/bin/sh
# build.sh PRESET [CMAKE OPTION...]: configures and builds into build/PRESET, or the folder that
# ALOFT_BUILD names. Prints what went wrong, and nothing otherwise but one line.
set -eu
preset=$1
shift
folder=${ALOFT_BUILD:-build/$preset}
mkdir -p "$folder"
log=$folder/build.log
echo "building $folder"
if ! { cmake --preset "$preset" -B "$folder" "$@" && cmake --build "$folder" -j "${JOBS:-2}"; } \
     >"$log" 2>&1; then
  grep -n -A 20 -E '^FAILED|error|Error' "$log" | head -n 200 >&2 || tail -n 50 "$log" >&2
  echo "build of $folder failed: see $log" >&2
  exit 1
fi
