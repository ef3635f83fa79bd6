#!/bin/sh
# Builds every preset that has tests to run, runs them, and ends with one line of sums:
#   dev and asan   every test
#   tsan           tests with the label `threads`: those that use more than one thread
#   release        tests with the label `release` or `bench`: those that judge the code as shipped
# Goes on after a failure, so that one run shows all of them. What is counted is the tests of ctest;
# among the skipped are also the cases that a program ran without.
set -u
passed=0 failed=0 skipped=0

attribute() { # NAME FILE: a number of the JUnit file's testsuite element
  tr '\n' ' ' <"$2" | sed -n "s/.*<testsuite[^>]*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p"
}

run() { # PRESET [CTEST OPTION...]
  preset=$1
  shift
  if ! build-aux/build.sh "$preset" -DBUILD_TESTING=ON; then
    failed=$((failed + 1))
    return
  fi
  report=$PWD/build/$preset/tests.xml
  rm -f "$report"
  $WRAP ctest --test-dir "build/$preset" -j "${JOBS:-2}" --output-on-failure --no-tests=ignore \
    --output-junit "$report" "$@"
  status=$?
  if [ ! -f "$report" ]; then
    [ $status = 0 ] || failed=$((failed + 1))
    return
  fi
  total=$(attribute tests "$report") bad=$(attribute failures "$report")
  out=$(($(attribute skipped "$report") + $(attribute disabled "$report")))
  # A status that the counts do not explain is a failure too.
  [ $status = 0 ] || [ "$bad" -gt 0 ] || bad=1 total=$((total + 1))
  passed=$((passed + total - bad - out)) failed=$((failed + bad)) skipped=$((skipped + out))
  inside=$(sed -n 's/^\[  SKIPPED \] \([A-Za-z_0-9]*\)$/  skipped inside a program: \1/p' \
    "build/$preset/Testing/Temporary/LastTest.log" | sort -u)
  if [ -n "$inside" ]; then
    echo "$inside"
    skipped=$((skipped + $(echo "$inside" | wc -l)))
  fi
}

if [ -n "$(find tests/interop -name '*.js' -o -name '*.mjs')" ]; then
  build-aux/need.sh npm && build-aux/npm.sh || failed=$((failed + 1))
fi

WRAP=""
run dev
run asan
run release -L '^(bench|release)$'
# Thread sanitizer of clang 14 needs addresses that are not randomised over the whole space.
WRAP="setarch -R"
$WRAP true 2>/dev/null || WRAP=""
if ctest --test-dir build/dev -N -L '^threads$' 2>/dev/null | grep -q 'Total Tests: [1-9]'; then
  run tsan -L '^threads$'
fi

[ $((passed + failed)) -gt 0 ] || failed=1
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
