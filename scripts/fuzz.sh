#!/usr/bin/env bash
# Runs every fuzz target of a folder for some seconds: scripts/fuzz.sh FOLDER SECONDS. Stops at the first finding, which is kept
# beside the targets.
set -euo pipefail
folder=$1 seconds=$2 count=0
corpora=$(mktemp -d)
trap 'rm -rf "$corpora"' EXIT
for target in "$folder"/*_fuzz; do
  name=$(basename "$target")
  mkdir "$corpora/$name"
  echo "fuzz: $name, $seconds s"
  "$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=4096 -verbosity=0 -artifact_prefix="$folder/$name-" "$corpora/$name"
  count=$((count + 1))
done
echo "fuzz: $count targets, no findings"
