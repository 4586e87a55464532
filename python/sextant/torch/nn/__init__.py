"""Positions as modules of torch: every scheme of the registry, and those of Hugging Face's models with their state_dict names."""

from __future__ import annotations

from ._embeddings import LearnedPositionalEmbedding, SinusoidalPositionalEmbedding, positions_of_mask
from ._layer import PositionalLayer
from ._relative import ALiBi, T5RelativeBias
from ._rotary import RotaryEmbedding

__all__ = [
    "ALiBi",
    "LearnedPositionalEmbedding",
    "PositionalLayer",
    "RotaryEmbedding",
    "SinusoidalPositionalEmbedding",
    "T5RelativeBias",
    "positions_of_mask",
]
