#!/usr/bin/env bash
# Draws docs/images/NAME.svg for every page docs/schemes/NAME.md, by running what the page prints: the
# block of code with the line that ends in "-o NAME.svg".
#   scripts/draw-scheme-pictures.sh [--into FOLDER] [path of the program] [NAME ...]
set -euo pipefail
into=$(dirname "$0")/../docs/images
if [[ ${1:-} == --into ]]; then into=$2; shift 2; fi
mkdir -p "$into"
into=$(realpath "$into")
cd "$(dirname "$0")/.."
SEXTANT_PROGRAM=$(realpath "${1:-build/release/bin/sextant}")
export SEXTANT_PROGRAM
shift || true
largest=61440  # bytes of a picture
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sextant() { "$SEXTANT_PROGRAM" "$@"; }
export -f sextant

names=("$@")
if [[ ${#names[@]} == 0 ]]; then
  for page in docs/schemes/*.md; do names+=("$(basename "$page" .md)"); done
fi
failed=0
for name in "${names[@]}"; do
  awk -v last="-o $name.svg" '
    /^```/ { if (inside && found) { printf "%s", block; exit } inside = !inside; block = ""; found = 0; next }
    inside { block = block $0 "\n"; if (substr($0, length($0) - length(last) + 1) == last) found = 1 }
  ' "docs/schemes/$name.md" > "$folder/commands"
  if [[ ! -s $folder/commands ]]; then
    echo "$name: no command that ends in -o $name.svg" >&2
    continue
  fi
  if ! (cd "$folder" && bash -e commands > /dev/null); then failed=1; continue; fi
  size=$(stat -c %s "$folder/$name.svg")
  echo "$name: $size bytes"
  ((size <= largest)) || { echo "$name: larger than $largest bytes" >&2; failed=1; }
  mv "$folder/$name.svg" "$into/$name.svg"
done
exit $failed
