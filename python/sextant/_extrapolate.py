"""Train short, test long: what extrapolate() does with its arguments."""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence

from . import _core
from ._errors import ArgumentError, ArgumentTypeError
from ._progress import Progress
from ._sources import files_for, folder_of, named as as_call, positions_of, temporary_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import PositionNames, Source

OnScore = Callable[[str, str, int, Optional[_core.StepMetrics]], Any]


@dataclass(frozen=True)
class ExtrapolationRow:
    """The result of one run, a scheme with a seed; perplexities are NaN where there is none."""

    label: str  # "rotary base=500000"
    stage: str | None  # "before" or "after" the further training of exchange_positions(); None: there is none
    seed: int  # of everything random
    weights: int  # numbers that the model learned
    seconds: float  # of training
    validation_loss: float  # per token, at the training length
    segments: NDArray[Any]  # perplexity of each length, in segments that do not overlap
    sliding: NDArray[Any]  # in sliding windows
    reason: str  # why numbers are missing


@dataclass(frozen=True)
class ExtrapolationMean:
    """One scheme over its seeds: the mean of the losses as a perplexity, and the sample standard deviation of the losses as a factor.

    One deviation reaches from mean / factor to mean * factor. Seeds without a number are left out and not counted as scored.
    """

    label: str
    seeds: list[int]  # that were trained
    segments: NDArray[Any]  # exp of the mean loss of each length; NaN: no seed has a number
    segments_factor: NDArray[Any]  # exp of the deviation; NaN: fewer than two have one
    segments_scored: list[int]  # seeds that have a number
    sliding: NDArray[Any]
    sliding_factor: NDArray[Any]
    sliding_scored: list[int]


@dataclass(frozen=True)
class ExtrapolationTable:
    """Perplexities by scheme and length, all of the same held-out tokens."""

    train_length: int
    steps: int  # of each model
    stride: int  # of sliding windows
    seeds: int  # of each scheme
    scored: int  # tokens
    lengths: list[int]
    rows: list[ExtrapolationRow]  # a scheme's seeds after one another
    means: list[ExtrapolationMean]  # one per scheme
    stopped: bool  # on_step returned False: rows are missing
    json: str  # all of it, as `sextant extrapolate` writes it

    def __str__(self) -> str:
        rows = [["scheme", *map(str, self.lengths)]]
        for mean in self.means:
            numbers = zip(mean.segments, mean.segments_factor, mean.segments_scored)
            rows.append([mean.label, *(self._cell(*number) for number in numbers)])
        wide = max([10, *(len(cell) + 2 for row in rows for cell in row[1:])])
        return "\n".join(f"{row[0]:24}" + "".join(f"{cell:>{wide}}" for cell in row[1:]) for row in rows)

    def _cell(self, perplexity: float, factor: float, scored: int) -> str:
        """Mean and deviation, and of how many seeds where it is not of all: "5.810 ×÷1.021 (2 of 3)"."""
        spread = "" if math.isnan(factor) else f" ×÷{factor:.3f}"
        some = f" ({scored} of {self.seeds})" if 0 < scored < self.seeds else ""
        return f"{perplexity:.3f}{spread}{some}"


def exchange_positions(
    model: str | os.PathLike[str],
    text: Source | Sequence[Source],
    schemes: Sequence[PositionNames],
    *,
    test_lengths: Sequence[int] = (128, 256, 512, 1024),
    stride: int = 32,
    scored: int = 16384,
    threads: int = 0,
    steps: int = 0,
    train_length: int | None = None,
    batch_size: int = 16,
    rate: float = 2e-4,
    dropout: float = 0.0,
    seed: int = 0,
    seeds: int = 1,
    held_out: float = 0.1,
    folder: str | os.PathLike[str] | None = None,
    on_step: OnScore | None = None,
    progress: bool | None = None,
) -> ExtrapolationTable:
    """Score a trained causal model with other position encodings instead of its own: perplexities of the same tokens by length, in
    segments and in sliding windows. With steps, the model is also trained further with each of them, and scored before and after it.

    Args:
        model: its folder, as of load()
        text: files of text that are scored: paths, or what has read(), one or a list of them; at least twice the longest length. With
            steps its end is scored, and the rest trains
        schemes: names, or dicts from names to parameters; schemes that learn nothing
        test_lengths: tokens, ascending
        stride: how far a sliding window moves, and how many of its tokens are scored
        scored: the largest number of tokens of the text to score
        threads: 0: all cores; the numbers are the same for any
        steps: steps of further training with each of the positions, the model's own too; 0: none, and the arguments below are not used
        train_length: tokens per training sequence, at least 2; None: 128, or the model's length if it is shorter
        batch_size: sequences per step
        rate: peak learning rate; falls to a tenth by a cosine
        dropout: fraction of the activations that are zeroed
        seed: of the order of the data and of dropout; the first of several
        seeds: trainings with each of the positions, with consecutive seeds
        held_out: fraction of each text, at its end, that is scored and not trained on
        folder: where the same call continues if it was stopped; None: nothing is saved
        on_step: as in extrapolate()
        progress: as in extrapolate()

    Returns:
        ExtrapolationTable: the model's own positions first; with steps, two rows for each, whose `stage` is "before" and "after".

    Raises:
        ValueError: a scheme that learns weights, a text that is too short, a model that is not causal
    """
    if isinstance(schemes, (str, dict)):
        raise ArgumentTypeError(f"[exchange_positions.schemes] must be a list, got {type(schemes).__name__}")
    named = [positions_of(each, "exchange_positions.schemes") for each in schemes]
    if steps != 0:
        options = {"test_lengths": test_lengths, "stride": stride, "scored": scored, "threads": threads, "steps": steps, "seed": seed}
        options |= {"batch_size": batch_size, "rate": rate, "dropout": dropout, "seeds": seeds, "held_out": held_out}
        if train_length is not None:
            options["train_length"] = train_length
        path = folder_of(model, "exchange_positions.model")

        def train(texts: list[str], kept: str, step: OnScore) -> dict[str, Any]:
            with as_call(extrapolation="exchange_positions"):
                return _core.train_exchanged(path, texts, named, options, kept, step)

        return _run(train, "exchange_positions", text, folder, on_step, progress)
    with files_for("") as files, as_call(extrapolation="exchange_positions"):
        paths = files.texts(text, "exchange_positions.text")
        result = _core.exchange_positions(
            folder_of(model, "exchange_positions.model"), paths, named, test_lengths, stride, scored, threads
        )
    rows = [ExtrapolationRow(**row) for row in result.pop("rows")]
    means = [ExtrapolationMean(**mean) for mean in result.pop("means")]
    return ExtrapolationTable(rows=rows, means=means, **result)


def run(
    text: Source | Sequence[Source],
    schemes: Sequence[Any] | None,
    options: dict[str, Any],
    folder: str | os.PathLike[str] | None,
    on_step: OnScore | None,
    progress: bool | None,
) -> ExtrapolationTable:
    named = None
    if schemes is not None:
        if isinstance(schemes, (str, dict)):
            raise ArgumentTypeError(f"[extrapolate.schemes] must be a list, got {type(schemes).__name__}")
        named = [positions_of(each, "extrapolate.schemes") for each in schemes]
        if not named:
            raise ArgumentError("[extrapolate.schemes] must be one or more, got none")

    def train(texts: list[str], kept: str, step: OnScore) -> dict[str, Any]:
        return _core.extrapolate(texts, named, options, kept, step)

    return _run(train, "extrapolate", text, folder, on_step, progress)


def _run(
    train: Callable[[list[str], str, OnScore], dict[str, Any]],
    call: str,
    text: Source | Sequence[Source],
    folder: str | os.PathLike[str] | None,
    on_step: OnScore | None,
    progress: bool | None,
) -> ExtrapolationTable:
    path = folder_of(folder, f"{call}.folder")
    bar = Progress(progress, 0, 0, call)

    def step(label: str, doing: str, length: int, metrics: _core.StepMetrics | None) -> Any:
        what = f"{label}: {doing}" + (f" at {length}" if length else "")
        if metrics is not None:
            bar.step(metrics, what)
        else:
            bar.say(what)
        return on_step(label, doing, length, metrics) if on_step is not None else None

    # Absolute: on_step may change the working directory.
    with files_for(path) as files, contextlib.nullcontext(os.path.abspath(path)) if path else temporary_folder() as kept:
        try:
            result = train(files.texts(text, f"{call}.text"), kept, step)
        finally:
            bar.close()
    error = result.pop("error")
    rows = [ExtrapolationRow(**row) for row in result.pop("rows")]
    means = [ExtrapolationMean(**mean) for mean in result.pop("means")]
    table = ExtrapolationTable(rows=rows, means=means, **result)
    if error is None:
        return table
    error.table = table
    raise error
