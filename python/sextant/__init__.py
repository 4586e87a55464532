"""Positional encodings and attention for transformers, on the CPU: exact tables, one operator for every scheme.

Every scheme is a function of this module with the parameters, defaults and ranges of the C++ library and the command line:
``sextant.schemes()`` lists them, ``help(sextant.rotary_yarn)`` explains one. Arrays of NumPy, torch, jax and MLX go in without
a copy, and results are arrays of the same library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _interpreter  # first: it refuses sub-interpreters
from . import _schemes
from ._attention import (
    AttentionGradients,
    WeightStatistics,
    attention,
    attention_backward,
    attention_statistics,
    attention_weights,
    plan,
)
from ._core import (
    AttentionPlan,
    DistanceBias,
    Identification,
    Picture,
    RotationTable,
    ScoreTerm,
    Tokenizer,
    can_save_png,
    version as __version__,
)
from ._errors import ArgumentError, ArgumentTypeError, Error, MissingFileError, UnsupportedError
from ._kv_cache import KvCache
from ._schemes import *
from ._tables import add_positions, polar_rows, polar_rows_backward, resize_grid, rotate

if TYPE_CHECKING:
    from . import lessons, plot, positions, train
    from ._calls import extrapolate
    from ._dual_chunk import dual_chunk_attention, dual_chunk_backward
    from ._extrapolate import exchange_positions
    from ._functions import bias, block_mask, mask
    from ._interop import LayerPositions, convert_rotary, from_config, identify
    from ._models.image_model import ImageModel
    from ._models.load import load, load_pretrained, shipped
    from ._models.model import Model
    from ._models.pretrained import PretrainedEncoding, PretrainedTokenizer
    from ._models.text_models import LanguageModel, MaskedModel
    from ._models.translator import Translator
    from ._path_attention import PathGradients, path_attention, path_attention_backward
    from ._registry import Parameter, Scheme, Weight, find_scheme, schemes
    from ._selective_attention import selective_attention, selective_attention_backward
    from ._self_extend import self_extend_attention, self_extend_backward
    from ._stick_breaking import stick_breaking_attention, stick_breaking_backward
    from ._tensor_file import TensorFile

# What models, sentences and the list of schemes need is loaded at its first use: `import sextant` takes half the time.
_LATER = {
    "lessons": (),
    "plot": (),
    "positions": (),
    "train": (),
    "_calls": ("extrapolate",),
    "_dual_chunk": ("dual_chunk_attention", "dual_chunk_backward"),
    "_extrapolate": ("exchange_positions",),
    "_functions": ("bias", "block_mask", "mask"),
    "_interop": ("LayerPositions", "convert_rotary", "from_config", "identify"),
    "_models.image_model": ("ImageModel",),
    "_models.load": ("load", "load_pretrained", "shipped"),
    "_models.model": ("Model",),
    "_models.pretrained": ("PretrainedEncoding", "PretrainedTokenizer"),
    "_models.text_models": ("LanguageModel", "MaskedModel"),
    "_models.translator": ("Translator",),
    "_path_attention": ("PathGradients", "path_attention", "path_attention_backward"),
    "_registry": ("Parameter", "Scheme", "Weight", "find_scheme", "schemes"),
    "_selective_attention": ("selective_attention", "selective_attention_backward"),
    "_self_extend": ("self_extend_attention", "self_extend_backward"),
    "_stick_breaking": ("stick_breaking_attention", "stick_breaking_backward"),
    "_tensor_file": ("TensorFile",),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name == module or name in names:
            loaded = importlib.import_module("." + module, __name__)
            globals().update({known: getattr(loaded, known) for known in names})
            return loaded if name == module else globals()[name]
    if name == "torch":  # on request only, but offered by completion
        try:
            return importlib.import_module(".torch", __name__)
        except ImportError as error:
            raise AttributeError(str(error)) from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "torch"])


__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AttentionGradients",
    "AttentionPlan",
    "DistanceBias",
    "Error",
    "Identification",
    "ImageModel",
    "KvCache",
    "LanguageModel",
    "LayerPositions",
    "MaskedModel",
    "MissingFileError",
    "Model",
    "Parameter",
    "PathGradients",
    "Picture",
    "PretrainedEncoding",
    "PretrainedTokenizer",
    "RotationTable",
    "ScoreTerm",
    "Scheme",
    "TensorFile",
    "Tokenizer",
    "Translator",
    "UnsupportedError",
    "Weight",
    "WeightStatistics",
    "__version__",
    "add_positions",
    "attention",
    "attention_backward",
    "attention_statistics",
    "attention_weights",
    "bias",
    "block_mask",
    "can_save_png",
    "convert_rotary",
    "dual_chunk_attention",
    "dual_chunk_backward",
    "exchange_positions",
    "extrapolate",
    "find_scheme",
    "from_config",
    "identify",
    "lessons",
    "load",
    "load_pretrained",
    "mask",
    "path_attention",
    "path_attention_backward",
    "plan",
    "plot",
    "polar_rows",
    "polar_rows_backward",
    "positions",
    "resize_grid",
    "rotate",
    "schemes",
    "selective_attention",
    "selective_attention_backward",
    "self_extend_attention",
    "self_extend_backward",
    "shipped",
    "stick_breaking_attention",
    "stick_breaking_backward",
    "train",
    *_schemes.__all__,
]
