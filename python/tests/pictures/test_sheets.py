"""Exercise sheets: the solutions run, the sheets are the same with blanks, and both come of one source."""

import ast
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "examples" / "notebooks" / "sheets"
sys.path.insert(0, str(FOLDER))

import make_sheets  # noqa: E402

SOURCES = make_sheets.sources()


def source(folder, text):
    path = folder / "one.py"
    path.write_text(text)
    return path


def test_each_is_listed():
    listed = (FOLDER / "README.md").read_text()
    assert len(SOURCES) == 7
    assert all(f"({path.name})" in listed for path in SOURCES)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_makes_a_sheet_and_a_solution(path, tmp_path):
    make_sheets.make(path, tmp_path)
    sheet, solution = (json.loads((tmp_path / kind / f"{path.stem}.ipynb").read_text()) for kind in ("exercises", "solutions"))
    texts = ["".join(cell["source"]) for cell in sheet["cells"]]
    assert 5 <= sum(text.startswith("## ") for text in texts) <= 8
    assert [cell["id"] for cell in sheet["cells"]] == [cell["id"] for cell in solution["cells"]]
    for blank, solved in zip(sheet["cells"], solution["cells"]):
        text = "".join(solved["source"])
        assert "# blank" not in text and "your turn" not in text
        if blank["cell_type"] == "code":
            code = "".join(blank["source"])
            ast.parse(code)
            assert blank["outputs"] == [] and blank["execution_count"] is None
            imports = {line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))}
            assert imports <= {"sextant", "numpy"}
            if solved["id"].endswith("-try"):
                assert "...  # your turn" in code and "assert " in code
    assert any(cell["outputs"] for cell in solution["cells"] if cell["cell_type"] == "code")


def test_a_sheet_has_none_of_the_answers(tmp_path):
    text = '# %% [markdown] q\n# ## Which?\n\n# %% [markdown] q-answer (answer)\n# Forty-two.\n\n# %% q-try\nx = (42)  # blank\n\n\ndef f():\n    return x + 1  # blank\n\n\nf()\n'
    make_sheets.make(source(tmp_path, text), tmp_path)
    cells = json.loads((tmp_path / "exercises" / "one.ipynb").read_text())["cells"]
    assert ["".join(cell["source"]) for cell in cells] == [
        "## Which?",
        "*Your answer:*",
        "x = ...  # your turn\n\n\ndef f():\n    return ...  # your turn\n\n\nf()",
    ]
    solved = json.loads((tmp_path / "solutions" / "one.ipynb").read_text())["cells"]
    assert "".join(solved[1]["source"]) == "Forty-two."
    assert solved[2]["outputs"] == [{"output_type": "execute_result", "data": {"text/plain": "43"}, "metadata": {}, "execution_count": 1}]


@pytest.mark.parametrize(("text", "words"), [
    ("x = 1\n", "one.py:1: must be '# %% NAME'"),
    ("# %% a\n# %% B c\n", "one.py:2: must be '# %% NAME'"),
    ("# %% a\nx = 1\n# %% a\n", "must have cells with different names"),
    ("", "must have cells"),
    ("# %% a\nprint(1)  # blank\n", "must end the line of an assignment or a return"),
    ("# %% a\nx = [\n    1,\n]  # blank\n", "must be one line"),
])  # fmt: skip
def test_a_source_of_another_form_is_refused(tmp_path, text, words):
    with pytest.raises(make_sheets.SourceError, match=words):
        make_sheets.make(source(tmp_path, text), tmp_path)


def test_a_wrong_solution_is_an_error_and_leaves_no_file(tmp_path, capsys):
    path = source(tmp_path, "# %% a\nx = 1  # blank\nassert x == 2\n")
    with pytest.raises(make_sheets.CellError, match="cell a"):
        make_sheets.make(path, tmp_path)
    assert not (tmp_path / "solutions" / "one.ipynb").exists()
    sys_argv, sys.argv = sys.argv, ["make_sheets.py", "--into", str(tmp_path), str(path)]
    try:
        assert make_sheets.main() == 1
    finally:
        sys.argv = sys_argv
    assert "make_sheets: one.ipynb, cell a" in capsys.readouterr().err
