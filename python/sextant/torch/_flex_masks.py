"""Functions of flex_attention on the indices of many pairs, and which options of the operator say what a mask shows."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import torch

Function = Callable[..., torch.Tensor]

ROWS = 1 << 24  # pairs of a block of rows in which a mask is looked at


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
