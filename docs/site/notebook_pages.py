"""Notebooks as pages: their text, their code, and what each cell shows, made by running them."""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "notebooks"))

from execute import execute  # noqa: E402

TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)


def fenced(language: str, text: str) -> str:
    return f"``````{language}\n{text.rstrip()}\n``````"


def title_of(svg: str) -> str:
    """For those who do not see the picture."""
    found = TITLE.search(svg)
    return re.sub(r"[\[\]\s]+", " ", unescape(found[1])).strip() if found else "What the code above draws"


def shown(output: dict[str, Any], name: str, pictures: dict[str, str]) -> str:
    """An output as Markdown; a picture goes into `pictures` under a name of its own."""
    if output["output_type"] == "stream":
        return fenced("text", output["text"])
    data = output["data"]
    if "image/svg+xml" not in data:
        return fenced("text", data["text/plain"])
    file = f"{name}-{len(pictures)}.svg"
    pictures[file] = data["image/svg+xml"]
    return f"![{title_of(pictures[file])}]({file})"


def page(notebook: dict[str, Any], outputs: list[list[dict[str, Any]]], name: str) -> tuple[str, dict[str, str]]:
    """The page, and its pictures by file name."""
    pictures: dict[str, str] = {}
    parts, left = [], iter(outputs)
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(fenced("python", source))
        parts += [shown(output, name, pictures) for output in next(left)]
    return "\n\n".join(parts) + "\n", pictures


def notebook_page(path: Path) -> tuple[str, dict[str, str]]:
    """Runs a notebook; an error in it is an error of the site."""
    print(f"runs {path.name}", flush=True)
    return page(json.loads(path.read_text()), execute(path), path.stem)
