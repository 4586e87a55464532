"""Sextant for PyTorch, on the CPU: attention with gradients.

Imported only on request: ``import sextant.torch``.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("sextant.torch needs PyTorch (pip install torch)") from error

from ._attention import scaled_dot_product_attention

__all__ = ["scaled_dot_product_attention"]
