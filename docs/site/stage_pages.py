"""Copies the Markdown pages of the repository to where Sphinx reads them, with links that lead to pages of the site.

A page keeps its text. Its links are resolved in the repository and point to the page of the site that shows the target: another
document, a header's reference, the listing of a source file or of a folder.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path, PurePosixPath
from typing import Iterable

from notebook_pages import notebook_page

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".def": "cpp", ".py": "python", ".sh": "bash", ".cmake": "cmake", ".json": "json", ".toml": "toml"}
PICTURES = {".svg", ".png", ".webp"}
NOTEBOOKS = PurePosixPath("examples/notebooks")
# Of a page that is not among the contents at the side of every page: with all of them there, writing the pages takes minutes.
ORPHAN = "---\norphan: true\n---\n"


def contents(pages: Iterable[str], caption: str = "") -> str:
    """What puts pages among the contents, below the page that this is written on."""
    return "\n".join(["", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *pages, "```", ""])


def page_of(path: PurePosixPath) -> PurePosixPath:
    """Where the site has a file or folder of the repository; both relative to their roots."""
    if (ROOT / path).is_dir():
        readme = path / "README.md"
        if (ROOT / readme).exists():
            return page_of(readme)
        return (path.relative_to("docs") if path.is_relative_to("docs") else "source" / path) / "index.md"
    if path.parent == NOTEBOOKS and path.suffix in (".md", ".ipynb"):
        return PurePosixPath("notebooks", "index.md" if path.name == "README.md" else path.stem + ".md")
    if path.suffix == ".md":
        if path.is_relative_to("docs"):
            inside = path.relative_to("docs")
            return inside.with_name("index.md") if inside.name == "README.md" and len(inside.parts) > 1 else inside
        return "project" / path if len(path.parts) == 1 else "source" / path
    if path.is_relative_to("include/sextant"):
        return "cpp" / path.relative_to("include/sextant").with_suffix(".md")
    if path.suffix in PICTURES:
        return path.relative_to("docs")
    return "source" / path.with_name(path.name + ".md")


class Stage:
    """The folder that Sphinx reads. `ends` has what is put at the end of pages, whichever page leads to them first."""

    def __init__(self, folder: Path, ends: dict[PurePosixPath, str]):
        self.folder = folder
        self.ends = ends
        self.done: set[PurePosixPath] = set()

    def write(self, page: str | PurePosixPath, text: str) -> None:
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def link(self, target: str, source: PurePosixPath, page: PurePosixPath) -> str:
        """The link of a page of the repository, for the page of the site that shows it."""
        name, _, anchor = target.partition("#")
        if not name or re.match(r"[a-z]+:", target):
            return target
        path = PurePosixPath(os.path.normpath(source.parent / name))
        if not (ROOT / path).exists():
            return target  # no link but code; a test of the repository finds links that lead nowhere
        self.add(path)
        return os.path.relpath(page_of(path), page.parent) + ("#" + anchor if anchor else "")

    def linked(self, text: str, source: PurePosixPath, page: PurePosixPath) -> str:
        lines, fence = [], ""
        for line in text.splitlines(keepends=True):
            mark = FENCE.match(line)
            if mark and not fence:
                fence = mark[1]
            elif mark and mark[1].startswith(fence) and not line.strip("`~ \n"):
                fence = ""
            elif not fence:
                line = LINK.sub(lambda found: f"]({self.link(found[1], source, page)})", line)
            lines.append(line)
        return "".join(lines)

    def add(self, path: PurePosixPath) -> None:
        """Makes the page of a file or folder of the repository, and of all that it links to."""
        if path in self.done:
            return
        self.done.add(path)
        page = page_of(path)
        if (ROOT / path).is_dir():
            if (ROOT / path / "README.md").exists():
                self.add(path / "README.md")
            else:
                self.write(page, self.listing(path))
        elif path.suffix == ".md":
            text = self.linked((ROOT / path).read_text(), path, page)
            orphan = ORPHAN if page.parts[0] in ("source", "decisions") else ""
            self.write(page, orphan + text + self.ends.get(path, ""))
        elif path.suffix == ".ipynb":
            text, pictures = notebook_page(ROOT / path)
            self.write(page, self.linked(text, path, page))
            for name, picture in pictures.items():
                self.write(page.with_name(name), picture)
        elif path.suffix in PICTURES:
            (self.folder / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, self.folder / page)
        elif not path.is_relative_to("include/sextant"):  # those are cpp_reference.py's
            language = LANGUAGES.get(path.suffix, "make" if path.name == "Makefile" else "text")
            text = (ROOT / path).read_text()
            self.write(page, f"{ORPHAN}# {path}\n\n``````{language}\n{text}``````\n")

    def listing(self, path: PurePosixPath) -> str:
        """A folder as a page: its documents by title, its other files by name."""
        lines = [f"# {path.name.capitalize()}", ""]
        for file in sorted((ROOT / path).iterdir()):
            inside = path / file.name
            if file.name.startswith((".", "__")):
                continue
            self.add(inside)
            name = file.read_text().split("\n", 1)[0].lstrip("# ") if file.suffix == ".md" else file.name
            lines.append(f"- [{name}]({os.path.relpath(page_of(inside), page_of(path).parent)})")
        orphan = "" if path.is_relative_to("docs") else ORPHAN
        return orphan + "\n".join([*lines, ""])
