"""Trainings: language models (lm, mlm), translators (translate), small tasks without files (dates, copy, reverse, sort).

AdamW and Muon make single steps, with the gradients of model.loss(). Options, defaults and folders are those of ``sextant train``; the same options and seed give the same bits.
"""

from __future__ import annotations

from . import _core
from ._calls import copy, dates, lm, mlm, resume, reverse, sort, translate
from ._core import StepMetrics
from ._models.optimisers import AdamW, Muon, Optimiser
from ._models.training import Training

__all__ = ["AdamW", "Muon", "Optimiser", "StepMetrics", "Training", "check_dates", "copy", "dates", "lm", "mlm", "resume", "reverse", "sort", "translate"]


def check_dates(seed: int = 0) -> list[tuple[str, str]]:
    """Dates that no training with this seed sees or is validated on: what `sextant train dates` checks its model with."""
    return _core.check_dates(seed)


def __dir__() -> list[str]:
    return sorted(__all__)
