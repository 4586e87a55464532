"""Every block of docs/python-models.md, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sextant

PAGE = Path(__file__).parents[2] / "docs" / "python-models.md"


def test_page_of_models_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"sextant": sextant}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        exec(compile(block, "python-models.md", "exec"), names)
    assert names["best"].text == "2024-04-01" and len(names["losses"]) == 10
    assert names["maps"].cross.shape[:2] == (1, 4)
