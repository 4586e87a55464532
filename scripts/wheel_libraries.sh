#!/usr/bin/env bash
# What a wheel is built with, from its sources, in a container of `make wheels` whose distribution has it not or too old: Highway as a
# static library, the headers of nlohmann-json and CLI11.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {  # ADDRESS TAG CMAKE-ARGUMENT...
  local address=$1 tag=$2 name; shift 2
  name=$(basename "$address" .git)
  git clone --quiet --depth 1 --branch "$tag" "$address" "$work/$name"
  cmake -S "$work/$name" -B "$work/$name-build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@"
  cmake --build "$work/$name-build" --parallel
  cmake --install "$work/$name-build"
}

build https://github.com/google/highway.git 1.2.0 -DHWY_ENABLE_TESTS=OFF -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF
build https://github.com/nlohmann/json.git v3.11.3 -DJSON_BuildTests=OFF
build https://github.com/CLIUtils/CLI11.git v2.4.2 -DCLI11_BUILD_TESTS=OFF -DCLI11_BUILD_EXAMPLES=OFF
