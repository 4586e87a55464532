#!/usr/bin/env bash
# Writes the page of the manual from what the program's --help says: packaging/man_page.sh PROGRAM VERSION > sextant.1
set -euo pipefail
program=$1 version=$2
export LC_ALL=C.UTF-8 COLUMNS=80

# Help as it stands on a terminal: backslashes, hyphens and a dot at the start of a line mean something to roff.
verbatim() { sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"; }
example() { printf '.nf\n'; verbatim; printf '.fi\n'; }

top=$("$program" --help)
printf '.\\" Made from sextant --help.\n.TH SEXTANT 1 "" "sextant %s" "User Commands"\n' "$version"
printf '.SH NAME\nsextant \\- positions and attention in transformers\n'
printf '.SH SYNOPSIS\n.B sextant\n.I COMMAND\n.RI [ OPTIONS ]\n.SH DESCRIPTION\n'
example <<<"$top"
printf '.SH COMMANDS\n'
# Lines of two blanks and a name, before the examples.
sed -n '/^`sextant/q; s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$top" | while read -r command; do
  printf '.SS sextant %s\n' "${command//-/\\-}"
  "$program" "$command" --help | example
done
