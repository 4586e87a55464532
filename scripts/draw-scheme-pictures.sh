#!/usr/bin/env bash
# Draws docs/images/NAME.svg for every page docs/schemes/NAME.md, with the command that the page prints:
# the line that begins with "sextant" and ends in "-o NAME.svg".
#   scripts/draw-scheme-pictures.sh [path of the program] [NAME ...]
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/bin/sextant}
shift || true
largest=61440  # bytes of a picture

names=("$@")
if [[ ${#names[@]} == 0 ]]; then
  for page in docs/schemes/*.md; do names+=("$(basename "$page" .md)"); done
fi
for name in "${names[@]}"; do
  line=$(grep -m 1 -E "^sextant .* -o $name\.svg$" "docs/schemes/$name.md" || true)
  [[ -n $line ]] || { echo "$name: no command that ends in -o $name.svg" >&2; continue; }
  arguments=${line#sextant }
  bash -c "\"\$0\" ${arguments% -o *} -o \"docs/images/$name.svg\"" "$program"
  size=$(stat -c %s "docs/images/$name.svg")
  echo "$name: $size bytes"
  ((size <= largest)) || { echo "$name: larger than $largest bytes" >&2; exit 1; }
done
