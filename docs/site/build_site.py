"""Builds the documentation site: pages, gallery, references of both languages.

    build_site.py PROGRAM FOLDER      with the module sextant in PYTHONPATH; the site goes to FOLDER/html
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

from check_site import complaints
from cpp_reference import add_cpp_reference, write_headers
from python_reference import add_python_reference
from scheme_gallery import add_gallery
from stage_pages import NOTEBOOKS, ROOT, Stage, contents

HERE = Path(__file__).parent


def doxygen(headers: Path, output: Path) -> None:
    write_headers(headers)
    settings = (ROOT / "docs" / "Doxyfile").read_text() + f"INPUT = {headers}\nOUTPUT_DIRECTORY = {output}\n"
    output.mkdir(parents=True)
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    for file in (output / "xml").glob("*.xml"):  # what to include is at the head of the page
        file.write_text(re.sub(r"<includes.*?</includes>", "", file.read_text()))


def index() -> str:
    """The first page; documents that it does not name are the last of its contents."""
    text = (HERE / "index.md").read_text()
    named = set(text.splitlines())
    left = [page.stem for page in sorted((ROOT / "docs").glob("*.md")) if page.stem not in named]
    return text + (contents(left, "More") if left else "")


def main() -> int:
    program, folder = (Path(argument).resolve() for argument in sys.argv[1:])
    work, html = folder / "work", folder / "html"
    shutil.rmtree(work, ignore_errors=True)
    doxygen(work / "headers", work / "doxygen")
    notebooks = re.findall(r"\((\w+)\.ipynb\)", (ROOT / NOTEBOOKS / "README.md").read_text())  # in the order that they are read in
    schemes = PurePosixPath("docs/schemes")
    stage = Stage(work / "pages", {
        schemes / "README.md": contents(sorted(page.stem for page in (ROOT / schemes).glob("[a-z]*.md"))),
        NOTEBOOKS / "README.md": contents(notebooks),
    })
    for page in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]:
        if HERE not in page.parents:
            stage.add(PurePosixPath(page.relative_to(ROOT)))
    stage.add(PurePosixPath("docs/decisions"))
    stage.write("index.md", index())
    add_gallery(stage, program)
    add_cpp_reference(stage)
    add_python_reference(stage)
    new = folder / "html.new"
    shutil.rmtree(new, ignore_errors=True)
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "2", "-b", "html", "-c", HERE, "-d", work / "doctrees"]
    made = subprocess.run([*sphinx, stage.folder, new], env={**os.environ, "SEXTANT_DOXYGEN": str(work / "doxygen" / "xml")})
    if made.returncode:
        print("build_site: Sphinx complains; pages are in", stage.folder)
        return 1
    found = complaints(new)
    print(*found, sep="\n", end="\n" if found else "")
    if found:
        return 1
    shutil.rmtree(html, ignore_errors=True)
    new.rename(html)
    print(f"The site is in {html}/index.html: open it in a browser, it needs no network.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
