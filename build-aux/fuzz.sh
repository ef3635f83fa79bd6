#!/bin/sh
# Runs each target of fuzz/targets for FUZZ_SECONDS from its corpus, then measures how many lines of
# the sources it is for its corpus and finds reach. Fails on a crash and on too few lines.
# Finds stay in build/fuzz/finds/NAME, crashes in build/fuzz/crashes.
set -u
seconds=${FUZZ_SECONDS:-60}
table=fuzz/targets
failed=0
finds=build/fuzz/finds crashes=build/fuzz/crashes

fail() {
  echo "fuzz: $*" >&2
  failed=1
}

# Every target has a line in the table, and every line a target.
for file in fuzz/fuzz_*.c; do
  name=$(basename "$file" .c)
  [ -f "$file" ] || { echo "fuzz: there is no target" >&2; exit 1; }
  grep -q "^${name}[[:space:]]" $table || fail "$name is not in $table"
done

build-aux/build.sh fuzz || exit 1
ALOFT_BUILD=build/fuzz-coverage build-aux/build.sh fuzz -DALOFT_SANITIZE= -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_C_FLAGS='-fprofile-instr-generate -fcoverage-mapping' || exit 1
mkdir -p $crashes

run_target() { # NAME: runs it, and sets executions
  corpus=fuzz/corpus/${1#fuzz_}
  mkdir -p "$finds/$1"
  log=build/fuzz/$1.log
  if ! "build/fuzz/fuzz/$1" -max_total_time="$seconds" -print_final_stats=1 -timeout=10 \
       -rss_limit_mb=1024 -artifact_prefix="$PWD/$crashes/$1-" "$finds/$1" "$corpus" \
       >"$log" 2>&1; then
    grep -E '^SUMMARY|runtime error' "$log" >&2
    input=$(sed -n 's/.*Test unit written to //p' "$log" | head -n 1)
    fail "$1 failed; its input: ${input:-none was written, see $log}"
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
}

lines_reached() { # NAME SOURCES...: prints the report by file, and sets percent
  name=$1
  shift
  profile=build/fuzz-coverage/$name
  LLVM_PROFILE_FILE=$profile.profraw "build/fuzz-coverage/fuzz/$name" -runs=0 \
    "$finds/$name" "fuzz/corpus/${name#fuzz_}" >"$profile.log" 2>&1 || fail "$name: replay failed"
  llvm-profdata-14 merge -o "$profile.profdata" "$profile.profraw" || return
  llvm-cov-14 report "build/fuzz-coverage/fuzz/$name" -instr-profile="$profile.profdata" "$@" \
    >"$profile.txt" || return
  awk '/\.c |^TOTAL/ { sub(".*/", "", $1); printf "  %-28s %6s lines, %7s reached\n", $1, $8, $10 }' "$profile.txt"
  percent=$(awk '$1 == "TOTAL" { sub("%", "", $10); print $10 }' "$profile.txt")
}

while read -r name minimum sources; do
  case $name in '' | '#'*) continue ;; esac
  [ -f "fuzz/$name.c" ] || { fail "$table names $name, which is not there"; continue; }
  executions=0 percent=0
  run_target "$name"
  echo "$name: ${executions:-0} executions in $seconds s"
  # shellcheck disable=SC2086  # a list of patterns
  lines_reached "$name" $sources
  awk -v p="${percent:-0}" -v m="$minimum" 'BEGIN { exit !(p + 0 >= m + 0) }' ||
    fail "$name reaches ${percent:-0} % of the lines of $sources, less than $minimum %"
done <$table
[ $failed = 0 ] && echo "fuzz: all targets passed"
exit $failed
