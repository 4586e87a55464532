#!/usr/bin/env bash
# What .ci/run has no time for (two hours on two cores): scripts/check_all.sh. Every step runs, whatever became of the others; the last
# lines say what failed.
set -uo pipefail
cd "$(dirname "$0")/.."
export CI=1
scripts/setup.sh ci build asan tsan fuzz format tidy || exit 1

failed=()
step() {  # NAME COMMAND...
  local name=$1 start=$SECONDS; shift
  echo "check-all: $name"
  "$@" && echo "check-all: $name: passed, $((SECONDS - start)) s" || failed+=("$name")
}
build_and_test() {  # PRESET FOLDER CMAKE-ARGUMENT...: a build of a preset in a folder of its own, every test of it
  local preset=$1 folder=$2; shift 2
  cmake --preset "$preset" -B "$folder" -DSEXTANT_WERROR=ON "$@" && cmake --build "$folder" &&
    env "${sanitizer_options[@]}" ctest --test-dir "$folder" --output-on-failure --no-tests=error -j 2
}
sanitizer_options=(OMP_WAIT_POLICY=passive UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=ignore_noninstrumented_modules=1
  "LSAN_OPTIONS=suppressions=$PWD/tests/leaks.txt:print_suppressions=0")

step "format" make check-format
step "release, benchmarks too" sh -c 'make test CONFIGURE=-DSEXTANT_WERROR=ON && cmake --build --preset release --target benchmarks'
step "packages, every way in" make packages
step "clang, no precompiled headers" build_and_test clang build/clang -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
step "address and undefined, every instruction set, the command line too" build_and_test asan build/asan-all -DSEXTANT_ONE_TARGET=OFF -DSEXTANT_APP=ON
step "threads, every floor" build_and_test tsan build/tsan-all -DSEXTANT_ONE_TARGET=OFF
step "fuzz" make fuzz FUZZ_SECONDS=60
step "tidy" make tidy

if [[ ${#failed[@]} -gt 0 ]]; then
  printf 'check-all: failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "check-all: everything passed"
