"""Errors for keywords that a function does not have, with the one that the caller may mean."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from ._errors import ArgumentTypeError

ALIGNMENTS = "causal=True where q_len is k_len, else 'top_left' (torch's and JAX's is_causal) or 'bottom_right' (flash-attention's and MLX's)"
LOG_SUM_EXP = "return_log_sum_exp=True gives (out, log_sum_exp)"
# What torch, flex_attention, flash-attention, JAX, MLX, xformers and ONNX Runtime call an option, and what it is here. docs/python.md
# has the whole table.
HINTS = {
    "is_causal": ALIGNMENTS,
    "unidirectional": ALIGNMENTS,
    "return_lse": LOG_SUM_EXP,
    "return_softmax_lse": LOG_SUM_EXP,
    "return_attn_probs": "attention_weights() gives the weights, return_log_sum_exp=True the log-sum-exp",
    "need_weights": "attention_weights() gives the weights",
    "attn_mask": "mask=",
    "attn_bias": "mask= for an array [..., heads, q_len, k_len], bias= for one by distance",
    "score_mod": "bias=sextant.bias(function, length=...)",
    "mask_mod": "bias=sextant.mask(function, length=...)",
    "block_mask": "bias=sextant.mask(function, length=...)",
    "dropout_p": "dropout= and dropout_seed=",
    "p": "dropout= and dropout_seed=",
    "sm_scale": "scale=",
    "softmax_scale": "scale=",
    "query_scale": "scale=",
    "logits_soft_cap": "softcap=",
    "attn_logits_soft_cap": "softcap=",
    "window_size": "window=(left, right)",
    "sliding_window": "window=(left, right): (n - 1, 0) for n tokens",
    "local_window_size": "window=(left, right)",
    "alibi_slopes": "slopes=, positive: what is added is -slope * |distance|",
    "cu_seqlens": "segments=",
    "cu_seqlens_q": "segments=",
    "cu_seqlens_k": "key_segments=",
    "cache_seqlens": "key_lengths= and causal='at_lengths'",
    "seqused_k": "key_lengths=",
    "key_value_seq_lengths": "key_lengths=",
    "query_seq_lengths": "queries of padding may be computed: their rows do not change others",
    "s_aux": "sinks=",
    "learnable_sink": "sinks=",
    "enable_gqa": "heads of q that are a multiple of those of k need no option",
    "position_ids": "positions=",
    "output": "out=",
    "lse": "log_sum_exp=",
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
        hint = f"{near[0]}=" if near else None
    raise ArgumentTypeError(f"{function}() got an unexpected keyword argument '{name}'" + (f": here it is {hint}" if hint else ""))
