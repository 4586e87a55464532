"""The notebooks run from the first cell to the last, and are kept without outputs. Numbers are asserted in their cells."""

import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
sys.path.insert(0, str(FOLDER))

from execute import CellError, execute  # noqa: E402

HEAD = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def test_there_is_one_for_each_question():
    listed = (FOLDER / "README.md").read_text()
    assert len(NOTEBOOKS) == 8
    assert all(f"({path.name})" in listed for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path):
    outputs = execute(path)
    pictures = [output for cell in outputs for output in cell if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) >= 2
    assert all(picture["data"]["image/svg+xml"].startswith("<svg") for picture in pictures)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_kept_without_outputs(path):
    """What an editor adds is taken out: `jupyter nbconvert --clear-output --inplace` or "clear all outputs" before saving."""
    notebook = json.loads(path.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"], notebook["metadata"]) == (4, 5, HEAD)
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None
        assert all("$" not in line for line in cell["source"] if cell["cell_type"] == "markdown"), "the site shows no formulas of TeX"
    assert path.read_text() == json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    imports = {line.split()[1].split(".")[0] for cell in notebook["cells"] for line in cell["source"] if line.startswith(("import ", "from "))}
    assert imports <= {"sextant", "numpy", "copy", "io", "json", "pathlib", "tempfile", "time"}


def test_a_cell_that_fails_is_an_error_with_its_name(tmp_path):
    cells = [{"cell_type": "code", "id": name, "source": [source]} for name, source in (("good", "x = 1"), ("bad", "assert x == 2, x"))]
    (tmp_path / "one.ipynb").write_text(json.dumps({"cells": cells}))
    with pytest.raises(CellError, match=r"one.ipynb, cell bad:\n(?s:.*)AssertionError: 1"):
        execute(tmp_path / "one.ipynb")
    cells[1]["source"] = ["import warnings\n", "warnings.warn('odd')"]
    (tmp_path / "one.ipynb").write_text(json.dumps({"cells": cells}))
    with pytest.raises(CellError, match="UserWarning: odd"):
        execute(tmp_path / "one.ipynb")
