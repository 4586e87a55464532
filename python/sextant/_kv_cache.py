"""The keys and values of the tokens so far, for generating token by token."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _core
from ._hints import refuse

if TYPE_CHECKING:
    from typing import NoReturn

    from ._core import RotationTable
    from ._types import Array, Bias, Causal, DType, HeadLayout, Integers, MatmulPrecision, Numbers, SameArray


class KvCache:
    """The keys and values of the sequences of a batch, which may have different lengths, in pages of memory.

    fork(), select() and join() share pages; a page is copied when one of those that share it writes to it.

    Args:
        batch: sequences
        kv_heads: heads of keys and values
        head_dim: channels of a key
        v_dim: channels of a value; None: head_dim
        dtype: float32, bfloat16 or float16, to which wider numbers are rounded once when they are appended; or int8, which
            takes float32: each row of a head is stored as multiples of its largest number / 127, in half the memory of
            16 bits, each number within 1 / 254 of the largest
        page_size: positions of a page, a multiple of 128

    Raises:
        ValueError: a size out of its range, or not enough memory
    """

    def __init__(
        self,
        batch: int,
        kv_heads: int,
        head_dim: int,
        v_dim: int | None = None,
        *,
        dtype: DType = "float32",
        page_size: int = 128,
    ) -> None:
        self._cache = _core.KvCache(batch, kv_heads, head_dim, v_dim, dtype, page_size)

    def append(
        self, k: Array, v: Array, counts: Integers | None = None, *, segments: Integers | None = None, layout: HeadLayout = "bhld"
    ) -> None:
        """Puts k [batch, kv_heads, count, head_dim] and v after what is stored; of sequence b the first counts[b] positions.

        With segments, the start of each sequence's rows, then their number, the rows of all sequences are packed: k [1,
        kv_heads, rows, head_dim]. `layout` is that of attention(), and as there the arrays may lack the batch, or batch
        and heads."""
        self._cache.append(k, v, counts, segments, layout)

    @overload
    def attend(
        self,
        q: SameArray,
        *,
        out: Array | None = None,
        log_sum_exp: Array | None = None,
        return_log_sum_exp: Literal[False] = False,
        # The operator's options, by generate.py:
        causal: Causal | None = None,
        window: tuple[int, int] | None = None,
        mask: Array | None = None,
        bias: Bias | None = None,
        slopes: Numbers | None = None,
        scale: float | None = None,
        softcap: float = 0.0,
        dropout: float = 0.0,
        dropout_seed: int = 0,
        matmul_precision: MatmulPrecision = "float32",
        segments: Integers | None = None,
        key_segments: Integers | None = None,
        key_lengths: Integers | None = None,
        query_offsets: Integers | None = None,
        positions: Array | tuple[Array, Array] | None = None,
        sinks: Numbers | None = None,
        rotation: RotationTable | None = None,
        layout: HeadLayout = "bhld",
        threads: int = 0,
        **unknown: NoReturn,
    ) -> SameArray: ...
    @overload
    def attend(
        self,
        q: SameArray,
        *,
        out: Array | None = None,
        log_sum_exp: Array | None = None,
        return_log_sum_exp: Literal[True],
        # The operator's options, by generate.py:
        causal: Causal | None = None,
        window: tuple[int, int] | None = None,
        mask: Array | None = None,
        bias: Bias | None = None,
        slopes: Numbers | None = None,
        scale: float | None = None,
        softcap: float = 0.0,
        dropout: float = 0.0,
        dropout_seed: int = 0,
        matmul_precision: MatmulPrecision = "float32",
        segments: Integers | None = None,
        key_segments: Integers | None = None,
        key_lengths: Integers | None = None,
        query_offsets: Integers | None = None,
        positions: Array | tuple[Array, Array] | None = None,
        sinks: Numbers | None = None,
        rotation: RotationTable | None = None,
        layout: HeadLayout = "bhld",
        threads: int = 0,
        **unknown: NoReturn,
    ) -> tuple[SameArray, SameArray]: ...
    def attend(
        self,
        q: Array,
        *,
        out: Array | None = None,
        log_sum_exp: Array | None = None,
        return_log_sum_exp: bool = False,
        # The operator's options, by generate.py:
        causal: Causal | None = None,
        window: tuple[int, int] | None = None,
        mask: Array | None = None,
        bias: Bias | None = None,
        slopes: Numbers | None = None,
        scale: float | None = None,
        softcap: float = 0.0,
        dropout: float = 0.0,
        dropout_seed: int = 0,
        matmul_precision: MatmulPrecision = "float32",
        segments: Integers | None = None,
        key_segments: Integers | None = None,
        key_lengths: Integers | None = None,
        query_offsets: Integers | None = None,
        positions: Array | tuple[Array, Array] | None = None,
        sinks: Numbers | None = None,
        rotation: RotationTable | None = None,
        layout: HeadLayout = "bhld",
        threads: int = 0,
        **unknown: NoReturn,
    ) -> Any:
        """attention() of q [batch, heads, q_len, head_dim], the last q_len positions, with all stored keys and values.

        q has the type of the cache or float32, and the output that of q: with float32 nothing but keys and values is
        rounded to 16 bits. With segments, the queries of all sequences are packed, q [1, heads, rows, head_dim], any number
        for each: prompts and single tokens in one call.

        Options, which may all be combined:
            causal: visible keys of a query: None, False or "none" (all), "top_left" (key j <= i), "bottom_right" (the
                last query sees every key), "at_offsets" (by query_offsets), "at_lengths" (by key_lengths); True if
                q_len equals k_len, where they agree
            window: (left, right): number of visible keys before and after the diagonal; -1: all
            mask: bool (True, or any byte but 0, takes part) or float (added; -inf hides), broadcast to [batch, heads,
                q_len, k_len], any strides
            bias: by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or the object returned by
                a scheme: DistanceBias, ScoreTerm, or a list of them, at most one by distance and one before the
                softcap; made for the heads of q and for all tokens
            slopes: [heads]: adds -slope * |distance|
            scale: factor of the scores, within +-1e38; None: 1 / sqrt(head_dim), or the factor of the term
            softcap: score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off
            dropout: probability that a weight is dropped (training), 0 .. 1, less than 1; the others are divided by 1 -
                dropout; not in log_sum_exp
            dropout_seed: seed that selects the dropped weights: the same for backward, another one for the next step
            matmul_precision: to what the factors of the two products may be rounded: "bfloat16" where the processor
                multiplies those faster, for inference; the plan says whether it does
            segments: packed sequences: the start of each, then the length (cu_seqlens)
            key_segments: the same for keys
            key_lengths: [batch]: keys from this index on are padding
            query_offsets: [batch]: the key on the diagonal of each sequence's query 0
            positions: ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two
            sinks: [heads]: attention sinks, an additional logit per head in the softmax, without a value
            rotation: a RotationTable of float32 that rotates queries and keys inside the call
            layout: order of the axes of q, k, v, out and their gradients: "bhld" is [batch, heads, length, channels],
                "blhd" [batch, length, heads, channels]; masks, weights and log_sum_exp keep theirs
            threads: number of threads; 0: all cores; results do not depend on it

        Returns:
            out, or a new array [batch, heads, q_len, v_dim]; with return_log_sum_exp that and the log-sum-exp.
        """
        if unknown:
            refuse("KvCache.attend", unknown)
        options = dict(  # by generate.py
            causal=causal, window=window, mask=mask, bias=bias, slopes=slopes, scale=scale, softcap=softcap,
            dropout=dropout, dropout_seed=dropout_seed, matmul_precision=matmul_precision, segments=segments,
            key_segments=key_segments, key_lengths=key_lengths, query_offsets=query_offsets, positions=positions,
            sinks=sinks, rotation=rotation, layout=layout, threads=threads,
        )
        return self._cache.attend(q, out, log_sum_exp, options, return_log_sum_exp)

    def rewind(self, length: int, sequence: int | None = None) -> None:
        """Drops the positions from `length` on: of one sequence, or of every one that has them."""
        self._cache.rewind(length, sequence)

    def drop(self, begin: int, end: int, sequence: int | None = None) -> None:
        """Drops positions begin .. end - 1 of one sequence, or of every one that has them; those after them move to `begin`.

        Keys that were stored with rotary embeddings keep those of their old positions: rotate() moves them."""
        self._cache.drop(begin, end, sequence)

    def rotate(self, table: RotationTable, shift: int, begin: int = 0, end: int | None = None, sequence: int | None = None) -> None:
        """Rotates the keys of positions begin .. end - 1 by `shift` positions: by row |shift| of a table, back if it is negative.

        So keys that were stored with rotary embeddings of positions p become those of positions p + shift. It is not for
        keys that attend(rotation=...) rotates. The table has no amplitude."""
        self._cache.rotate(table, shift, begin, end, sequence)

    def clear(self) -> None:
        """Drops all positions and releases their memory."""
        self._cache.clear()

    def fork(self) -> KvCache:
        """Another cache with the same contents, which shares the memory: nothing is copied."""
        return self._of(self._cache.fork())

    def select(self, sequences: Integers) -> None:
        """Makes sequence i what sequence sequences[i] was: reorders them, repeats them (beams) or leaves some out."""
        self._cache.select(sequences)

    def join(self, other: KvCache) -> None:
        """Adds the sequences of another cache, of the same sizes and dtype, after those of this one."""
        if not isinstance(other, KvCache):
            raise TypeError(f"[KvCache.join.other] must be a KvCache, got {type(other).__name__}")
        self._cache.join(other._cache)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the contents to a .safetensors file: keys, values and lengths, with a checksum."""
        self._cache.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KvCache:
        """Reads what save() wrote; refuses a damaged file."""
        return cls._of(_core.KvCache.load(path))

    @classmethod
    def _of(cls, core: _core.KvCache) -> KvCache:
        cache = cls.__new__(cls)
        cache._cache = core
        return cache

    def __copy__(self) -> KvCache:
        return self.fork()

    def __deepcopy__(self, memo: dict[int, Any]) -> KvCache:
        return self.fork()

    def __reduce__(self) -> tuple[Any, ...]:
        from . import _copies

        other = self.fork()  # one state, whatever other threads append
        return _copies.cache, (other.keys, other.values, other.lengths, other.page_size, other.dtype)

    @property
    def lengths(self) -> list[int]:
        """How many positions each sequence holds."""
        return self._cache.lengths

    @property
    def keys(self) -> Any:
        """A copy of the stored keys, [batch, kv_heads, max(lengths), head_dim]."""
        return self._cache.stored(True)

    @property
    def values(self) -> Any:
        """A copy of the stored values, [batch, kv_heads, max(lengths), v_dim]."""
        return self._cache.stored(False)

    @property
    def dtype(self) -> str:
        """How keys and values are stored: "float32", "bfloat16", "float16" or "int8"."""
        return self._cache.dtype

    @property
    def page_size(self) -> int:
        """Positions of a page."""
        return self._cache.page_size

    @property
    def bytes(self) -> int:
        """Bytes of the keys and values that all pages hold, each counted once, shared with other caches or not."""
        return self._cache.bytes

    def __len__(self) -> int:
        return max(self.lengths, default=0)

    def __repr__(self) -> str:
        cache = self._cache
        return (
            f"KvCache(batch={cache.batch}, kv_heads={cache.kv_heads}, head_dim={cache.head_dim}, v_dim={cache.v_dim}, "
            f"page_size={cache.page_size}, lengths={cache.lengths})"
        )
