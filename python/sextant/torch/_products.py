"""How many multiplications and additions a call takes, for torch.utils.flop_counter: as torch counts its own attention."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.flop_counter import register_flop_formula


@register_flop_formula(torch.ops.sextant.attention)
def forward_flops(query: Any, key: Any, value: Any, *options: Any, out_shape: Any = None, **others: Any) -> int:
    batch, heads, length, head_dim = query
    return int(2 * batch * heads * length * key[2] * (head_dim + value[3]))


@register_flop_formula(torch.ops.sextant.attention_backward)
def backward_flops(dout: Any, query: Any, key: Any, value: Any, *others: Any, out_shape: Any = None, **more: Any) -> int:
    """Scores again, dout v, dq and dk of head_dim, dv of v_dim."""
    batch, heads, length, head_dim = query
    return int(2 * batch * heads * length * key[2] * (3 * head_dim + 2 * value[3]))
