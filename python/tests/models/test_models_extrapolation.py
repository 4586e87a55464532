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
    said = tiny.program("extrapolate", "--file", str(text), "--schemes", "none,rotary:base=500,learned", "-o", str(tmp_path / "run"),
                        "--json", *"--steps 3 --train-length 16 --test-lengths 16,32 --stride 16 --scored 64 --width 16 --heads 2 --layers 1".split())
    assert [row["seconds"] for row in json.loads(said)["rows"]] == [row.seconds for row in table.rows]


def test_seeds_are_averaged_by_their_losses(tmp_path: Path) -> None:
    call = dict(schemes=["none", "learned"], folder=tmp_path / "run", **OPTIONS)
    told: list[str] = []
    table = sextant.extrapolate(
        io.StringIO(tiny.TEXT), seeds=3, seed=5, on_step=lambda label, doing, length, metrics: told.append(label), **call)  # type: ignore[arg-type]
    assert table.seeds == 3 and [(row.label, row.seed) for row in table.rows] == [(label, seed) for label in ("none", "learned") for seed in (5, 6, 7)]
    assert list(dict.fromkeys(told)) == [f"{label}, seed {seed}" for seed in (5, 6, 7) for label in ("none", "learned")]
    none, learned = table.means
    assert (none.label, none.seeds, none.segments_scored, learned.segments_scored) == ("none", [5, 6, 7], [3, 3], [3, 0])
    for scoring in ("segments", "sliding"):
        losses = np.log([getattr(row, scoring) for row in table.rows[:3]])
        np.testing.assert_allclose(np.log(getattr(none, scoring)), losses.mean(axis=0), rtol=1e-14)
        # Losses near 3 are rounded at 4e-16: their deviations, of 1e-3 and more, are off by 1e-12 at most.
        assert (losses.std(axis=0, ddof=1) > 1e-3).all()
        np.testing.assert_allclose(np.log(getattr(none, f"{scoring}_factor")), losses.std(axis=0, ddof=1), rtol=1e-12)
    assert np.isnan(learned.segments[1]) and np.isnan(learned.segments_factor[1]) and learned.segments_factor[0] > 1
    assert f"{none.segments[1]:.3f} ×÷{none.segments_factor[1]:.3f}" in str(table) and " of 3" not in str(table)
    assert "3 seeds" in sextant.plot.extrapolation(table).svg
    # The first seed alone is there already.
    one = sextant.extrapolate(io.StringIO(tiny.TEXT), seed=5, **call)  # type: ignore[arg-type]
    assert one.seeds == 1 and one.rows[0].seconds == table.rows[0].seconds
    assert one.means[0].segments.tolist() == one.rows[0].segments.tolist() and "÷" not in str(one)


def test_a_stopped_experiment_says_how_many_seeds_it_has() -> None:
    def stop(label: str, doing: str, length: int, metrics: object) -> bool:
        return label != "alibi, seed 1"

    part = sextant.extrapolate(io.StringIO(tiny.TEXT), schemes=["none", "alibi"], seeds=3, on_step=stop, **OPTIONS)
    assert part.stopped and [(row.label, row.seed) for row in part.rows] == [("none", 0), ("none", 1), ("alibi", 0)]
    none, alibi = str(part).splitlines()[1:]
    assert none.count("(2 of 3)") == alibi.count("(1 of 3)") == 2 and "÷" in none and "÷" not in alibi


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
        ({"seeds": 0}, ValueError, "extrapolate.seeds"),
        ({"seeds": 2, "seed": 4294967295}, ValueError, "extrapolation.seeds"),
        ({"test_lengths": 16}, TypeError, "extrapolate.test_lengths"),
    ],
)
def test_errors_name_the_argument(options: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as error:
        sextant.extrapolate(io.StringIO(tiny.TEXT), **{**OPTIONS, **options})
    assert words in str(error.value)
