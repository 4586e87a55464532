"""Sextant for PyTorch, on the CPU: attention with gradients, positions as modules, attention of Hugging Face's models.

Imported only on request: ``import sextant.torch``. When something imports transformers, the attention "sextant" is registered
there, for ``attn_implementation="sextant"`` and ``model.set_attn_implementation("sextant")``.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("sextant.torch needs PyTorch (pip install torch)") from error

from . import _batches, _products, nn  # noqa: F401  # rules of the operator
from ._attention import scaled_dot_product_attention
from ._flex import flex_attention
from ._record import AttentionRecord, record
from ._transformers import patch

__all__ = ["AttentionRecord", "flex_attention", "nn", "patch", "record", "scaled_dot_product_attention"]
