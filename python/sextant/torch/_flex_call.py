"""A call of flex_attention in options of the operator: those that its functions compute."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from .. import _functions
from .._errors import ArgumentError, ArgumentTypeError
from ._flex_masks import Function, documents_of, intervals_of, on_distances, on_tile, prefix_of, window_of
from ._function import LearnedTerm, versions_of
from ._read import Reads, Score, read

NAME = "flex_attention"
NO_BLOCKS = (1 << 30, 1 << 30)  # the block size of torch's own mask for calls without one, which fits all lengths

# By block mask: what is known of its function, by what is asked.
known: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


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
        if lengths != (self.q_len, self.k_len) and tuple(block_mask.BLOCK_SIZE) != NO_BLOCKS:
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
