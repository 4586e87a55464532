"""Checks a folder of HTML pages: every link leads to a file and an anchor of it, and nothing is fetched from elsewhere.

    check_site.py FOLDER      prints what is wrong; exits with 1 if something is
"""

from __future__ import annotations

import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, by tag. Links that a reader follows may lead elsewhere.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src", "object": "data",
          "image": "href", "use": "href"}
RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
IN_STYLE = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")
SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


class Page(HTMLParser):
    """The anchors of a page, and what it refers to: (target, whether a browser loads it by itself)."""

    def __init__(self, path: Path):
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[tuple[str, bool]] = []
        self.in_style = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        if "href" in values and tag in ("a", "area"):
            self.targets.append((values["href"], False))
        if tag == "link" and "href" in values:
            self.targets.append((values["href"], bool(RELATIONS & set(values.get("rel", "").split()))))
        if tag in LOADED:
            self.targets += [(values[name], True) for name in (LOADED[tag], "xlink:href") if values.get(name)]
        for candidate in values.get("srcset", "").split(","):
            if candidate.strip():
                self.targets.append((candidate.split()[0], True))
        self.targets += styled(values.get("style", ""))
        self.in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.targets += styled(data)

    def handle_endtag(self, tag: str) -> None:
        self.in_style = False


def styled(text: str) -> list[tuple[str, bool]]:
    return [(found[1] or found[2], True) for found in IN_STYLE.finditer(text)]


def complaints(folder: Path) -> list[str]:
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    result = [] if pages else [f"{folder} has no page"]
    references = [(path, target, loaded) for path, page in pages.items() for target, loaded in page.targets]
    for style in sorted(folder.rglob("*.css")):
        references += [(style, target, loaded) for target, loaded in styled(re.sub(r"/\*.*?\*/", "", style.read_text(), flags=re.DOTALL))]
    for path, target, loaded in references:
        where = path.relative_to(folder)
        if target.startswith("data:") or (SCHEME.match(target) and not loaded):
            continue
        if SCHEME.match(target):
            result.append(f"{where} fetches {target}")
            continue
        parts = urlsplit(target)
        file = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
        if not file.is_relative_to(folder) or not file.is_file():
            result.append(f"{where}: {target} leads nowhere")
        elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
            result.append(f"{where}: {target} has no such anchor")
    return sorted(set(result))


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    found = complaints(folder)
    print(*found, sep="\n", end="\n" if found else "")
    print(f"check_site: {len(list(folder.rglob('*.html')))} pages, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
