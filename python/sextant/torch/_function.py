"""The operator as a function of tensors that has gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

import torch
from torch.autograd import forward_ad
from torch.utils.dlpack import to_dlpack

from .. import _core
from .._errors import ArgumentError, UnsupportedError
from ._tensors import functorch, in_memory, kept, new_memory

# Options that may be tensors that need gradients, in the order of the function's arguments.
LEARNED = ("mask", "bias", "slopes", "sinks")
# Options that are lists of numbers to the operator.
LISTS = ("slopes", "sinks", "segments", "key_segments", "key_lengths", "query_offsets")
FIRST_ONLY = "[sextant.torch] attention has first derivatives only: a second one (create_graph=True) is not computed"


@dataclass(frozen=True)
class LearnedTerm:
    """A table of the operator's that is no tensor, made from weights that are: what learned terms of
    the scores give. Goes where bias= goes."""

    table: Any  # ScoreTerm
    weights: tuple[torch.Tensor, ...]
    gradients: Callable[[Any], tuple[torch.Tensor, ...]]  # of the weights, from that of the table's parameters
    versions: tuple[int, ...]  # of the weights, when the table was made


class Call(NamedTuple):
    """What stays the same between the forward and the backward pass, but for tensors with gradients."""

    options: dict[str, Any]  # without what is in LEARNED
    tables: list[Any]  # of the bias: what is no tensor
    term: LearnedTerm | None
    term_index: int  # of `term` among the ScoreTerms of the bias


def prepared(options: dict[str, Any]) -> tuple[Call, list[torch.Tensor | None]]:
    """Options as the operator takes them, and the tensors among them that may have gradients: LEARNED, then weights."""
    options = {name: value for name, value in options.items() if value is not None}
    bias = options.pop("bias", None)
    learned: dict[str, torch.Tensor] = {}
    tables: list[Any] = []
    term: LearnedTerm | None = None
    index = 0
    for part in bias if isinstance(bias, (list, tuple)) else [] if bias is None else [bias]:
        if isinstance(part, torch.Tensor):
            if "bias" in learned:
                raise ArgumentError("[attention.bias] must have at most one bias by distance")
            learned["bias"] = in_memory("attention.bias", part)
        elif isinstance(part, LearnedTerm):
            index = sum(isinstance(table, _core.ScoreTerm) for table in tables)
            tables.append(part.table)
            if term is not None:
                raise ArgumentError("[attention.bias] must have one table with weights")
            if part.versions != versions_of(part.weights):
                raise ArgumentError("[attention.bias] must be made again: its weights have changed")
            term = part
        else:
            tables.append(part)
    for name in LEARNED:
        if isinstance(options.get(name), torch.Tensor):
            learned[name] = in_memory(f"attention.{name}", options.pop(name))
    tensors = [learned.get(name) for name in LEARNED]
    fixed = {name: plain(name, value) for name, value in options.items()}
    return Call(fixed, tables, term, index), tensors + list(term.weights if term else ())


def versions_of(tensors: tuple[torch.Tensor, ...]) -> tuple[int, ...]:
    """How often each was changed in place; torch does not count that of tensors of inference mode."""
    return tuple(0 if tensor.is_inference() else tensor._version for tensor in tensors)


def plain(name: str, value: Any) -> Any:
    """An option without gradients, and as a list where the operator reads numbers one by one."""
    if isinstance(value, tuple) and name == "positions":
        return tuple(plain(name, ids) for ids in value)
    if not isinstance(value, torch.Tensor):
        return value
    value = in_memory(f"attention.{name}", value).detach()
    return value.tolist() if name in LISTS else int(value) if name == "dropout_seed" else value


def with_tensors(call: Call, tensors: Any) -> dict[str, Any]:
    """All options, for a call of the operator."""
    options = dict(call.options)
    bias = list(call.tables)
    for name, tensor in zip(LEARNED, tensors):
        if tensor is None:
            continue
        if name == "bias":
            bias.append(tensor.detach())
        else:
            options[name] = plain(name, tensor)
    if bias:
        options["bias"] = bias
    return options


def needs_gradients(tensors: Any) -> bool:
    if getattr(forward_ad, "_current_level", -1) >= 0:
        return True  # torch then refuses forward-mode derivatives, by name, where a tensor has one
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors)


def attend_into(out: Any, sums: Any, query: Any, key: Any, value: Any, options: dict[str, Any]) -> None:
    """_core.attention() on DLPack's capsules, which take a tenth of the time of tensors: these are asked for one in Python."""
    _core.attention(to_dlpack(query), to_dlpack(key), to_dlpack(value), to_dlpack(out), None if sums is None else to_dlpack(sums), options)


class Attention(torch.autograd.Function):
    """attention(query, key, value, **options) and the log-sum-exp of each row, with the first derivatives of every tensor."""

    @staticmethod
    def forward(ctx: Any, call: Call, query: Any, key: Any, value: Any, *tensors: Any) -> Any:
        sums = new_memory("scaled_dot_product_attention", query.shape[:3], torch.float32)
        options = with_tensors(call, tensors)
        out = new_output(query, value)
        attend_into(out, sums, query, key, value, options)
        ctx.call = call
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(query, key, value, out, sums, *tensors)
        return out, sums

    @staticmethod
    def backward(ctx: Any, dout: Any, dsums: Any) -> Any:
        wanted = ctx.needs_input_grad[1:]
        query, key, value, out, *others = ctx.saved_tensors
        width = value.shape[3]
        dout, value, out = with_sums(dout, dsums, value, out)
        compute = AttentionGradient.apply if functorch.peek_interpreter_stack() is None else gradients_of_a_batch
        return None, *without_sums(compute(ctx.call, wanted, dout, query, key, value, out, *others), width)


def with_sums(dout: Any, dsums: Any, value: Any, out: Any) -> tuple[Any, Any, Any]:
    """dout, value and out of a backward pass for which the log-sum-exp of the rows has the gradient `dsums`.

    The gradient of a score is P_ij (sum_c dout_ic v_jc - sum_c dout_ic out_ic + dsums_i): a channel more, in which v is 0 and out is -1,
    has dsums as its dout. A second one has what the rounding of dsums to 16 bits left.
    """
    if dout is None:
        dout = torch.zeros_like(out)
    if dsums is None:
        return dout, value, out
    high = dsums.to(out.dtype)
    dout = torch.cat([dout, torch.stack([high, (dsums - high).to(out.dtype)], 3)], 3)
    return dout, torch.nn.functional.pad(value, (0, 2)), torch.nn.functional.pad(out, (0, 2), value=-1.0)


def without_sums(gradients: Any, width: int) -> list[Any]:
    """Gradients of query, key, value and others, that of value without the channels of with_sums()."""
    return [grad[..., :width] if i == 2 and grad is not None else grad for i, grad in enumerate(gradients)]


class AttentionGradient(torch.autograd.Function):
    """The backward pass of Attention. It is a separate function, so that a second derivative is an error and not a zero."""

    @staticmethod
    def forward(ctx: Any, call: Call, wanted: Any, dout: Any, query: Any, key: Any, value: Any, out: Any, sums: Any, *tensors: Any) -> Any:
        dout = in_memory("scaled_dot_product_attention.grad_outputs", dout)
        names = [name for name, needed in zip(("dq", "dk", "dv", *("d" + name for name in LEARNED)), wanted) if needed]
        if any(wanted[3 + len(LEARNED) :]):
            names += ["dterms"]
        arrays = _core.attention_backward(
            dout, query.detach(), key.detach(), value.detach(), out.detach(), sums, with_tensors(call, tensors), frozenset(names)
        )
        result = [arrays.get("dq"), arrays.get("dk"), arrays.get("dv")]
        for name, tensor in zip(LEARNED, tensors):
            gradient = arrays.get("d" + name)
            result.append(None if gradient is None or tensor is None else gradient.to(tensor.dtype))
        if call.term is not None:
            flat = arrays.get("dterms")
            unknown = [None] * len(call.term.weights)
            result += unknown if flat is None else call.term.gradients(flat[call.term_index])
        return tuple(result)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise UnsupportedError(FIRST_ONLY)


def gradients_of_a_batch(call: Call, wanted: Any, *tensors: Any) -> Any:
    """The backward pass by torch's operator, which knows what a batch of gradients is."""
    from ._transforms import gradient_of_call

    if call.term is not None:
        raise UnsupportedError("[scaled_dot_product_attention.bias] with weights has no gradients of a batch (is_grads_batched, vectorize)")
    return gradient_of_call(call, wanted, *tensors)


def new_output(query: Any, value: Any) -> Any:
    """[batch, heads, q_len, v_dim], with the heads of a token side by side in memory where those of query are, as torch's."""
    batch, heads, length = query.shape[:3]
    if 0 < query.stride(1) < query.stride(2):
        return new_memory("scaled_dot_product_attention", (batch, length, heads, value.shape[3]), query.dtype).transpose(1, 2)
    return new_memory("scaled_dot_product_attention", (batch, heads, length, value.shape[3]), query.dtype)


def attention(query: Any, key: Any, value: Any, options: dict[str, Any], sums_too: bool = False) -> tuple[Any, Any]:
    """The operator on tensors [batch, heads, length, head_dim] of the CPU; and the log-sum-exp of each row, where gradients need it too."""
    call, tensors = prepared(options)
    if needs_gradients((query, key, value, *tensors)):
        call = Call({name: kept(value) for name, value in call.options.items()}, kept(call.tables), call.term, call.term_index)
        return Attention.apply(call, query, key, value, *tensors)
    options = with_tensors(call, tensors)
    sums = new_memory("scaled_dot_product_attention", query.shape[:3], torch.float32) if sums_too else None
    out = new_output(query, value)
    attend_into(out, sums, query, key, value, options)
    return out, sums
