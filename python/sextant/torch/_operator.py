"""The operator as torch.ops.sextant.attention, where something else than eager torch looks at the call.

torch.compile, torch.export, torch.func, torch.jit.trace, gradients of a batch, FakeTensorMode, FLOP counters and tensors on the meta
device see one operator of torch, with shapes, derivatives, rules for vmap and a number of products. A plain call does not go this
way: torch's dispatcher of Python operators costs more than a small call of attention.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch
from torch._library.opaque_object import get_opaque_type_name, register_opaque_type
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd import forward_ad

from .. import _core
from .._errors import ArgumentError, UnsupportedError
from ._function import FIRST_ONLY, LEARNED, LearnedTerm, attend_into, new_output, plain, with_sums, without_sums
from ._tensors import functorch, in_memory
from ._words import NAME, in_words_of_torch

# Inputs of both operators after query, key and value (and what the backward pass needs): tensors, then what graphs have as constants.
INDICES = ("segments", "key_segments", "key_lengths", "query_offsets", "query_positions", "key_positions", "dropout_seed")
CONSTANTS = ("causal", "window", "softcap", "scale", "dropout", "threads", "rotation", "distance", "term", "second_term", "third_term")
OPTIONS = LEARNED + INDICES + CONSTANTS

tables: dict[int, Any] = {}  # those that graphs have as constants


def table(number: int) -> Any:
    """What the code of a graph calls."""
    return tables[number]


def as_code(self: Any) -> tuple[str, dict[str, Any]]:
    number = next((number for number, kept in tables.items() if kept is self), len(tables))
    tables[number] = self
    return f"table({number})", {"table": table}


for each in (_core.RotationTable, _core.DistanceBias, _core.ScoreTerm):
    setattr(each, "__fx_repr__", as_code)  # what register_opaque_type() asks for
    register_opaque_type(each, typ="value")


def is_seen(*tensors: Any) -> bool:
    """Whether something else than eager torch sees a call with these tensors."""
    return (
        torch.compiler.is_compiling()
        or torch._C._len_torch_dispatch_stack() > 0
        or functorch.peek_interpreter_stack() is not None
        or all(isinstance(tensor, FakeTensor) or getattr(tensor, "is_meta", False) for tensor in tensors)
    )


def is_transformed() -> bool:
    """Whether a transform of torch.func, or forward mode, wants derivatives."""
    return functorch.peek_interpreter_stack() is not None or getattr(forward_ad, "_current_level", -1) >= 0


def attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, options: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """The operator on tensors [batch, heads, length, head_dim], by torch's dispatcher; and the log-sum-exp of each row."""
    arguments = (query, key, value, *in_words_of_operator(options))
    if torch.jit.is_tracing():
        refuse_tables(options)
    if not torch.compiler.is_compiling() and is_transformed():
        from ._transforms import Transformed

        return Transformed.apply(*arguments)
    return torch.ops.sextant.attention(*arguments)


def in_words_of_operator(options: dict[str, Any]) -> list[Any]:
    """The operator's arguments after query, key and value."""
    given: dict[str, Any] = {name: None for name in OPTIONS}
    given.update(softcap=0.0, dropout=0.0, threads=0)
    for name, option in options.items():
        if option is None:
            continue
        if name == "bias":
            add_biases(option, given)
        elif name == "positions":
            ids = option if isinstance(option, tuple) else (option, None)
            given["query_positions"], given["key_positions"] = (None if each is None else torch.as_tensor(each) for each in ids)
        elif name in INDICES:
            given[name] = torch.as_tensor(option)
        elif name in ("slopes", "sinks"):
            given[name] = option if isinstance(option, torch.Tensor) else torch.tensor(option, dtype=torch.float64)
        elif name == "causal":
            given[name] = str(option)
        elif name == "window":
            given[name] = [int(side) for side in option]
        else:
            given[name] = option
    return list(given.values())


def refuse_tables(options: dict[str, Any]) -> None:
    """Graphs of torch.jit.trace have numbers, texts and tensors."""
    bias = options.get("bias")
    tables = {"rotation": options.get("rotation"), "bias": None if isinstance(bias, torch.Tensor) else bias}
    for name, table in tables.items():
        if table is not None:
            raise UnsupportedError(f"[{NAME}.{name}] must not be a table inside torch.jit.trace; torch.export and torch.compile take tables")


def add_biases(bias: Any, given: dict[str, Any]) -> None:
    for part in bias if isinstance(bias, (list, tuple)) else [bias]:
        if isinstance(part, LearnedTerm):
            raise UnsupportedError(
                f"[{NAME}.bias] with weights (indexed_bias, content) cannot be compiled, exported or inside torch.func: "
                "call it outside, or with torch._dynamo.config.suppress_errors"
            )
        if isinstance(part, _core.ScoreTerm):
            free = [name for name in ("term", "second_term", "third_term") if given[name] is None]
            if not free:
                raise UnsupportedError(f"[{NAME}.bias] must have up to 3 tables by query and key where it is compiled")
            given[free[0]] = part
        else:
            name = "distance" if isinstance(part, _core.DistanceBias) else "bias"
            if given["bias"] is not None or given["distance"] is not None:
                raise ArgumentError(f"[{NAME}.bias] must have at most one bias by distance")
            given[name] = part if name == "distance" or isinstance(part, torch.Tensor) else torch.as_tensor(part)


def readable(tensors: Any, *names: str) -> list[Any]:
    return [in_memory(f"{NAME}.{name}", tensor).detach() for tensor, name in zip(tensors, names)]


def in_words_of_core(options: Sequence[Any]) -> dict[str, Any]:
    """Options as _core.attention() takes them, of the operator's own."""
    named = {name: option for name, option in zip(OPTIONS, options) if option is not None}
    causal, window = named.pop("causal", None), named.pop("window", None)
    bias = [named.pop(name) for name in ("distance", "term", "second_term", "third_term", "bias") if name in named]
    ids = [named.pop(name).detach() for name in ("query_positions", "key_positions") if name in named]
    made = {name: plain(name, option) for name, option in named.items()}
    if causal is not None:
        made["causal"] = {"True": True, "False": False}.get(causal, causal)
    if window is not None:
        made["window"] = tuple(window)
    if bias:
        made["bias"] = [part.detach() if isinstance(part, torch.Tensor) else part for part in bias]
    if ids:
        made["positions"] = tuple(ids) if len(ids) == 2 else ids[0]
    return made


def check_shapes(query: Any, key: Any, value: Any) -> None:
    """What a graph has to know; the rest is checked when it runs."""
    for name, tensor in (("key", key), ("value", value)):
        if tensor.shape[0] != query.shape[0] or query.shape[1] % tensor.shape[1] != 0:
            wanted = f"[{query.shape[0]}, heads that divide {query.shape[1]}, ...]"
            raise ArgumentError(f"[{NAME}.{name}] must be {wanted}, got {list(tensor.shape)}")
    if key.shape[3] != query.shape[3]:
        raise ArgumentError(f"[{NAME}.key] must have the channels of query, {query.shape[3]}, got {key.shape[3]}")
    if value.shape[2] != key.shape[2]:
        raise ArgumentError(f"[{NAME}.value] must have the length of key, {key.shape[2]}, got {value.shape[2]}")


kinds = {cls: get_opaque_type_name(cls) for cls in (_core.RotationTable, _core.DistanceBias, _core.ScoreTerm)}
types = {
    **dict.fromkeys(LEARNED + INDICES, "Tensor?"), "causal": "str?", "window": "int[]?", "softcap": "float", "scale": "float?", "dropout": "float",
    "threads": "int", "rotation": f"{kinds[_core.RotationTable]}?", "distance": f"{kinds[_core.DistanceBias]}?",
}  # fmt: skip
schema = ", ".join(f"{types.get(name, kinds[_core.ScoreTerm] + '?')} {name}" for name in OPTIONS)


@torch.library.custom_op(
    "sextant::attention", mutates_args=(), schema=f"(Tensor query, Tensor key, Tensor value, {schema}) -> (Tensor, Tensor)"
)
def forward(query: Any, key: Any, value: Any, *options: Any) -> Any:
    """The output, and the log-sum-exp of each row, which the backward pass needs."""
    query, key, value = readable((query, key, value), "query", "key", "value")
    sums = torch.empty(query.shape[:3], dtype=torch.float32)
    with in_words_of_torch():
        out = new_output(query, value)
        attend_into(out, sums, query, key, value, in_words_of_core(options))
    return out, sums


@forward.register_fake
def forward_shapes(query: Any, key: Any, value: Any, *options: Any) -> Any:
    check_shapes(query, key, value)
    batch, heads, length = query.shape[:3]
    if 0 < query.stride(1) < query.stride(2):
        out = query.new_empty(batch, length, heads, value.shape[3]).transpose(1, 2)
    else:
        out = query.new_empty(batch, heads, length, value.shape[3])
    return out, query.new_empty(batch, heads, length, dtype=torch.float32)


@torch.library.custom_op(
    "sextant::attention_backward",
    mutates_args=(),
    schema=f"(Tensor dout, Tensor query, Tensor key, Tensor value, Tensor out, Tensor sums, {schema}, bool[] wanted) -> Tensor[]",
)
def backward(dout: Any, query: Any, key: Any, value: Any, out: Any, sums: Any, *others: Any) -> Any:
    """Gradients of those of query, key, value and LEARNED that are wanted."""
    *options, wanted = others
    inputs = [query, key, value, *options[: len(LEARNED)]]
    names = [name for name, is_wanted in zip(("dq", "dk", "dv", *("d" + name for name in LEARNED)), wanted) if is_wanted]
    tensors = readable((dout, query, key, value, out, sums), "grad_outputs", "query", "key", "value", "out", "sums")
    with in_words_of_torch():
        dout, query, key, value, out, sums = tensors
        arrays = _core.attention_backward(dout, query, key, value, out, sums, in_words_of_core(options), frozenset(names))
    like = [tensor for tensor, is_wanted in zip(inputs, wanted) if is_wanted]
    return [arrays[name].to(tensor.dtype).contiguous().view(tensor.shape) for name, tensor in zip(names, like)]


@backward.register_fake
def backward_shapes(dout: Any, query: Any, key: Any, value: Any, out: Any, sums: Any, *others: Any) -> Any:
    inputs = (query, key, value, *others[: len(LEARNED)])
    return [tensor.new_empty(tensor.shape) for tensor, is_wanted in zip(inputs, others[-1]) if is_wanted]


def keep(ctx: Any, inputs: Any, output: Any) -> None:
    tensors = 3 + len(LEARNED) + len(INDICES)
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*output, *inputs[:tensors])
    ctx.constants = inputs[tensors:]


def derive(ctx: Any, dout: Any, dsums: Any, call: Callable[..., Any] = torch.ops.sextant.attention_backward) -> Any:
    out, sums, query, key, value, *options = ctx.saved_tensors
    width = value.shape[3]
    dout, value, out = with_sums(dout, dsums, value, out)
    wanted = list(ctx.needs_input_grad[: 3 + len(LEARNED)])
    found = iter(call(dout, query, key, value, out, sums, *options, *ctx.constants, wanted))
    gradients = without_sums([next(found) if is_wanted else None for is_wanted in wanted], width)
    return *gradients, *[None] * (len(INDICES) + len(CONSTANTS))


def refuse(ctx: Any, *gradients: Any) -> Any:
    raise UnsupportedError(FIRST_ONLY)


torch.library.register_autograd(forward, derive, setup_context=keep)
torch.library.register_autograd(backward, refuse)
