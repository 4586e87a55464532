#!/usr/bin/env python3
"""Fills the paragraphs of Markdown files to one width.

    scripts/wrap_documents.py [--check] FILE ...

Tables, code, headings and HTML stay as they are, and so does what follows a comment that says that a test writes the rest. A code
span and the address of a link are not broken. --check changes nothing and names the lines of prose that are longer than the width.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

WIDTH = 120
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
ITEM = re.compile(r"( *)([-*+]|\d+[.)]) +")
KEPT = re.compile(r"#|\||<|>|---|:::| {0,3}\[[^\]]+\]: ")  # headings, tables, HTML, quotations, rules, directives, definitions of links
WRITTEN_BY_A_TEST = re.compile(r"<!-- .* is written by ")
# A word with its code spans and the end of a link: what no line may break.
WORD = re.compile(r"(?:`+[^`]*`+|\]\([^)]*\)|\S)+")
# What means something else at the start of a line.
STARTS = re.compile(r"([-*+>=|]|\d+[.)])$|[#>|=]|```|~~~|---")


def words_of(text: str) -> list[str]:
    words: list[str] = []
    for word in WORD.findall(text):
        if words and STARTS.match(word):
            words[-1] += " " + word
        else:
            words.append(word)
    return words


def filled(lines: list[str]) -> list[str]:
    """The lines of one paragraph or list item, filled."""
    item = ITEM.match(lines[0])
    first = item[0] if item else lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    then = " " * len(first)
    done, line = [], first
    for word in words_of(" ".join([lines[0][len(first) :], *lines[1:]])):
        joined = line + word if line in (first, then) else f"{line} {word}"
        if len(joined) > WIDTH and line not in (first, then):
            done.append(line)
            joined = then + word
        line = joined
    return [*done, line]


def wrapped(text: str) -> str:
    done: list[str] = []
    paragraph: list[str] = []
    fence = ""

    def end() -> None:
        if paragraph:
            hard = any(line.endswith("  ") or line.endswith("\\") for line in paragraph)
            done.extend(paragraph if hard else filled(paragraph))
            paragraph.clear()

    lines = text.splitlines()
    for number, line in enumerate(lines):
        if WRITTEN_BY_A_TEST.match(line):
            end()
            done.extend(lines[number:])
            break
        mark = FENCE.match(line)
        if fence or mark:
            end()
            done.append(line)
            if not fence:
                fence = mark[1]
            elif mark and mark[1].startswith(fence) and not line.strip("`~ "):
                fence = ""
        elif not line.strip() or KEPT.match(line) or (not paragraph and line.startswith("    ")):
            end()
            done.append(line)
        else:
            if ITEM.match(line):
                end()
            paragraph.append(line)
    end()
    return "\n".join(done) + "\n"


def too_long(text: str) -> list[int]:
    """The numbers of lines that filling makes shorter."""
    kept = set(wrapped(text).splitlines())
    return [n for n, line in enumerate(text.splitlines(), 1) if len(line) > WIDTH and line not in kept]


def main() -> int:
    check = "--check" in sys.argv
    found = False
    for name in sys.argv[1:]:
        if name == "--check":
            continue
        path = Path(name)
        text = path.read_text()
        if check:
            for number in too_long(text):
                found = True
                print(f"{path}:{number}: longer than {WIDTH} columns; make format fills it", file=sys.stderr)
        elif wrapped(text) != text:
            path.write_text(wrapped(text))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
