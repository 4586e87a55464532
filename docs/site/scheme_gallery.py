"""The gallery: a card for each scheme of `sextant list --json`, with the picture that its page's command draws."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from stage_pages import ROOT, Stage

KINDS = {
    "added": "Vectors added to the embeddings",
    "rotated": "Rotations of queries and keys",
    "distance_bias": "A number per head and distance, added to the score",
    "indexed_bias": "A number per query and key, added to the score",
    "content": "Terms that depend on the content of the tokens",
    "none": "Nothing at all",
}


def formula(page: str) -> str:
    """The first indented block of a scheme's page before its first section."""
    found = re.search(r"(?:^    .*\n)(?:^(?:    .*)?\n)*", page.split("\n## ")[0], re.MULTILINE)
    return "\n".join(line[4:] for line in found[0].rstrip().splitlines()) if found else ""


def card(scheme: dict[str, str], page: str) -> str:
    text = formula(page)
    shown = f"\n```text\n{text}\n```\n" if text else ""
    return (f"::::{{grid-item-card}} {scheme['name']}\n:link: {scheme['name']}\n:link-type: doc\n:class-card: scheme\n"
            f":img-top: ../images/{scheme['name']}.svg\n:img-alt: What {scheme['name']} looks like\n\n{scheme['idea']}\n{shown}::::\n")


def add_gallery(stage: Stage, program: Path) -> None:
    schemes = json.loads(subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True).stdout)
    names = [scheme["name"] for scheme in schemes]
    subprocess.run([ROOT / "scripts" / "draw_pictures.py", "--into", stage.folder / "images", program, *names], check=True,
                   stdout=subprocess.DEVNULL)
    lines = ["# Gallery of schemes", "", f"All {len(schemes)} schemes, by their place in attention. A card leads to the scheme's page: parameters, models that "
             "use it, traps, the command that draws its picture. [The list with the papers](index.md).", ""]
    for kind, title in KINDS.items():
        cards = []
        for scheme in schemes:
            if scheme["kind"] == kind:
                if not (stage.folder / "images" / f"{scheme['name']}.svg").exists():
                    raise SystemExit(f"docs/schemes/{scheme['name']}.md has no command that draws {scheme['name']}.svg")
                page = (ROOT / "docs" / "schemes" / f"{scheme['name']}.md").read_text()
                cards.append(card(scheme, page))
        lines += [f"## {kind}", "", f"{title}.", "", ":::::{grid} 1 1 2 2", ":gutter: 3", "", *cards, ":::::", ""]
    left = {scheme["kind"] for scheme in schemes} - KINDS.keys()
    if left:
        raise SystemExit(f"kinds of schemes that the gallery does not know: {', '.join(left)}")
    stage.write("schemes/gallery.md", "\n".join(lines))
