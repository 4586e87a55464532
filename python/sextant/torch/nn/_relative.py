"""Biases by distance of Hugging Face's models."""

from __future__ import annotations

from typing import Any

import torch

from .._operator import is_seen
from ._layer import PositionalLayer
from ._operators import as_text, seen_table
from ._tables import Recipe, distances


class T5RelativeBias(torch.nn.Module):
    """T5's learned number per head and bucket of distances.

    state_dict: `relative_attention_bias.weight` [num_buckets, heads], as the first layer of T5's stacks. Calling it with a length
    gives [heads, 2 * length - 1], for bias= of attention; T5 does not scale scores: scale=1.

    Args:
        heads: of attention
        num_buckets, max_distance: of config.json: relative_attention_num_buckets, relative_attention_max_distance
        bidirectional: True in encoders, False in decoders
        dtype: of the weight; None: torch's default
    """

    def __init__(
        self, heads: int, *, num_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True, dtype: torch.dtype | None = None
    ):
        super().__init__()
        options = {"num_buckets": num_buckets, "max_distance": max_distance, "bidirectional": bidirectional}
        layer = PositionalLayer("t5", heads=heads, dtype=dtype, **options)
        self.buckets_recipe = Recipe("t5", "distance_bias", {"heads": 1}, options, ("table",))
        self.buckets_text = as_text(self.buckets_recipe)
        self.relative_attention_bias = torch.nn.Embedding.from_pretrained(layer.table.detach(), freeze=False)

    def buckets(self, length: int) -> torch.Tensor:
        """The bucket of each distance key - query, [2 * length - 1]: the bias of a table whose rows are numbered."""
        rows = torch.arange(self.relative_attention_bias.num_embeddings, dtype=torch.float64)
        if is_seen(self.relative_attention_bias.weight):
            return seen_table(self.buckets_text, length, torch.float32, [rows[:, None].to(self.relative_attention_bias.weight.device)])[0][0].long()
        return distances(self.buckets_recipe, length, (rows[:, None],))[0].long()

    def forward(self, length: int) -> torch.Tensor:
        return self.relative_attention_bias(self.buckets(length)).T

    def compute_bias(self, query_length: int, key_length: int, past_seen_tokens: int = 0) -> torch.Tensor:
        """[1, heads, query_length, key_length], as T5Attention.compute_bias(); query 0 is at past_seen_tokens."""
        length = max(query_length + past_seen_tokens, key_length, 1)
        distance = torch.arange(key_length) - torch.arange(past_seen_tokens, past_seen_tokens + query_length)[:, None]
        return self.forward(length)[:, distance + length - 1][None]


class ALiBi(PositionalLayer):
    """Minus a slope per head times the distance. Nothing of it is in the state_dict, as in Bloom and MPT.

    Calling it with a length gives [heads, 2 * length - 1], for bias= of attention; `head_slopes`, for slopes=, say the same.

    Args:
        heads: of attention
        parameters: of sextant.alibi(): direction, max_bias, factor
    """

    def __init__(self, heads: int, **parameters: Any):
        super().__init__("alibi", heads=heads, **parameters)

    @property
    def head_slopes(self) -> torch.Tensor:
        """[heads], of float32."""
        made = seen_table(self.recipe_text, 2, torch.float32, like=self.like)[0] if is_seen(self.like) else distances(self.recipe, 2)
        return -made[:, 0]
