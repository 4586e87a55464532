#!/usr/bin/env python3
"""Draws the pictures of the documents, docs/images/NAME.svg, with the commands of the pages that show them.

    scripts/draw_pictures.py [--into FOLDER] [--check] PROGRAM [NAME ...]

A page that shows NAME.svg has a block of code with a line that ends in "-o NAME.svg"; the block runs up to that line. --check
draws into a folder of its own and compares with docs/images: same text, numbers within a hundredth (other processors round the last bit
differently), embedded pixels left out.
"""

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
LARGEST = 61440  # bytes of a picture
# Pictures that no command of a page draws in seconds, and where they come from.
FROM_ELSEWHERE = {
    "attention-kernel": "drawn by hand",
    **dict.fromkeys(("encodings-english", "encodings-cpp", "encodings-copy", "encodings-reverse", "encodings-sort"), "measured; bench/encodings/page.py draws it"),
    "extrapolation": "trains for hours, see docs/extrapolate.md",
    "extrapolation-seeds": "trains for hours, see docs/extrapolate.md",
    "ranks-links": "measured, see docs/parallel.md",
    "ranks-model": "measured, see docs/parallel.md",
    "ratios": "measured; bench/peers/draw_ratios.py draws it",
    "shakespeare-copy": "trains for hours, see docs/shakespeare.md",
}
# Their commands need all-MiniLM-L6-v2, a folder of 90 MB.
OF_A_LARGE_MODEL = {"minilm-head", "minilm-lines", "minilm-similarity"}


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def blocks(text: str) -> list[list[str]]:
    """The lines of each block of code, fenced or indented; of a console block the commands."""
    found = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found += [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in re.findall(r"(?:^    \S.*\n)+", text, re.MULTILINE)]
    split = [block.splitlines() for block in found]
    return [[line[2:] for line in lines if line[:2] in ("$ ", "> ")] if any(line.startswith("$ ") for line in lines) else lines for lines in split]


def commands() -> dict[str, str]:
    """What draws each picture that a page shows."""
    made: dict[str, str] = {}
    for page in pages():
        text = page.read_text()
        for name in re.findall(r"!\[[^\]]*\]\((?:\.\./|docs/)*images/([\w-]+)\.svg\)", text):
            for block in blocks(text):
                ends = [i for i, line in enumerate(block) if line.endswith(f"-o {name}.svg")]
                if ends and name not in made and name not in OF_A_LARGE_MODEL:
                    made[name] = "\n".join(block[: ends[0] + 1])
    return made


def draw(name: str, command: str, program: Path, into: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        script = f'set -e\nsextant() {{ "{program}" "$@"; }}\n{command}\n'
        run = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
        drawn = Path(folder) / f"{name}.svg"
        if run.returncode != 0 or not drawn.exists():
            raise SystemExit(f"{name}: its command failed\n{command}\n{run.stderr}")
        if drawn.stat().st_size > LARGEST:
            raise SystemExit(f"{name}: {drawn.stat().st_size} bytes, more than {LARGEST}")
        (into / f"{name}.svg").write_bytes(drawn.read_bytes())


def same(one: str, other: str) -> bool:
    number = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
    texts = [re.sub(r"base64,[A-Za-z0-9+/=]+", "base64,", text) for text in (one, other)]
    if number.sub("#", texts[0]) != number.sub("#", texts[1]):
        return False
    pairs = zip(*(number.findall(text) for text in texts))
    return all(abs(float(a) - float(b)) <= 0.0101 for a, b in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws the pictures of the documents.")
    parser.add_argument("--into", type=Path, default=IMAGES)
    parser.add_argument("--check", action="store_true", help="compare with docs/images and write nothing")
    parser.add_argument("program", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = commands()
    stored = {path.stem for path in IMAGES.glob("*.svg")}
    complaints = []
    if not options.names:
        complaints += [f"docs/images/{name}.svg: no page shows it with a command" for name in sorted(stored - known.keys() - FROM_ELSEWHERE.keys() - OF_A_LARGE_MODEL)]
        complaints += [f"{name}: has a command now, and a line in FROM_ELSEWHERE" for name in sorted(known.keys() & FROM_ELSEWHERE.keys())]
    names = options.names or sorted(known)
    unknown = [name for name in names if name not in known]
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) if options.check else options.into
        into.mkdir(parents=True, exist_ok=True)
        for name in itertools.filterfalse(unknown.__contains__, names):
            draw(name, known[name], options.program.resolve(), into)
            if not options.check:
                print(name)
            elif name not in stored:
                complaints.append(f"docs/images/{name}.svg: is missing")
            elif not same((into / f"{name}.svg").read_text(), (IMAGES / f"{name}.svg").read_text()):
                complaints.append(f"docs/images/{name}.svg: is not what its command draws; make pictures")
    complaints += [f"{name}: no page shows it with a command that ends in -o {name}.svg" for name in unknown]
    print("\n".join(complaints), file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
