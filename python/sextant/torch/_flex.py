"""flex_attention(): torch's signature, with functions as the operator's own options where they say the same."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import torch

from .. import _functions
from .._errors import ArgumentError, ArgumentTypeError, UnsupportedError
from . import _operator
from ._attention import scaled_dot_product_attention
from ._function import LearnedTerm, versions_of
from ._read import Reads, Score, read

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

    Function = Callable[..., torch.Tensor]

NAME = "flex_attention"
ROWS = 1 << 24  # pairs of a block of rows in which a mask is looked at

# By block mask: what is known of its function, by what is asked.
known: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


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
    return_aux: Any = None,
    threads: int = 0,
) -> torch.Tensor:
    """torch.nn.attention.flex_attention on the CPU, without a compiler and with gradients; no array of all pairs is made.

    What a function says in the operator's own words runs as such: a factor of the score, a softcap, numbers by the distance of query and
    key (ALiBi, relative biases), causal masks, windows, documents, prefixes. Any other bias or mask is called tile by tile, as
    sextant.bias() and sextant.mask() are.

    First derivatives of query, key, value, and of tensors that score_mod reads and that require them.

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
        return_lse, return_aux: must not be asked for
        kernel_options: of torch's kernels for GPUs, which there are none of here
        threads: 0: as many as there are cores; results do not depend on it

    Returns:
        A tensor [batch, heads, q_len, v_dim] of query's dtype. A row that sees no key is zeros.

    Raises:
        ValueError: shapes or values that do not fit, a block mask of other lengths, return_lse or return_aux
        TypeError: an argument of another type or dtype
        NotImplementedError: a score_mod that does something else with the score, or branches on an index; a call that is compiled or traced
        what the functions raise

    Source:
        Dong et al. 2024, 2412.05496
    """
    if return_lse or return_aux is not None:
        raise ArgumentError(f"[{NAME}.{'return_lse' if return_lse else 'return_aux'}] must not be asked for: the output alone is given")
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if not isinstance(tensor, torch.Tensor):
            raise ArgumentTypeError(f"[{NAME}.{name}] must be a tensor, got {type(tensor).__name__}")
        if tensor.ndim != 4:
            raise ArgumentError(f"[{NAME}.{name}] must be [batch, heads, length, head_dim], got the shape {list(tensor.shape)}")
    if _operator.is_seen(query, key, value):
        raise UnsupportedError(f"[{NAME}] cannot be compiled, exported or inside torch.func: its functions run while it computes")
    if score_mod is not None and not callable(score_mod):
        raise ArgumentTypeError(f"[{NAME}.score_mod] must be a function, got {type(score_mod).__name__}")
    options: dict[str, Any] = dict(enable_gqa=enable_gqa, threads=threads)
    if query.shape[2] == 0 or key.shape[2] == 0:
        return scaled_dot_product_attention(query, key, value, **options)
    call = Call(query, key, score_mod, block_mask)
    if not call.by_batch or call.batch == 1:
        return scaled_dot_product_attention(query, key, value, **{**options, **call.options(0, scale)})
    parts = []
    for batch in range(call.batch):
        one = [tensor[batch : batch + 1] if tensor.shape[0] > 1 else tensor for tensor in (query, key, value)]
        parts.append(scaled_dot_product_attention(*one, **{**options, **call.options(batch, scale)}))
    return torch.cat(parts)


flex_attention._torchdynamo_disable = True  # type: ignore[attr-defined]  # its functions run on numbers


class Call:
    """The functions of a call, and what is known of them."""

    def __init__(self, query: torch.Tensor, key: torch.Tensor, score_mod: Function | None, block_mask: Any) -> None:
        self.batch, self.heads, self.q_len, self.width = query.shape
        self.batch = max(self.batch, key.shape[0])
        self.k_len = key.shape[2]
        self.length = max(self.q_len, self.k_len)
        self.dtype = torch.float64 if query.dtype == torch.float64 else torch.float32  # of scores
        self.score_mod = score_mod
        self.reads, self.weights = Reads(score=Score()), list[torch.Tensor]()
        if score_mod is not None:
            self.reads, self.weights = read("score_mod", score_mod, self.dtype)
        self.mask_mod, self.memory = self.function_of(block_mask)
        self.mask_reads = Reads()
        if self.mask_mod is not None:
            if "reads" not in self.memory:
                self.memory["reads"] = read("block_mask", self.mask_mod, None)[0]
            self.mask_reads = self.memory["reads"]
        self.by_batch = self.reads.batch or self.mask_reads.batch

    def function_of(self, block_mask: Any) -> tuple[Function | None, dict[Any, Any]]:
        if block_mask is None:
            return None, {}
        if not hasattr(block_mask, "mask_mod"):
            if not callable(block_mask):
                raise ArgumentTypeError(f"[{NAME}.block_mask] must be a BlockMask or a function, got {type(block_mask).__name__}")
            return block_mask, {}
        lengths = tuple(block_mask.shape[-2:])
        if lengths != (self.q_len, self.k_len):
            raise ArgumentError(f"[{NAME}.block_mask] must be of q_len {self.q_len} and k_len {self.k_len}, got {lengths[0]} and {lengths[1]}")
        memory = known.setdefault(block_mask, {})
        if "function" not in memory:
            memory["function"] = function_of_blocks(block_mask)
        return memory["function"], memory

    def options(self, batch: int, scale: float | None) -> dict[str, Any]:
        """Of scaled_dot_product_attention(), for one text of the batch."""
        score = self.reads.score or Score()
        options: dict[str, Any] = {"scale": scale}
        factor = score.factor * score.inner  # c tanh(a s) = c tanh((c a s) / c)
        if factor != 1:
            options["scale"] = factor * (1 / max(self.width, 1) ** 0.5 if scale is None else scale)
        if score.capped:
            options["softcap"] = abs(score.factor)
        masked = dict(self.mask_options(batch))
        bias, table = list(masked.pop("bias", ())), masked.pop("table", None)
        options.update(masked)
        if score.shifted:
            own = self.by_distance(batch) if self.reads.distance else None
            if own is None:
                bias.append(self.by_tile(batch))
            else:
                table = own if table is None else own + table
        if table is not None:
            bias.append(table)
        if bias:
            options["bias"] = bias
        if self.q_len != self.k_len and "causal" not in options and ("window" in options or bias):
            options["query_offsets"] = [0] * (1 if self.by_batch else self.batch)  # query i and key i have the same position
        return options

    def by_distance(self, batch: int) -> torch.Tensor | None:
        """What score_mod adds, [heads or 1, 2 * length - 1]; None where float32 does not hold it."""
        assert self.score_mod is not None
        numbers = on_distances(self.score_mod, (torch.zeros((), dtype=self.dtype),), batch, self.heads_of(self.reads), self.q_len, self.k_len)
        table = numbers.float()
        if self.dtype == torch.float64 and (self.weights or not torch.equal(table.double(), numbers)):
            return None
        return torch.nn.functional.pad(table, (self.length - self.k_len, self.length - self.q_len)).flip(-1)

    def by_tile(self, batch: int) -> Any:
        """What score_mod adds, by a function that the operator calls."""
        function, weights, zero = self.score_mod, tuple(self.weights), torch.zeros((), dtype=self.dtype)
        assert function is not None

        def numbers(head: Any, query: Any, key: Any) -> Any:
            with torch.no_grad():
                return on_tile(function, (zero,), batch, head, query, key).to(zero.dtype).numpy()

        def gradient(dscores: Any, head: Any, query: Any, key: Any) -> Any:
            with torch.enable_grad():
                tile = on_tile(function, (zero,), batch, head, query, key)
            dtile = torch.from_numpy(dscores).to(tile.dtype)
            found = torch.autograd.grad(tile, weights, dtile, allow_unused=True)
            flat = [torch.zeros(one.numel()) if grad is None else grad.flatten() for one, grad in zip(weights, found)]
            return torch.cat([one.double() for one in flat]).numpy()

        sizes = [one.numel() for one in weights]
        heads = self.heads_of(self.reads)
        if not weights:
            return _functions.bias(numbers, self.length, heads=heads)
        term = _functions.bias(numbers, self.length, heads=heads, gradient=gradient, parameters=sum(sizes))

        def gradients(flat: Any) -> tuple[torch.Tensor, ...]:
            parts = torch.as_tensor(flat).split(sizes)
            return tuple(part.view(one.shape).to(one.dtype) for part, one in zip(parts, weights))

        return LearnedTerm(term, weights, gradients, versions_of(weights))

    def heads_of(self, reads: Reads) -> int:
        return self.heads if reads.head else 1

    def mask_options(self, batch: int) -> dict[str, Any]:
        if self.mask_mod is None:
            return {}
        batch = batch if self.mask_reads.batch else 0
        asked = (batch, self.heads, self.q_len, self.k_len)
        if asked not in self.memory:
            with torch.no_grad():
                self.memory[asked] = self.found_mask(self.mask_mod, batch)
        return self.memory[asked]

    def found_mask(self, function: Function, batch: int) -> dict[str, Any]:
        reads = self.mask_reads
        if reads.distance and reads.positions:
            seen = on_distances(function, (), batch, self.heads_of(reads), self.q_len, self.k_len)
            window = None if reads.head else window_of(seen[0].numpy(), self.q_len, self.k_len)
            if window is not None:
                return window
            table = torch.zeros(seen.shape).masked_fill(~seen, float("-inf"))
            return {"table": torch.nn.functional.pad(table, (self.length - self.k_len, self.length - self.q_len)).flip(-1)}
        if not reads.head and self.q_len == self.k_len:
            seen_keys = intervals_of(function, batch, self.q_len)
            for form in (documents_of, prefix_of):
                found = None if seen_keys is None else form(*seen_keys, self.heads)
                if found is not None:
                    return found

        def seen_in(head: Any, query: Any, key: Any) -> Any:
            with torch.no_grad():
                return on_tile(function, (), batch, head, query, key).numpy()

        return {"bias": [_functions.mask(seen_in, self.length, heads=self.heads_of(reads))]}


def function_of_blocks(block_mask: Any) -> Function:
    """The function of a block mask; its blocks where it has none."""
    from torch.nn.attention.flex_attention import noop_mask

    if block_mask.mask_mod is not noop_mask:
        return block_mask.mask_mod
    blocks = block_mask.to_dense() > 0
    q_size, k_size = block_mask.BLOCK_SIZE
    if bool(blocks.all()):
        return noop_mask

    def seen(batch: Any, head: Any, query: Any, key: Any) -> Any:
        table = blocks[0] if blocks.shape[0] == 1 else blocks[batch]
        table = table[0] if blocks.shape[1] == 1 else table[head]
        return table[query // q_size, key // k_size]

    return seen


def index(number: int) -> torch.Tensor:
    return torch.tensor(number, dtype=torch.int32)


def on_tile(function: Function, lead: Any, batch: int, head: Any, query: Any, key: Any) -> torch.Tensor:
    """[queries, keys] of one head; head, query and key are arrays of int64 [1, 1], [queries, 1] and [1, keys]."""
    fixed = (None,) * (len(lead) + 2)
    rows = torch.vmap(torch.vmap(function, in_dims=(*fixed, None, 0)), in_dims=(*fixed, 0, None))
    queries, keys = (torch.from_numpy(ids.ravel()).int() for ids in (query, key))
    return rows(*lead, index(batch), index(int(head.item())), queries, keys)


def on_distances(function: Function, lead: Any, batch: int, heads: int, q_len: int, k_len: int) -> torch.Tensor:
    """[heads, k_len + q_len - 1] of a function of query - key, which is 1 - k_len .. q_len - 1."""
    fixed = (None,) * (len(lead) + 1)
    by_head = torch.vmap(torch.vmap(function, in_dims=(*fixed, None, 0, 0)), in_dims=(*fixed, 0, None, None))
    distances = torch.arange(1 - k_len, q_len, dtype=torch.int32)
    queries, keys = distances.clamp(min=0), (-distances).clamp(min=0)
    return by_head(*lead, index(batch), torch.arange(heads, dtype=torch.int32), queries, keys)


def window_of(seen: Any, q_len: int, k_len: int) -> dict[str, Any] | None:
    """The options of a mask by distance that shows one run of distances, with 0 in it; `seen` begins at 1 - k_len."""
    shown = np.flatnonzero(seen) + 1 - k_len
    if len(shown) == 0 or shown[0] > 0 or shown[-1] < 0 or len(shown) != shown[-1] - shown[0] + 1:
        return None
    left = -1 if shown[-1] == q_len - 1 else int(shown[-1])
    right = -1 if shown[0] == 1 - k_len else int(-shown[0])
    return options_of(left, right)


def options_of(left: int, right: int) -> dict[str, Any]:
    options: dict[str, Any] = {"causal": "top_left"} if right == 0 else {}
    if left >= 0 or right > 0:
        options["window"] = (left, -1 if right == 0 else right)
    return options


def intervals_of(function: Function, batch: int, length: int) -> tuple[Any, Any] | None:
    """The first and the last key that each row sees; None where a row sees none, or not all between them."""
    first, last = np.empty(length, np.int64), np.empty(length, np.int64)
    rows = max(1, ROWS // length)
    zero, keys = np.zeros((1, 1), np.int64), np.arange(length)[None]
    for start in range(0, length, rows):
        end = min(start + rows, length)
        seen = on_tile(function, (), batch, zero, np.arange(start, end)[:, None], keys).numpy()
        first[start:end] = seen.argmax(1)
        last[start:end] = length - 1 - seen[:, ::-1].argmax(1)
        counts = seen.sum(1)
        if (counts == 0).any() or (counts != last[start:end] - first[start:end] + 1).any():
            return None
    return first, last


def documents_of(first: Any, last: Any, _: int) -> dict[str, Any] | None:
    """The options of rows that see a window within their document."""
    rows = np.arange(len(first))
    begins = (first == rows) & np.concatenate(([True], last[:-1] < rows[1:]))
    if not begins[0]:
        return None
    starts = rows[begins]
    ends = np.concatenate((starts[1:], [len(rows)])) - 1
    number = begins.cumsum() - 1
    left, right = (reach_of(reach, most) for reach, most in ((rows - first, rows - starts[number]), (last - rows, ends[number] - rows)))
    if left is None or right is None:
        return None
    segments = {"segments": [*starts.tolist(), len(rows)]} if len(starts) > 1 else {}
    return {**options_of(left, right), **segments}


def reach_of(reach: Any, most: Any) -> int | None:
    """How far rows see to one side, -1: as far as their document goes; None where there is no such number."""
    cut = reach < most
    if not cut.any():
        return -1
    limit = int(reach[cut][0])
    return limit if np.array_equal(reach, np.minimum(most, limit)) else None


def prefix_of(first: Any, last: Any, heads: int) -> dict[str, Any] | None:
    """The options of a prefix that all rows see, causal after it."""
    rows = np.arange(len(first))
    if first.any() or not np.array_equal(last, np.maximum(rows, last[0])):
        return None
    from .._schemes import prefix_mask

    return {"bias": [prefix_mask(len(rows), heads, prefix=int(last[0]) + 1)]}


