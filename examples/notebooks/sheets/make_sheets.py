#!/usr/bin/env python3
"""Makes exercise sheets and their solutions, two notebooks from each source in this folder.

    make_sheets.py --into FOLDER [SOURCE.py ...]     FOLDER/exercises/NAME.ipynb with blanks, FOLDER/solutions/NAME.ipynb with outputs

A source is a Python program in cells: `# %% NAME` begins a cell of code, `# %% [markdown] NAME` a cell of text, whose lines begin with "# ".
A line that ends in "# blank" loses the value that it assigns or returns; a cell of text whose first line ends in "(answer)" loses all its
text. Solutions are run, and a cell that fails is an error.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from execute import CellError, execute  # noqa: E402

HEAD = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
MARK = re.compile(r"# %%( \[markdown\])? ([a-z0-9-]+)( \(answer\))?")
BLANK = re.compile(r" +# blank$", re.MULTILINE)
ASKED = "*Your answer:*"


class Cell(NamedTuple):
    name: str
    is_text: bool
    is_answer: bool  # text that a sheet omits
    source: str


class SourceError(Exception):
    """A source does not have the form above."""


def cells_of(path: Path) -> list[Cell]:
    cells: list[Cell] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        mark = MARK.fullmatch(line)
        if mark is not None:
            cells.append(Cell(mark[2], bool(mark[1]), bool(mark[3]), ""))
        elif line.startswith("# %%") or not cells:
            raise SourceError(f"{path.name}:{number}: must be '# %% NAME' or '# %% [markdown] NAME', got '{line}'")
        else:
            text = re.sub(r"^# ?", "", line) if cells[-1].is_text else line
            cells[-1] = cells[-1]._replace(source=cells[-1].source + text + "\n")
    if len({cell.name for cell in cells}) < len(cells) or not cells:
        raise SourceError(f"{path.name}: must have cells with different names")
    return [cell._replace(source=cell.source.strip("\n")) for cell in cells]


def with_blanks(source: str) -> str:
    lines = source.splitlines()
    marked = {number for number, line in enumerate(lines, 1) if BLANK.search(line)}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.Assign, ast.Return)) or node.end_lineno not in marked:
            continue
        if node.lineno != node.end_lineno:
            raise SourceError(f"a blanked statement must be one line:\n{source}")
        line = lines[node.lineno - 1]
        start = line[: node.targets[-1].end_col_offset] + " =" if isinstance(node, ast.Assign) else line[: node.col_offset] + "return"
        lines[node.lineno - 1] = start + " ...  # your turn"
        marked.remove(node.lineno)
    if marked:
        raise SourceError(f"'# blank' must end the line of an assignment or a return:\n{source}")
    return "\n".join(lines)


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook(cells: list[Cell], blank: bool) -> dict[str, Any]:
    made: list[dict[str, Any]] = []
    for cell in cells:
        if cell.is_text:
            text = ASKED if blank and cell.is_answer else cell.source
            made.append({"cell_type": "markdown", "id": cell.name, "metadata": {}, "source": lines_of(text)})
        else:
            code = with_blanks(cell.source) if blank else BLANK.sub("", cell.source)
            made.append({"cell_type": "code", "execution_count": None, "id": cell.name, "metadata": {}, "outputs": [], "source": lines_of(code)})
    return {"cells": made, "metadata": HEAD, "nbformat": 4, "nbformat_minor": 5}


def save(path: Path, made: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


def make(source: Path, into: Path) -> None:
    """Writes the sheet, then the solution with its outputs."""
    cells = cells_of(source)
    save(into / "exercises" / f"{source.stem}.ipynb", notebook(cells, blank=True))
    solved, path = notebook(cells, blank=False), into / "solutions" / f"{source.stem}.ipynb"
    save(path, solved)
    try:
        outputs = execute(path)
    except CellError:
        path.unlink()
        raise
    code = [cell for cell in solved["cells"] if cell["cell_type"] == "code"]
    for number, (cell, shown) in enumerate(zip(code, outputs), 1):
        cell["execution_count"] = number
        for one in shown:
            extra = {"stream": {}, "display_data": {"metadata": {}}, "execute_result": {"metadata": {}, "execution_count": number}}
            cell["outputs"].append({**one, **extra[one["output_type"]]})
    save(path, solved)


def sources() -> list[Path]:
    return sorted(FOLDER.glob("[0-9]*.py"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes exercise sheets and their solutions.")
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("sources", nargs="*", type=Path)
    options = parser.parse_args()
    for source in options.sources or sources():
        try:
            make(source, options.into)
        except (SourceError, CellError) as error:
            print(f"make_sheets: {error}", file=sys.stderr)
            return 1
        print(source.stem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
