"""RotaryEmbedding: cosines and sines as the modules of Hugging Face's models give them, of every rope type."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ... import _core
from ..._errors import ArgumentError
from ..._interop import from_config
from ..._registry import find_scheme, scheme_named
from .._operator import is_seen
from .._tensors import in_memory, refuse_tracing
from ._layer import PositionalLayer
from ._operators import seen_table
from ._tables import check_float, checked_positions, for_channels, rotation, waves

KEPT_ROWS = 1 << 16


class RotaryEmbedding(PositionalLayer):
    """A rotation that takes the place of a Hugging Face model's `rotary_emb`.

    Calling it with x and position_ids gives (cos, sin), each [batch, length, channels] of x's dtype, as LlamaRotaryEmbedding's:
    both channels of a pair have the pair's number. The angles are exact, whatever dtype the model has, and depend on the
    call's positions alone: of dynamic and longrope on the largest of this call, not of those before.

    Nothing of it is in the state_dict. `inv_freq` (radians per position) and `attention_scaling` are those of one position.

    Args:
        head_dim: channels of a head
        scheme: "rotary", "rotary_yarn", ...: a rotation without weights that treats queries and keys alike
        dtype: of inv_freq, and of what PositionalLayer's methods give
        parameters: of the scheme: base, layout, rotary_dim, factor, ...
    """

    inv_freq: torch.Tensor

    def __init__(self, head_dim: int, scheme: str = "rotary", *, dtype: torch.dtype | None = None, **parameters: Any):
        found = scheme_named(scheme, "RotaryEmbedding.scheme")
        if found.kind != "rotated" or found.weights:
            raise ArgumentError(f"[RotaryEmbedding.scheme] must be a rotation without weights, got {scheme}")
        super().__init__(scheme, head_dim=head_dim, dtype=dtype, **parameters)
        keys = self.rotation_of([0, 1000], torch.float64).keys
        first, later = np.hypot(keys.cos, keys.sin)
        if not np.allclose(first, later, rtol=1e-12):
            raise ArgumentError(f"[RotaryEmbedding.scheme] must turn keys and not scale them, got {scheme}: use PositionalLayer.rotate()")
        self.has_classes = _core.length_class(scheme, self.recipe.sizes, self.recipe.parameters, 1) is not None
        self.kept: tuple[torch.Tensor, torch.Tensor] | None = None
        inv_freq, self.attention_scaling = _core.frequencies(scheme, 1, self.recipe.sizes, self.recipe.parameters)
        self.register_buffer("inv_freq", torch.from_numpy(np.array(inv_freq)).to(self.like.dtype), persistent=False)

    @classmethod
    def from_config(cls, config: Any, *, layer: int = 0, dtype: torch.dtype | None = None) -> RotaryEmbedding:
        """That of a layer of a model.

        Args:
            config: a transformers config, a dict of its values, or the path of a config.json
            layer: which layer of attention; a model's layers may have other bases
            dtype: as above

        Raises:
            ValueError: a model without rotary positions, or a config that sextant.from_config() refuses
        """
        positions = from_config(config.to_dict() if hasattr(config, "to_dict") else config, layer=layer)
        if find_scheme(positions.scheme).kind != "rotated":
            model = f"{positions.model_type} with {positions.scheme}"
            raise ArgumentError(f"[RotaryEmbedding.config] must be of a model with rotary positions, got {model}")
        return cls(positions.head_dim, positions.scheme, dtype=dtype, **positions.parameters)

    def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        """Cosines and sines of position_ids [length], [batch, length], or [axes, batch, length] with sections."""
        if is_seen(x, position_ids):
            return self.forward_seen(x, position_ids)
        refuse_tracing("RotaryEmbedding")
        x = in_memory("RotaryEmbedding.x", x)
        check_float("RotaryEmbedding.x", x.dtype)
        ids = checked_positions("RotaryEmbedding.position_ids", position_ids)
        if not isinstance(ids, torch.Tensor) or ids.ndim > 3:
            raise ArgumentError("[RotaryEmbedding.position_ids] must be a tensor [length], [batch, length] or [axes, batch, length]")
        if ids.ndim == 3:
            ids = ids.movedim(0, -1)
        batch, texts = ids.shape[0] if ids.ndim > 1 else 1, 1
        if ids.ndim > 1:
            texts = 1 if (ids == ids[:1]).all() else batch
            ids = ids[0] if texts == 1 else ids.flatten(0, 1)
        cos, sin = self.kept_rows(ids, x.dtype) or self.rows(as_length(ids), x.dtype)
        shape = (batch, position_ids.shape[-1], -1)
        sizes = (texts, position_ids.shape[-1])
        return cos.unflatten(0, sizes).expand(shape), sin.unflatten(0, sizes).expand(shape)

    def forward_seen(self, x: torch.Tensor, position_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """forward() by torch's operators."""
        ids = position_ids[None] if position_ids.ndim == 1 else position_ids.movedim(0, -1) if position_ids.ndim == 3 else position_ids
        made = seen_table(self.recipe_text, ids.flatten(0, 1), x.dtype, keys=True)
        cos, sin = (for_channels(each, self.form.layout).unflatten(0, ids.shape[:2]) for each in made)
        return cos, sin

    def rows(self, positions: Any, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        made = rotation(self.recipe, positions, dtype).keys  # queries may have a temperature, which models apply themselves
        cos, sin = waves(made, dtype)
        return for_channels(cos, made.layout), for_channels(sin, made.layout)

    def kept_rows(self, ids: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Rows of a table that is kept for the next token, where ids are ordinary and rows do not depend on the length."""
        low, high = (int(x) for x in ids.aminmax()) if ids.ndim == 1 and len(ids) else (-1, 0)
        if self.has_classes or low < 0 or high >= KEPT_ROWS:
            return None
        kept = self.kept
        if kept is None or len(kept[0]) <= high or kept[0].dtype != dtype:
            kept = self.kept = self.rows(1 << high.bit_length(), dtype)
        return kept[0][ids], kept[1][ids]


def as_length(ids: torch.Tensor) -> Any:
    """Ids 0, 1, 2, ... as their number: such tables are faster to make."""
    is_range = ids.ndim == 1 and torch.equal(ids, torch.arange(len(ids), dtype=ids.dtype))
    return len(ids) if is_range else ids
