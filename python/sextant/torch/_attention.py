"""scaled_dot_product_attention(): torch's signature and meaning, with the operator's options by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .._errors import ArgumentError, ArgumentTypeError, Error
from .._hints import refuse
from . import _operator
from ._function import attention
from ._tensors import has_own_meaning, in_memory
from ._words import NAME, renamed

if TYPE_CHECKING:
    from typing import NoReturn

    from .._core import RotationTable
    from .._types import Array, Bias, Causal, Integers, Numbers

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def scaled_dot_product_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    # The operator's options, by generate.py:
    causal: Causal | None = None,
    window: tuple[int, int] | None = None,
    bias: Bias | None = None,
    slopes: Numbers | None = None,
    softcap: float = 0.0,
    segments: Integers | None = None,
    key_segments: Integers | None = None,
    key_lengths: Integers | None = None,
    query_offsets: Integers | None = None,
    positions: Array | tuple[Array, Array] | None = None,
    sinks: Numbers | None = None,
    rotation: RotationTable | None = None,
    threads: int = 0,
    **unknown: NoReturn,
) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention on the CPU, with every option of sextant.attention() by name.

    First derivatives of query, key, value, and of attn_mask, bias, slopes and sinks where these are tensors that require them.
    Leading axes broadcast as in torch. A row that sees no key is zeros, and so are its gradients.

    Args:
        query: [..., heads, q_len, head_dim] of float32, bfloat16, float16 or float64, any strides
        key: [..., heads, k_len, head_dim] of the same dtype
        value: [..., heads, k_len, v_dim] of the same dtype
        attn_mask: bool (True takes part) or float (added), broadcast to [..., heads, q_len, k_len], or a
            torch.nn.attention.bias.CausalBias
        dropout_p: probability that a weight is 0, 0 .. 1; the others are divided by 1 - dropout_p. Which
            weights are dropped is a function of a seed from torch's generator (torch.manual_seed) and of the indices of
            sequence, head, query and key, and not that of torch's function
        is_causal: key j is seen by query i where j <= i; causal= by name has the other alignments
        scale: of the scores; None: 1 / sqrt(head_dim)
        enable_gqa: key and value may have fewer heads, which divide those of query

    Options, which may all be combined:
        causal: visible keys of a query: None, False or "none" (all), "top_left" (key j <= i), "bottom_right" (the last
            query sees every key), "at_offsets" (by query_offsets), "at_lengths" (by key_lengths); True if q_len equals
            k_len, where they agree
        window: (left, right): number of visible keys before and after the diagonal; -1: all
        bias: by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or the object returned by a
            scheme: DistanceBias, ScoreTerm, or a list of them, at most one by distance and one before the softcap; made
            for the heads of q and for all tokens
        slopes: [heads]: adds -slope * |distance|
        softcap: score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off
        segments: packed sequences: the start of each, then the length (cu_seqlens)
        key_segments: the same for keys
        key_lengths: [batch]: keys from this index on are padding
        query_offsets: [batch]: the key on the diagonal of each sequence's query 0
        positions: ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two
        sinks: [heads]: attention sinks, an additional logit per head in the softmax, without a value
        rotation: a RotationTable of float32 that rotates queries and keys inside the call
        threads: number of threads; 0: all cores; results do not depend on it

    Returns:
        A tensor [..., heads, q_len, v_dim] of query's dtype.

    Raises:
        ValueError: shapes or values that do not fit, tensors that are not on the CPU; the message names the argument
        TypeError: an argument of another type or dtype, or a tensor that is nested, sparse, fake or of a class that changes the meaning of its values
        NotImplementedError: a second derivative; a bias with weights inside torch.compile, torch.export or torch.func; a table inside torch.jit.trace
    """
    if unknown:
        refuse(NAME, unknown)
    options = dict(  # by generate.py
        causal=causal, window=window, bias=bias, slopes=slopes, softcap=softcap, segments=segments,
        key_segments=key_segments, key_lengths=key_lengths, query_offsets=query_offsets, positions=positions,
        sinks=sinks, rotation=rotation, threads=threads,
    )
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if dropout_p not in (0, 1):
        given["dropout"] = dropout_p
    if is_causal:
        if given.get("causal") is not None:
            raise ArgumentError(f"[{NAME}.causal] must not be given together with is_causal")
        given["causal"] = "top_left"
    out = computed(query, key, value, attn_mask, scale, enable_gqa, given)[0]
    return out * 0 if dropout_p == 1 else out


def computed(
    query: Any, key: Any, value: Any, attn_mask: Any, scale: float | None, enable_gqa: bool, given: dict[str, Any], sums_too: bool = False
) -> tuple[Any, Any]:
    """The output of scaled_dot_product_attention() with these options; where `sums_too` asks for it, the log-sum-exp of each row,
    [..., heads, q_len] of float32, -inf where a row sees no key."""
    seen = torch.jit.is_tracing() or _operator.is_seen(query, key, value)
    if "dropout" in given:
        seed = torch.randint(2**63 - 1, ())
        given["dropout_seed"] = seed if seen else int(seed)
    query, key, value = (readable(name, tensor, seen) for name, tensor in (("query", query), ("key", key), ("value", value)))
    attn_mask = without_causal_bias(attn_mask, query, key, given, seen)
    query, key, value, attn_mask = in_autocast(query, key, value, attn_mask)
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        check(name, tensor, query.dtype)
    if attn_mask is not None:
        check_mask(attn_mask, query.dtype)
    if query.shape[-1] == key.shape[-1] == 0:  # scores of 0, as one channel of zeros gives them
        query, key, scale = torch.nn.functional.pad(query, (0, 1)), torch.nn.functional.pad(key, (0, 1)), 1.0
    given.update(mask=attn_mask, scale=scale)
    if query.ndim == key.ndim == value.ndim == 4 and query.shape[0] == key.shape[0] == value.shape[0]:
        heads = {key.shape[1], value.shape[1]}
        if heads == {query.shape[1]} or (enable_gqa and len(heads) == 1):
            return attend(query, key, value, given, seen, sums_too)
    lead = leading_axes(query, key, value, enable_gqa)
    query, key, value = in_four_axes(query, key, value, lead, enable_gqa, given)
    out, sums = attend(query, key, value, given, seen, sums_too)
    return out.reshape(*lead, *out.shape[2:]), sums.reshape(*lead, out.shape[2]) if sums_too else None


def attend(query: Any, key: Any, value: Any, options: dict[str, Any], seen: bool, sums_too: bool) -> tuple[Any, Any]:
    """attention(), whose errors then have torch's names."""
    if seen:
        return _operator.attention(query, key, value, options)
    try:
        return attention(query, key, value, options, sums_too)
    except Error as error:
        raise renamed(error) from None


def readable(name: str, tensor: Any, seen: bool) -> torch.Tensor:
    if not isinstance(tensor, torch.Tensor):
        raise ArgumentTypeError(f"[{NAME}.{name}] must be a tensor, got {type(tensor).__name__}")
    return tensor if seen else in_memory(f"{NAME}.{name}", tensor)


def without_causal_bias(mask: Any, query: torch.Tensor, key: torch.Tensor, options: dict[str, Any], seen: bool) -> torch.Tensor | None:
    """The mask as a tensor that can be read. A CausalBias, which has no numbers, becomes the option causal."""
    if mask is None:
        return None
    if isinstance(mask, torch.Tensor) and has_own_meaning(mask):
        from torch.nn.attention.bias import CausalBias, CausalVariant

        if isinstance(mask, CausalBias):
            if options.get("causal") is not None:
                raise ArgumentError(f"[{NAME}.attn_mask] must not be a CausalBias together with is_causal or causal")
            sizes = [query.shape[-2], key.shape[-2]]
            if [mask.seq_len_q, mask.seq_len_kv] != sizes:
                raise ArgumentError(f"[{NAME}.attn_mask] must be a CausalBias of {sizes}, got {[mask.seq_len_q, mask.seq_len_kv]}")
            options["causal"] = "top_left" if mask.variant == CausalVariant.UPPER_LEFT else "bottom_right"
            return None
    return readable("attn_mask", mask, seen)


def check(name: str, tensor: torch.Tensor, dtype: torch.dtype) -> None:
    if tensor.ndim < 2:
        raise ArgumentError(f"[{NAME}.{name}] must be [..., length, head_dim], got the shape {list(tensor.shape)}")
    if tensor.dtype not in DTYPES:
        raise ArgumentTypeError(f"[{NAME}.{name}] must be of float32, bfloat16, float16 or float64, got {str(tensor.dtype)[6:]}")
    if tensor.dtype != dtype:
        raise ArgumentTypeError(f"[{NAME}.{name}] must be of {str(dtype)[6:]}, as query, got {str(tensor.dtype)[6:]}")


def check_mask(mask: torch.Tensor, dtype: torch.dtype) -> None:
    if mask.dtype not in (torch.bool, torch.float32, dtype):
        allowed = "bool or float32" if dtype == torch.float32 else f"bool, float32 or {str(dtype)[6:]}"
        raise ArgumentTypeError(f"[{NAME}.attn_mask] must be of {allowed}, as query, got {str(mask.dtype)[6:]}")


def in_autocast(*tensors: Any) -> tuple[Any, ...]:
    """Tensors of the dtype that torch.autocast("cpu") gives attention; float64 and masks of bool stay."""
    if not torch.is_autocast_enabled("cpu"):
        return tensors
    dtype = torch.get_autocast_dtype("cpu")
    narrow = (torch.float32, torch.bfloat16, torch.float16)
    return tuple(t.to(dtype) if isinstance(t, torch.Tensor) and t.dtype in narrow else t for t in tensors)


def leading_axes(query: Any, key: Any, value: Any, enable_gqa: bool) -> tuple[int, ...]:
    """The axes before the length that the three broadcast to; with grouped heads those of query come last."""
    if not enable_gqa:
        axes, shapes = "axes before the length", [t.shape[:-2] for t in (query, key, value)]
    else:
        axes, shapes = "axes before the heads", [t.shape[:-3] for t in (query, key, value)]
        if min(t.ndim for t in (query, key, value)) < 3:
            raise ArgumentError(f"[{NAME}.enable_gqa] needs tensors [..., heads, length, head_dim]")
        if 1 != value.shape[-3] != key.shape[-3] != 1:
            raise ArgumentError(f"[{NAME}.value] must have the heads of key, {key.shape[-3]}, got {value.shape[-3]}")
    try:
        lead = tuple(torch.broadcast_shapes(*shapes))
    except RuntimeError:
        hint = "" if enable_gqa else "; fewer heads than query's need enable_gqa=True"
        got = ", ".join(str(list(t.shape)) for t in (query, key, value))
        raise ArgumentError(f"[{NAME}.key] must have {axes} that broadcast with query's and value's{hint}, got {got}") from None
    return (*lead, query.shape[-3]) if enable_gqa else lead


def in_four_axes(
    query: Any, key: Any, value: Any, lead: tuple[int, ...], enable_gqa: bool, options: dict[str, Any]
) -> list[Any]:
    """The three as [batch, heads, length, channels]: views, except where more than one axis before the heads is merged and
    memory does not allow it. The mask among the options follows."""
    mask = options["mask"]
    if mask is not None and len(lead) > 2 and mask.ndim > 2:
        try:
            options["mask"] = mask.expand(*lead, *mask.shape[-2:]).flatten(0, -4)
        except RuntimeError:
            wanted = [*lead, query.shape[-2], key.shape[-2]]
            raise ArgumentError(f"[{NAME}.attn_mask] must broadcast to {wanted}, got {list(mask.shape)}") from None
    if not lead:
        return [tensor[None, None] for tensor in (query, key, value)]
    kv_heads = max(key.shape[-3], value.shape[-3]) if enable_gqa else lead[-1]
    tensors = []
    for tensor, heads in ((query, lead[-1]), (key, kv_heads), (value, kv_heads)):
        full = tensor.expand(*lead[:-1], heads, *tensor.shape[-2:])
        tensors.append(full.flatten(0, -4) if len(lead) > 2 else full if len(lead) == 2 else full[None])
    return tensors
