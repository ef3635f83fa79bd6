#!/bin/sh
# Runs all benchmarks, checks their bars, and makes docs/benchmarks.md, its pictures and the figures
# of README.md from what they printed, which stays in build/bench. ALOFT_FLOORS as man/aloft-bench.1
# describes it. BENCH_SECONDS (10): how long a variation of Fortunes is measured.
set -eu
seconds=${BENCH_SECONDS:-10}
aloft=build/release/aloft
results=build/bench
failed=0
rm -rf $results
mkdir -p $results docs/pictures

run() { # FILE WORDS...: one benchmark, into that file
  file=$1
  shift
  echo "bench: $*" >&2
  $aloft bench "$@" >"$results/$file"
}

bars() { # NAME: its bars, of which none may be short
  echo "bench: $1 --check" >&2
  $aloft bench "$1" --check >"$results/$1.bars" || failed=1
  cat "$results/$1.bars"
}

{
  awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo
  echo "$(nproc) cores, $(uname -s), $(${CC:-cc} --version | head -n 1)"
} >$results/machine.txt

run inflight.json inflight --format json
run inflight-counted.json inflight --counted --format json
run request.json request --format json
run request-counted.json request --counted --format json
run fortunes.json fortunes --canned --duration "${seconds}s" --format json
run fortunes-lite.json fortunes --duration "${seconds}s" --format json
run fortunes-tls.json fortunes --tls --duration "${seconds}s" --format json
run designs.json fortunes --design both --format json --svg docs/pictures/fortunes.svg
run large.json large --format json --svg docs/pictures/large.svg
run rows.json rows --format json
run rows-counted.json rows --counted --format json
for name in inflight request fortunes large rows; do
  bars $name
done

page=build/release/aloft-bench-page
$page $results docs/benchmarks.md.in >$results/benchmarks.md
$page $results docs/figures.md.in >$results/figures.md
awk -v figures=$results/figures.md '
  /^<!-- figures/ { print; while ((getline line < figures) > 0) print line; inside = 1; next }
  /^<!-- end of figures/ { inside = 0 }
  !inside' README.md >$results/README.md
cp $results/benchmarks.md docs/benchmarks.md
cp $results/README.md README.md
echo "bench: docs/benchmarks.md and the figures of README.md are of this run"
exit $failed
