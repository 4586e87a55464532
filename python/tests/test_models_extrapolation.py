"""Train short, test long."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

import sextant

OPTIONS: dict[str, Any] = dict(steps=3, train_length=16, test_lengths=[16, 32], stride=16, scored=64, width=16, heads=2, layers=1)


def test_every_scheme_is_scored_at_every_length(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(tiny.TEXT)
    table = sextant.extrapolate(text, schemes=["none", {"rotary": {"base": 500.0}}, "learned"], folder=tmp_path / "run", **OPTIONS)
    assert [row.label for row in table.rows] == ["none", "rotary base=500", "learned"] and table.lengths == [16, 32]
    assert all(row.segments.shape == row.sliding.shape == (2,) for row in table.rows)
    assert np.isnan(table.rows[2].segments[1]) and table.rows[2].reason
    assert "rotary base=500" in str(table) and not table.stopped
    saved = json.loads((tmp_path / "run" / "results.json").read_text())
    assert saved["rows"][1]["label"] == "rotary base=500"
    # The command line takes the same folder, and has nothing to train.
    said = tiny.program("extrapolate", "--text", str(text), "--schemes", "none,rotary:base=500,learned", "-o", str(tmp_path / "run"),
                        "--json", *"--steps 3 --train-length 16 --test-lengths 16,32 --stride 16 --scored 64 --width 16 --heads 2 --layers 1".split())
    assert [row["seconds"] for row in json.loads(said)["rows"]] == [row.seconds for row in table.rows]


def test_a_stopped_experiment_goes_on(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    def stop(label: str, doing: str, length: int, metrics: object) -> bool:
        seen.append((label, doing))
        return not (label == "alibi" and metrics is not None)

    call = dict(schemes=["none", "alibi"], folder=tmp_path / "run", **OPTIONS)
    part = sextant.extrapolate(io.StringIO(tiny.TEXT), on_step=stop, **call)  # type: ignore[arg-type]
    assert part.stopped and [row.label for row in part.rows] == ["none"] and ("none", "scoring") in seen
    whole = sextant.extrapolate(io.StringIO(tiny.TEXT), **call)  # type: ignore[arg-type]
    assert [row.label for row in whole.rows] == ["none", "alibi"] and not whole.stopped
    assert whole.rows[0].seconds == part.rows[0].seconds


def test_what_a_callback_raises_comes_through_with_the_table() -> None:
    def fail(label: str, doing: str, length: int, metrics: object) -> None:
        if label == "alibi":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as error:
        sextant.extrapolate(io.StringIO(tiny.TEXT), schemes=["none", "alibi"], on_step=fail, **OPTIONS)
    assert [row.label for row in error.value.table.rows] == ["none"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"steps": 0}, ValueError, "extrapolate.minutes"),
        ({"minutes": 1.0}, ValueError, "extrapolate.minutes"),
        ({"schemes": []}, ValueError, "extrapolate.schemes"),
        ({"schemes": "rotary"}, TypeError, "extrapolate.schemes"),
        ({"schemes": ["rotery"]}, ValueError, "rotery"),
        ({"test_lengths": [32, 16]}, ValueError, "test_lengths"),
        ({"test_lengths": 16}, TypeError, "extrapolate.test_lengths"),
    ],
)
def test_errors_name_the_argument(options: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as error:
        sextant.extrapolate(io.StringIO(tiny.TEXT), **{**OPTIONS, **options})
    assert words in str(error.value)
