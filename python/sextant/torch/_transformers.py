"""The attention "sextant" of Hugging Face's models: registered with transformers when this file is imported."""

from __future__ import annotations

from typing import Any, TypeVar

import torch

from ._attention import scaled_dot_product_attention

NAME = "sextant"
# Arguments of a few models that change which keys are seen, in ways of their own.
UNKNOWN = ("cache", "indices", "block_indices", "sinks")

Model = TypeVar("Model")

try:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask
except ImportError:
    AttentionInterface = None


def attention_forward(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """What models call: query [batch, heads, q_len, head_dim], key and value [batch, kv_heads, k_len, ...] -> [batch, q_len, heads,
    v_dim], and no weights. The mask is sdpa_mask()'s: bool, or None where a causal mask or none at all says the same."""
    for name in UNKNOWN:
        if others.get(name) is not None:
            raise ValueError(f"[sextant.{name}] is an argument of {type(module).__name__} that this attention does not know")
    if dropout:
        raise ValueError(
            f"[sextant.dropout] must be 0: weights are not dropped, got {dropout}; the model's config has it (attention_dropout, "
            "attn_pdrop, dropout_rate)"
        )
    options: dict[str, Any] = {"softcap": softcap, "sinks": s_aux}
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    if attention_mask is None and is_causal and query.shape[2] > 1:
        options["causal"] = "top_left"  # a cache of a fixed size has keys behind the last query: not written yet
        if sliding_window is not None:
            options["window"] = (sliding_window - 1, 0)
    if position_bias is not None:
        attention_mask = with_bias(position_bias, attention_mask)
    out = scaled_dot_product_attention(query, key, value, attention_mask, scale=scaling, enable_gqa=True, **options)
    return out.transpose(1, 2).contiguous(), None


def with_bias(bias: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """One float mask of a bias and a mask of bool or of numbers to add."""
    if mask is None:
        return bias
    return torch.where(mask, bias, -torch.inf) if mask.dtype == torch.bool else bias + mask


def patch(model: Model) -> Model:
    """Replaces the attention of a Hugging Face model by the operator's; model.set_attn_implementation(...) puts it back.

    Args:
        model: a transformers.PreTrainedModel whose attention goes through transformers' AttentionInterface

    Returns:
        The model.

    Raises:
        TypeError: what is no such model
        ValueError: a model, or a part of one, whose attention cannot be replaced; nothing has changed then
        ImportError: transformers is not installed, or too old
    """
    if AttentionInterface is None:
        raise ImportError("sextant.torch.patch() needs transformers 5 (pip install transformers)")
    from transformers import PreTrainedModel

    if not isinstance(model, PreTrainedModel):
        raise TypeError(f"[patch.model] must be a model of transformers, got {type(model).__name__}")
    parts = [part for part in model.modules() if isinstance(part, PreTrainedModel)]
    before = [part.config._attn_implementation for part in parts]
    model.set_attn_implementation(NAME)
    left = sorted({type(part).__name__ for part in parts if part.config._attn_implementation != NAME})
    if left:
        for part, implementation in zip(parts, before):
            part.config._attn_implementation = implementation
        raise ValueError(f"[patch.model] must go through transformers' AttentionInterface, which {', '.join(left)} does not")
    return model


if AttentionInterface is not None:
    AttentionInterface.register(NAME, attention_forward)
    AttentionMaskInterface.register(NAME, sdpa_mask)
