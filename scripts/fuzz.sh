#!/usr/bin/env bash
# Runs every fuzz target of a folder for some seconds, as many at once as there are processors: scripts/fuzz.sh FOLDER SECONDS. Findings
# are kept beside the targets.
set -euo pipefail
folder=$1
export folder seconds=$2
corpora=$(mktemp -d)
export corpora
trap 'rm -rf "$corpora"' EXIT
fuzz_one() {
  local name
  name=$(basename "$1")
  mkdir "$corpora/$name"
  "$1" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=4096 -verbosity=0 -artifact_prefix="$folder/$name-" "$corpora/$name" &&
    echo "fuzz: $name, $seconds s, no findings"
}
export -f fuzz_one
printf '%s\0' "$folder"/*_fuzz | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz_one "$1"' _
