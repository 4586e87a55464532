"""Every function that takes arrays, with the arrays that it takes: what the tests of copies, strides and leaks go through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

import sextant


@dataclass(frozen=True)
class Call:
    shapes: dict[str, tuple[int, ...]]  # of the arrays by name, small ones
    run: Callable[..., Any]  # run(**arrays, out=array or nothing)
    out: str = ""  # the array that has the shape of `out`; "": there is no out=
    parts: tuple[str, ...] = ()  # of the result, where it is no array


QKV = {"q": (2, 4, 6, 8), "k": (2, 2, 6, 8), "v": (2, 2, 6, 8)}

CALLS: dict[str, Call] = {
    "attention": Call(QKV, lambda q, k, v, **o: sextant.attention(q, k, v, causal="top_left", threads=1, **o), "q"),
    "attention with a mask": Call(
        {**QKV, "mask": (2, 1, 6, 6)}, lambda q, k, v, mask, **o: sextant.attention(q, k, v, mask=mask, threads=1, **o), "q"
    ),
    "attention with a bias": Call(
        {**QKV, "bias": (4, 11)}, lambda q, k, v, bias, **o: sextant.attention(q, k, v, bias=bias, threads=1, **o), "q"
    ),
    "attention_backward": Call(
        {"dout": QKV["q"], **QKV},
        lambda dout, q, k, v: sextant.attention_backward(dout, q, k, v, threads=1),
        parts=("dq", "dk", "dv"),
    ),
    "attention_weights": Call({"q": QKV["q"], "k": QKV["k"]}, lambda q, k: sextant.attention_weights(q, k, threads=1)),
    "attention_statistics": Call(
        {"q": QKV["q"], "k": QKV["k"]}, lambda q, k: sextant.attention_statistics(q, k, threads=1), parts=("entropy", "mass", "top_keys")
    ),
    "rotate": Call({"x": QKV["q"]}, lambda x, **o: sextant.rotate(x, ROTATION, threads=1, **o), "x"),
    "add_positions": Call({"x": (3, 2, 6, 8), "table": (6, 8)}, lambda x, table, **o: sextant.add_positions(x, table, **o), "x"),
    "convert_rotary": Call({"weights": (16, 5)}, lambda weights, **o: sextant.convert_rotary(weights, 8, "half_split", **o), "weights"),
    "KvCache": Call(QKV, lambda q, k, v, **o: cached(q, k, v, **o), "q"),
}  # fmt: skip

ROTATION = sextant.rotary(6, 8)


def cached(q: Any, k: Any, v: Any, **out: Any) -> Any:
    cache = sextant.KvCache(2, 2, 8, dtype="float32")
    cache.append(k, v)
    return cache.attend(q, threads=1, **out)


def arrays_of(call: Call, dtype: Any = np.float32) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in call.shapes.items()}


def results_of(call: Call, result: Any) -> list[Any]:
    return [getattr(result, part) for part in call.parts] if call.parts else [result]
