"""Train short, test long: what extrapolate() does with its arguments."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

from . import _core
from ._progress import Progress
from ._sources import files_for, folder_of, positions_of, temporary_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Source

OnScore = Callable[[str, str, int, Optional[_core.StepMetrics]], Any]


@dataclass(frozen=True)
class ExtrapolationRow:
    """The result of one scheme; perplexities are NaN where there is none."""

    label: str  # "rotary base=500000"
    weights: int  # numbers that the model learned
    seconds: float  # of training
    validation_loss: float  # per token, at the training length
    segments: NDArray[Any]  # perplexity of each length, in segments that do not overlap
    sliding: NDArray[Any]  # in sliding windows
    reason: str  # why numbers are missing


@dataclass(frozen=True)
class ExtrapolationTable:
    """Perplexities by scheme and length, all of the same held-out tokens."""

    train_length: int
    steps: int  # of each scheme
    stride: int  # of sliding windows
    scored: int  # tokens
    lengths: list[int]
    rows: list[ExtrapolationRow]
    stopped: bool  # on_step returned False: rows are missing
    json: str  # all of it, as `sextant extrapolate` writes it

    def __str__(self) -> str:
        lines = [f"{'scheme':24}" + "".join(f"{length:>10}" for length in self.lengths)]
        for row in self.rows:
            lines.append(f"{row.label:24}" + "".join(f"{number:10.3f}" for number in row.segments))
        return "\n".join(lines)


def run(
    text: Source | Sequence[Source],
    schemes: Sequence[Any] | None,
    options: dict[str, Any],
    folder: str | os.PathLike[str] | None,
    on_step: OnScore | None,
    progress: bool | None,
) -> ExtrapolationTable:
    path = folder_of(folder, "extrapolate.folder")
    named = None
    if schemes is not None:
        if isinstance(schemes, (str, dict)):
            raise TypeError(f"[extrapolate.schemes] must be a list, got {type(schemes).__name__}")
        named = [positions_of(each, "extrapolate.schemes") for each in schemes]
        if not named:
            raise ValueError("[extrapolate.schemes] must be one or more, got none")
    bar = Progress(progress, 0, 0, "extrapolate")

    def step(label: str, doing: str, length: int, metrics: _core.StepMetrics | None) -> Any:
        what = f"{label}: {doing}" + (f" at {length}" if length else "")
        if metrics is not None:
            bar.step(metrics, what)
        else:
            bar.say(what)
        return on_step(label, doing, length, metrics) if on_step is not None else None

    with files_for(path) as files, contextlib.nullcontext(path) if path else temporary_folder() as kept:
        try:
            result = _core.extrapolate(files.texts(text, "extrapolate.text"), named, options, kept, step)
        finally:
            bar.close()
    error = result.pop("error")
    rows = [ExtrapolationRow(**row) for row in result.pop("rows")]
    table = ExtrapolationTable(rows=rows, **result)
    if error is None:
        return table
    error.table = table
    raise error
