#!/usr/bin/env bash
# Runs every fuzz target of a folder for some seconds: scripts/fuzz.sh FOLDER SECONDS. Stops at the first finding.
set -euo pipefail
folder=$1 seconds=$2 count=0
for target in "$folder"/*_fuzz; do
  corpus=$(mktemp -d)
  echo "fuzz: $(basename "$target"), $seconds s"
  "$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=4096 -print_final_stats=0 -verbosity=0 "$corpus"
  rm -rf "$corpus"
  count=$((count + 1))
done
echo "fuzz: $count targets, no findings"
