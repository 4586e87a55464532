"""Trainings: what lm(), mlm(), translate(), dates() and resume() do with their arguments."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Mapping

from .. import _core
from .._errors import ArgumentTypeError
from .._progress import Progress
from .._sources import files_for, folder_of, layer_schemes_of, positions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .model import Model

OnStep = Callable[[int, float, _core.StepMetrics], Any]


@dataclass(frozen=True)
class Training:
    """What a training came to. Losses are per token, in nats; arrays have a number per step, or per validation."""

    folder: str | None
    end: str  # "steps", "minutes", "patience" or "stopped"
    steps: int  # made in all
    seconds: float  # spent in all
    tokens: int  # targets seen in all
    best_loss: float | None  # the lowest of the held-out data
    best_step: int
    parameters: int  # numbers that are learned
    learned: int  # tokens or pairs to learn from
    held_out: int
    steps_per_epoch: int
    step: NDArray[Any]
    loss: NDArray[Any]
    mean_loss: NDArray[Any]  # moving average: 0.98 of the old, 0.02 of the new
    gradient_norm: NDArray[Any]  # before clipping
    learning_rate: NDArray[Any]
    validation_step: NDArray[Any]
    validation_loss: NDArray[Any]
    validation_accuracy: NDArray[Any]


STEP_ROWS = ("step", "loss", "mean_loss", "gradient_norm", "learning_rate")
VALIDATION_ROWS = ("step", "validation_loss", "validation_accuracy")


def arrays_of(rows: list[Mapping[str, Any]]) -> dict[str, Any]:
    import numpy as np

    validations = [row for row in rows if row.get("validation_loss") is not None]
    arrays = {name: np.array([row[name] for row in rows], np.int64 if name == "step" else np.float64) for name in STEP_ROWS}
    for name in VALIDATION_ROWS:
        kind = np.int64 if name == "step" else np.float64
        arrays["validation_step" if name == "step" else name] = np.array([row[name] for row in validations], kind)
    return arrays


def rows_in(folder: str) -> list[Mapping[str, Any]]:
    """The metrics of all steps of a run, those of earlier sittings too."""
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def row_of(metrics: _core.StepMetrics) -> dict[str, Any]:
    return {name: getattr(metrics, name) for name in (*STEP_ROWS, *VALIDATION_ROWS)}


def carry_out(
    start: Callable[[Callable[[_core.StepMetrics], Any]], dict[str, Any]],
    folder: str,
    on_step: OnStep | None,
    progress: Progress,
    call: str,
) -> Model:
    from .load import load, model_of

    if on_step is not None and not callable(on_step):
        raise ArgumentTypeError(f"[{call}.on_step] must be callable, got {type(on_step).__name__}")
    rows: list[Mapping[str, Any]] = []

    def step(metrics: _core.StepMetrics) -> Any:
        if not folder:
            rows.append(row_of(metrics))
        progress.step(metrics)
        return on_step(metrics.step, metrics.loss, metrics) if on_step is not None else None

    try:
        result = start(step)
    finally:
        progress.close()
    error, core = result.pop("error"), result.pop("model")
    result.pop("unit")
    folder, lost = result.pop("folder"), result.pop("lost_best_step")
    if lost is not None:
        warnings.warn(f"the best checkpoint, of step {lost}, was gone: the best is that of the steps since the run was resumed", stacklevel=4)
    model = load(folder) if folder else model_of(core)
    curves = arrays_of(rows_in(folder) if folder else rows)
    model.training = Training(folder=folder or None, **result, **curves)
    if error is None:
        return model
    error.model = model
    if hasattr(error, "add_note"):
        saved = f"is saved in {folder}: sextant.train.resume({folder!r}) continues" if folder else "is the attribute `model` of this exception"
        error.add_note(f"The training stopped at step {model.training.steps}; the model so far {saved}")
    raise error


def train(
    kind: str,
    data: Mapping[str, Any],
    from_model: str | os.PathLike[str] | None,
    scheme: Any,
    options: dict[str, Any],
    folder: str | os.PathLike[str] | None,
    on_step: OnStep | None,
    progress: bool | None,
) -> Model:
    path = folder_of(folder, "train.folder")
    named = positions_of(scheme, "train.scheme")
    layers = layer_schemes_of(data.get("layer_schemes", ()), "train.layer_schemes")
    decoder = data.get("decoder_scheme")
    of_decoder = [] if decoder is None else positions_of(decoder, "train.decoder_scheme")
    with files_for(path) as files:
        sources: dict[str, list[str]] = {"files": [], "valid": [], "from": [], "tokenizer_from": [], "augment": []}
        if "text" in data:
            sources["files"] = files.texts(data["text"], "train.text")
        if "pairs" in data:
            sources["files"] = [files.pairs(data["pairs"], "train.pairs")]
        if data.get("valid") is not None:
            sources["valid"] = [files.pairs(data["valid"], "train.valid")]
        if from_model is not None:
            sources["from"] = [folder_of(from_model, "train.from_model")]
        if data.get("tokenizer_from") is not None:
            sources["tokenizer_from"] = [folder_of(data["tokenizer_from"], "train.tokenizer_from")]
        augment = data.get("augment", ())
        sources["augment"] = [augment] if isinstance(augment, str) else list(augment)
        bar = Progress(progress, options["steps"], options["minutes"], kind)
        return carry_out(lambda step: _core.train(kind, sources, named, layers, of_decoder, options, path, step), path, on_step, bar, "train")


def resume(
    folder: str | os.PathLike[str],
    data: Mapping[str, Any],
    options: dict[str, Any],
    on_step: OnStep | None,
    progress: bool | None,
) -> Model:
    path = folder_of(folder, "resume.folder")
    sources: dict[str, list[str]] = {"texts": [], "pairs": [], "valid": []}
    with files_for(path) as files:
        if data["text"] is not None:
            sources["texts"] = files.texts(data["text"], "resume.text")
        for name in ("pairs", "valid"):
            if data[name] is not None:
                sources[name] = [files.pairs(data[name], f"resume.{name}")]
    bar = Progress(progress, options["steps"] or 0, options["minutes"] or 0, "resumed")
    return carry_out(lambda step: _core.train_on(path, sources, options, step), path, on_step, bar, "resume")
