#!/usr/bin/env bash
# What .ci/run has no time for (three hours on two cores): scripts/check_all.sh. Two lanes of steps run at once, because many of them keep
# one core busy; the lane of the release takes over steps of the other when it is done with its own. Every step runs, whatever became of the
# others; the last lines say what failed. Started again on the same commit after an interruption, it leaves out the steps that passed.
# Comments say what a step adds to CI and to the steps before it.
set -uo pipefail
cd "$(dirname "$0")/.."
export CI=1
scripts/setup.sh ci build asan tsan fuzz pages peers site format tidy web-test firefox ranks || exit 1

logs=build/check-all/$(git rev-parse HEAD)
[[ -z $(git status --porcelain) ]] || { logs=build/check-all/changed; rm -rf "$logs"; }
rm -rf "$logs/failed" "$logs/started"
mkdir -p "$logs/started"
step() {  # NAME COMMAND...: its output in a file of its own, for two lanes of steps run at once
  local name=$1 start=$SECONDS log="$logs/${1//[^[:alnum:]]/-}.log"; shift
  grep -qs "^check-all: $name: passed" "$logs/passed" && return
  mkdir "$logs/started/$name" 2> /dev/null || return  # by the other lane
  if "$@" > "$log" 2>&1; then
    echo "check-all: $name: passed, $((SECONDS - start)) s" | tee -a "$logs/passed"
  else
    { tail -n 40 "$log"; echo "check-all: $name: FAILED after $((SECONDS - start)) s, see $log"; } | tee -a "$logs/failed"
  fi
}
build_and_test() {  # PRESET FOLDER TESTS CMAKE-ARGUMENT...: a build of a preset in a folder of its own; TESTS: components (kernels|schemes)
  local preset=$1 folder=$2 targets=${3//|/_tests }_tests select=(-L "$3" -E _without_tests); shift 3
  cmake --preset "$preset" -B "$folder" -DSEXTANT_WERROR=ON "$@" && cmake --build "$folder" --target $targets &&
    env "${sanitizer_options[@]}" ctest --test-dir "$folder" -C all "${select[@]}" --output-on-failure --no-tests=error -j 2
}
new_schemes() {  # the tests of a copy of the tree with one new scheme of each kind
  local tree=$PWD/build/new-schemes kind
  rm -rf "$tree" && mkdir -p "$tree" && git archive HEAD | tar -x -C "$tree" || return
  for kind in added rotated rotary-scaling distance distance-learned indexed indexed-learned content; do
    "$tree/scripts/new-scheme" "rotary_sample_${kind//-/_}" "$kind" > /dev/null || return
  done
  (cd "$tree" && cmake --preset dev && cmake --build --preset dev --target schemes_tests && build/dev/tests/schemes_tests --gtest_brief=1)
}
components='core|kernels|tables|schemes|attention|layers|models|training|hub|figures|experiments|identify|interop|lessons|pictures|text'
sanitizer_options=(UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=ignore_noninstrumented_modules=1 "LSAN_OPTIONS=suppressions=$PWD/tests/leaks.txt:print_suppressions=0")

step "format" make check-format
step "places to break" scripts/mutate.py --check
# The release that the next steps use; of it CI leaves out the benchmarks, and what lasts minutes or installs gigabytes.
step "release, benchmarks too" sh -c 'make test CONFIGURE=-DSEXTANT_WERROR=ON && cmake --build --preset release --target benchmarks peer_onednn'

on_the_release() {
  step "rows of a million keys" build/release/tests/attention_tests --gtest_also_run_disabled_tests --gtest_filter='*Million*' --gtest_brief=1
  step "torch and transformers" make test-torch
  step "MLX, jax and matplotlib" make test-libraries
  step "suites of other libraries" make test-peers
  step "a real model" make test-models
  step "200,000 hostile calls of the Python module" sh -c 'SEXTANT_HOSTILE_CALLS=200000 SEXTANT_HOSTILE_SEED=1 PYTHONPATH=$PWD/build/release/python PYTHONDONTWRITEBYTECODE=1 \
    build/venv/bin/python -m pytest -q -p no:cacheprovider python/tests/module/test_hostile_calls.py'
  # Builds of packages, shared libraries, single components and wheels; browsers; the site; ranks.
  step "packages, every way in" make packages
  step "pages in a browser" make pages
  step "the documentation site" make site
  step "the explorer in a browser" make test-page
  step "ranks of MPI" make ranks CONFIGURE=-DSEXTANT_WERROR=ON
  step "threads, messages of ranks" sh -c 'cmake --preset ranks-tsan -DSEXTANT_WERROR=ON && cmake --build --preset ranks-tsan && ctest --preset ranks-tsan'
}

other_builds() {  # each in a folder of its own, so that either lane can take it; the longest first
  step "64-bit Arm" make arm
  # The sanitizers, on every instruction set.
  step "address and undefined" build_and_test asan build/asan-all "$components|apps" -DSEXTANT_ONE_TARGET=OFF -DSEXTANT_APP=ON -DSEXTANT_FUZZ=OFF
  step "threads" build_and_test tsan build/tsan-all "$components"
  # The second compiler: what it and clang-tidy say of each file, then the numbers of its optimised kernels on every instruction set and
  # of what stands on them. What reads files and draws runs by it under the sanitizers.
  step "clang, each file alone" make tidy
  step "clang, every instruction set" build_and_test clang build/clang 'core|kernels|tables|schemes|attention|layers|models|training' -DSEXTANT_UNITY=ON
  step "fuzz" make fuzz FUZZ_SECONDS=20
  step "a new scheme of each kind" new_schemes
}

{ on_the_release; other_builds; } &
other_builds &
wait
if [[ -e $logs/failed ]]; then
  grep '^check-all:' "$logs/failed"
  exit 1
fi
echo "check-all: everything passed, commit $(git rev-parse --short HEAD)"
