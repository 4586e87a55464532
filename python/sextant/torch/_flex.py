"""flex_attention(): torch's signature; functions that compute an option of the operator run as that option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch._subclasses.fake_tensor import FakeTensor

from .._errors import ArgumentError, ArgumentTypeError, UnsupportedError
from ._attention import computed
from ._flex_call import NAME, Call
from ._function import LearnedTerm
from ._operator import is_seen

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import AuxRequest, BlockMask

    from ._flex_masks import Function

GRAPH_BREAK = (
    "its functions run while it computes: compile without fullgraph=True, where the graph breaks here, or use options of "
    "sextant.torch.scaled_dot_product_attention (causal, window, segments, bias, softcap, ...), which are one operator in a graph"
)


@torch._disable_dynamo  # the attribute alone, below, would let a compiler look inside
def flex_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    score_mod: Function | None = None,
    block_mask: BlockMask | Function | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
    threads: int = 0,
) -> Any:
    """torch.nn.attention.flex_attention on the CPU, without a compiler and with gradients; no array of all pairs is made.

    A function that computes an option of the operator runs as that option: a factor of the score, a softcap, numbers by the distance of
    query and key (ALiBi, relative biases), causal masks, windows, documents, prefixes. Any other bias or mask is called tile by tile, as
    those of sextant.bias() and sextant.mask().

    First derivatives of query, key, value, and of tensors that score_mod reads and that require them. torch.func.grad and vmap take those
    of query, key and value. torch.compile has a break of the graph here.

    Args:
        query: [batch, heads, q_len, head_dim] of float32, bfloat16, float16 or float64
        key: [batch, heads, k_len, head_dim] of the same dtype
        value: [batch, heads, k_len, v_dim] of the same dtype
        score_mod: score_mod(score, batch, head, query, key), each a number in a tensor, gives the score that counts: a factor times the
            score, or a factor times its tanh, plus what does not depend on it; -inf hides the pair. None: the score
        block_mask: what create_block_mask() gives, or its function mask_mod(batch, head, query, key), True where the pair is seen. A block
            mask is read once: make another one when what its function reads has changed. None: all pairs
        scale: of the scores, before score_mod; None: 1 / sqrt(head_dim)
        enable_gqa: key and value may have fewer heads, which divide those of query
        return_lse: gives (output, lse): the natural logarithm of the sum of exp(score) over the keys that a row sees
        kernel_options: of torch's kernels for GPUs, which there are none of here
        return_aux: AuxRequest(lse=True) gives (output, AuxOutput(lse)); max_scores are not computed
        threads: number of threads; 0: all cores; results do not depend on it

    Returns:
        A tensor [batch, heads, q_len, v_dim] of query's dtype. A row that sees no key is zeros. lse is [batch, heads, q_len] of float32,
        of float64 tensors too, -inf for such a row; gradients flow through it.

    Raises:
        ValueError: shapes or values that do not fit, a block mask of other lengths, return_lse together with return_aux
        TypeError: an argument of another type or dtype
        NotImplementedError: a score_mod that does something else with the score, or branches on an index; max_scores; a call in a graph
            (fullgraph=True, torch.export, make_fx), a FLOP counter, or of fake tensors; functions that read tensors of torch.func
        what the functions raise

    Source:
        Dong et al. 2024, 2412.05496
    """
    wants_sums = sums_wanted(return_lse, return_aux)
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if not isinstance(tensor, torch.Tensor):
            raise ArgumentTypeError(f"[{NAME}.{name}] must be a tensor, got {type(tensor).__name__}")
        if tensor.ndim != 4:
            raise ArgumentError(f"[{NAME}.{name}] must be [batch, heads, length, head_dim], got the shape {list(tensor.shape)}")
    if is_recorded(query, key, value):
        raise UnsupportedError(f"[{NAME}] must not be inside a graph (torch.export, make_fx), a FLOP counter, or get fake tensors: {GRAPH_BREAK}")
    if score_mod is not None and not callable(score_mod):
        raise ArgumentTypeError(f"[{NAME}.score_mod] must be a function, got {type(score_mod).__name__}")
    texts: list[dict[str, Any]] = [{}]
    if query.shape[2] > 0 and key.shape[2] > 0:
        with temporarily_clear_interpreter_stack():  # of torch.func, whose tensors may have no numbers
            call = Call(query, key, score_mod, block_mask)
            texts = [call.options(batch, scale) for batch in range(call.batch if call.by_batch else 1)]
    if is_seen(query, key, value) and any(isinstance(part, LearnedTerm) for part in texts[0].get("bias", ())):
        raise UnsupportedError(
            f"[{NAME}.score_mod] must not read tensors that require gradients, other than by query - key, inside torch.func: detach() them, "
            "or call outside"
        )
    made = []
    for batch, options in enumerate(texts):
        q, k, v = (tensor[batch : batch + 1] if len(texts) > 1 and tensor.shape[0] > 1 else tensor for tensor in (query, key, value))
        made.append(computed(q, k, v, None, options.pop("scale", None), enable_gqa, {**options, "threads": threads}, wants_sums))
    out = made[0][0] if len(made) == 1 else torch.cat([each for each, _ in made])
    if not wants_sums and return_aux is None:
        return out
    lse = torch.cat([sums for _, sums in made]) if wants_sums else None
    if return_lse:
        return out, lse
    from torch.nn.attention.flex_attention import AuxOutput

    return out, AuxOutput(lse=lse, max_scores=None)


vars(flex_attention).update(_torchdynamo_disable=True, _torchdynamo_disable_msg=f"[{NAME}] {GRAPH_BREAK}")


def sums_wanted(return_lse: bool, return_aux: Any) -> bool:
    if return_aux is None:
        return bool(return_lse)
    if return_lse:
        raise ArgumentError(f"[{NAME}.return_lse] must not be given together with return_aux: AuxRequest(lse=True) asks for the same")
    from torch.nn.attention.flex_attention import AuxRequest

    if not isinstance(return_aux, AuxRequest):
        raise ArgumentTypeError(f"[{NAME}.return_aux] must be an AuxRequest of torch.nn.attention.flex_attention, got {type(return_aux).__name__}")
    if return_aux.max_scores:
        raise UnsupportedError(f"[{NAME}.return_aux] must not ask for max_scores: lse alone is computed")
    return bool(return_aux.lse)


def is_recorded(*tensors: torch.Tensor) -> bool:
    """Whether tensors have no numbers, or what is done with them becomes a graph."""
    fake = any(tensor.is_meta or isinstance(tensor, FakeTensor) for tensor in tensors)
    return fake or torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0
