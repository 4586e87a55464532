"""Every block of the section Models of docs/python.md, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sextant

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def test_section_on_models_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"sextant": sextant}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text().split("\n## Models\n")[1].split("\n## ")[0], re.DOTALL)
    assert len(blocks) == 6
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    assert names["best"].text == "2024-04-01" and len(names["losses"]) == 10
    assert names["maps"].shape == (1, 1, 2, 6) and names["norm"] > 0
