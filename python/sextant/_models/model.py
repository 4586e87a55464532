"""What all models have: a config, a tokenizer, weights."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, TypeVar, cast

from .. import _core
from .._errors import ArgumentError, ArgumentTypeError
from .._results import LensLayer, LogitLens
from .._sources import arrays_of, folder_of, layer_schemes_of, named, positions_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._core import Tokenizer
    from .._types import Array
    from .training import Training

M = TypeVar("M", bound="Model")


class Model:
    """What all models have. The classes of models make new ones, sextant.load() and sextant.train trained ones."""

    training: Training | None = None  # of models that were trained in this process
    _kind = ""  # in config.json
    _core: Any

    @classmethod
    def _of(cls: type[M], core: Any) -> M:
        model = cls.__new__(cls)
        model._core = core
        return model

    def _make(
        self, schemes: dict[str, Any], options: dict[str, Any], tokenizer: Tokenizer | None, weights: Mapping[str, Array] | None
    ) -> None:
        call = type(self).__name__
        decoder = schemes["decoder_scheme"]
        lists = {
            "scheme": positions_of(schemes["scheme"], f"{call}.scheme"),
            "layer_schemes": layer_schemes_of(schemes["layer_schemes"], f"{call}.layer_schemes"),
            "decoder_scheme": [] if decoder is None else positions_of(decoder, f"{call}.decoder_scheme"),
        }
        given = None if weights is None else arrays_of(weights, f"{call}.weights")
        with named(transformer=call):
            self._core = _core.new_model(self._kind, lists, options, tokenizer, given, call)

    @classmethod
    def from_config(
        cls: type[M], config: Mapping[str, Any], *, tokenizer: Tokenizer | None = None, weights: Mapping[str, Array] | None = None
    ) -> M:
        """Makes a model of a config as Model.config and config.json have it.

        Args:
            config: a dict; kind, vocabulary, width, heads, layers, schemes and length must be there, other fields have defaults
            tokenizer: what makes ids of text; a translator must have one
            weights: all weights by name; None: initial weights, drawn from the config's seed

        Raises:
            ValueError: a field is unknown or out of its range, the kind is another one, or the weights do not fit
        """
        from .._interop import json_of
        from .load import model_of

        if not isinstance(config, Mapping):
            raise ArgumentTypeError(f"[from_config.config] must be a dict, got {type(config).__name__}")
        kind = config.get("kind")
        if cls._kind and kind != cls._kind:
            raise ArgumentError(f"[from_config.config] must be of kind {cls._kind} for {cls.__name__}, got {kind}")
        given = None if weights is None else arrays_of(weights, "from_config.weights")
        with named(transformer="from_config"):
            return cast(M, model_of(_core.model_of_config(json_of(config), tokenizer, given)))

    @property
    def config(self) -> dict[str, Any]:
        """What config.json says: kind, width, heads, layers, positions, ..."""
        return json.loads(self._core.config)  # type: ignore[no-any-return]

    @property
    def tokenizer(self) -> _core.Tokenizer:
        """What makes tokens of text, and text of tokens."""
        return self._core.tokenizer

    @property
    def weights(self) -> dict[str, NDArray[Any]]:
        """The weights by name: float32 arrays of the model's own memory, which may be written. No other thread may use the model meanwhile."""
        return self._core.weights()  # type: ignore[no-any-return]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes config.json, tokenizer.json and model.safetensors into a folder, which the command line and load() open."""
        self._core.save(folder_of(folder, "save.folder"))

    def __repr__(self) -> str:
        config = self.config
        sizes = ", ".join(f"{name}={config[name]}" for name in ("vocabulary", "width", "heads", "layers"))
        return f"{type(self).__name__}({sizes}, schemes={[each['scheme'] for each in config['schemes']]})"


def lens_of(found: dict[str, Any]) -> LogitLens:
    return LogitLens(**{**found, "layers": [LensLayer(**one) for one in found["layers"]]})
