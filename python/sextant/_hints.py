"""Errors for keywords that a function does not have, with the one that the caller may mean."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from ._errors import ArgumentTypeError

ALIGNMENTS = (
    "use causal=True where q_len equals k_len, otherwise causal='top_left' (torch's and JAX's is_causal) or 'bottom_right' (flash-attention's"
    " and MLX's)"
)
LOG_SUM_EXP = "use return_log_sum_exp=True, which returns (out, log_sum_exp)"
# What torch, flex_attention, flash-attention, JAX, MLX, xformers and ONNX Runtime call an option, and what it is here. docs/python.md
# has the whole table.
HINTS = {
    "is_causal": ALIGNMENTS,
    "unidirectional": ALIGNMENTS,
    "return_lse": LOG_SUM_EXP,
    "return_softmax_lse": LOG_SUM_EXP,
    "return_attn_probs": "use attention_weights() for the weights, return_log_sum_exp=True for the log-sum-exp",
    "need_weights": "use attention_weights() for the weights",
    "attn_mask": "use mask=",
    "attn_bias": "use mask= for an array [..., heads, q_len, k_len], bias= for one by distance",
    "key_padding_mask": "use key_lengths= for padding at the end, mask= for any other",
    "score_mod": "use bias=sextant.bias(function, length=...)",
    "mask_mod": "use bias=sextant.mask(function, length=...)",
    "block_mask": "use bias=sextant.mask(function, length=...)",
    "dropout_p": "use dropout= and dropout_seed=",
    "p": "use dropout= and dropout_seed=",
    "sm_scale": "use scale=",
    "softmax_scale": "use scale=",
    "query_scale": "use scale=",
    "logits_soft_cap": "use softcap=",
    "attn_logits_soft_cap": "use softcap=",
    "window_size": "use window=(left, right)",
    "sliding_window": "use window=(left, right): (n - 1, 0) for n tokens",
    "local_window_size": "use window=(left, right)",
    "alibi_slopes": "use slopes=, positive numbers: -slope * |distance| is added",
    "cu_seqlens": "use segments=",
    "cu_seqlens_q": "use segments=",
    "cu_seqlens_k": "use key_segments=",
    "cache_seqlens": "use key_lengths= and causal='at_lengths'",
    "seqused_k": "use key_lengths=",
    "key_value_seq_lengths": "use key_lengths=",
    "query_seq_lengths": "leave it out: rows of padding do not change other rows",
    "s_aux": "use sinks=",
    "learnable_sink": "use sinks=",
    "enable_gqa": "leave it out: q may have a multiple of the heads of k and v",
    "num_heads": "leave it out: heads are an axis of q, k and v",
    "position_ids": "use positions=",
    "output": "use out=",
    "lse": "use log_sum_exp=",
}


def refuse(function: str, unknown: dict[str, Any]) -> NoReturn:
    """TypeError for the first of these keywords."""
    name = next(iter(unknown))
    hint = HINTS.get(name)
    if hint is None:
        import difflib
        import inspect

        caller = sys._getframe(1)
        known = inspect.getargs(caller.f_code).args
        near = difflib.get_close_matches(name, known, 1)
        hint = f"use {near[0]}=" if near else None
    raise ArgumentTypeError(f"{function}() got an unexpected keyword argument '{name}'" + (f"; {hint}" if hint else ""))
