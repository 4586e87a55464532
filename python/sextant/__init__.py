"""Positional encodings and attention for transformers, on the CPU: exact tables, one operator for every scheme.

Every scheme is a function of this module with the parameters, defaults and ranges of the C++ library and the command line:
``sextant.schemes()`` lists them, ``help(sextant.rotary_yarn)`` explains one. Arrays of NumPy, torch, jax and MLX go in and
come out without a copy.
"""

from __future__ import annotations

from . import _interpreter  # first: it refuses sub-interpreters
from . import _schemes, plot, train
from ._core import (
    AttentionPlan,
    ContentTerm,
    DistanceBias,
    Identification,
    IndexedBias,
    Picture,
    RotationTable,
    Tokenizer,
    can_save_png,
    version as __version__,
)
from ._schemes import *
from ._interop import LayerPositions, convert_rotary, from_config, identify
from ._kv_cache import KvCache
from ._attention import (
    AttentionGradients,
    WeightStatistics,
    attention,
    attention_backward,
    attention_statistics,
    attention_weights,
    plan,
)
from ._calls import extrapolate
from ._models import LanguageModel, MaskedModel, Model, Translator, load, shipped
from ._registry import Parameter, Scheme, Weight, find_scheme, schemes
from ._sentences import OrderVerdict, Page, SentenceAttention, attend, compare, report
from ._tables import add_positions, rotate

__all__ = [
    "AttentionGradients",
    "AttentionPlan",
    "ContentTerm",
    "DistanceBias",
    "Identification",
    "IndexedBias",
    "KvCache",
    "LanguageModel",
    "LayerPositions",
    "MaskedModel",
    "Model",
    "OrderVerdict",
    "Page",
    "Parameter",
    "Picture",
    "RotationTable",
    "Scheme",
    "SentenceAttention",
    "Tokenizer",
    "Translator",
    "Weight",
    "WeightStatistics",
    "__version__",
    "add_positions",
    "attend",
    "attention",
    "attention_backward",
    "attention_statistics",
    "attention_weights",
    "can_save_png",
    "compare",
    "convert_rotary",
    "extrapolate",
    "find_scheme",
    "from_config",
    "identify",
    "load",
    "plan",
    "plot",
    "report",
    "rotate",
    "schemes",
    "shipped",
    "train",
    *_schemes.__all__,
]
