"""Optimisers: update rules for a model whose gradients the caller has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from .. import _core
from .._calls import _NewAdamW, _NewMuon
from .._errors import ArgumentTypeError
from .._sources import arrays_of, named
from .model import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._types import Array


class Optimiser:
    """An update rule with its state, for the weights of one model.

    ``loss, gradients = model.loss(ids, gradients=True); optimiser.step(gradients, 1e-3)`` makes one step of a training.
    """

    _method = ""
    _core: _core.Optimiser

    def _make(self, model: Model, options: dict[str, Any]) -> None:
        call = type(self).__name__
        if not isinstance(model, Model):
            raise ArgumentTypeError(f"[{call}.model] must be a model of sextant, got {type(model).__name__}")
        with named(adamw=call, muon=call):
            self._core = _core.new_optimiser(model._core, self._method, options)

    def step(self, gradients: Mapping[str, Array], learning_rate: float, *, threads: int = 0) -> float:
        """Changes the weights by one step. No other thread may use the model meanwhile.

        Args:
            gradients: an array for each weight, by its name and of its shape; they keep their numbers
            learning_rate: >= 0
            threads: 0: all cores; the numbers are the same for any

        Returns:
            The norm of all gradients together, before clipping.

        Raises:
            ValueError: an array is missing or of another shape, or the norm is not finite; no weight is then changed
        """
        given = arrays_of(gradients, "step.gradients")
        with named(adamw="step", muon="step"):
            return self._core.step(given, learning_rate, threads)

    @property
    def steps(self) -> int:
        """The number of steps made. It may be set, with `state`, to continue another optimiser."""
        return self._core.steps()

    @steps.setter
    def steps(self, count: int) -> None:
        self._core.set_steps(count)

    @property
    def state(self) -> dict[str, NDArray[Any]]:
        """The state by name, "m.embedding.weight": float32 arrays of the optimiser's own memory, which may be written."""
        return self._core.state()


class AdamW(Optimiser, _NewAdamW):
    """AdamW (Loshchilov and Hutter 2017, 1711.05101)."""

    _method = "adamw"


class Muon(Optimiser, _NewMuon):
    """Muon (Jordan 2024) for the matrices of hidden layers, AdamW for all other weights."""

    _method = "muon"
