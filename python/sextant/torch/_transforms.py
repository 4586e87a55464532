"""The operator inside torch.func: transforms do not see the derivatives of torch.library's operators."""

from __future__ import annotations

from typing import Any

import torch

from .._errors import UnsupportedError
from ._batches import backward_of_a_batch, forward_of_a_batch
from ._function import LEARNED
from ._operator import derive, in_words_of_operator, keep, refuse


class Transformed(torch.autograd.Function):
    """The operator for torch.func, which does not see derivatives of torch.library's operators."""

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return torch.ops.sextant.attention(*arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        keep(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return derive(ctx, gradients[0], gradients[1], TransformedGradient.apply)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise UnsupportedError("[sextant.torch] attention has derivatives by the backward pass only: forward mode (jvp, jacfwd, hessian) is not computed")

    @staticmethod
    def vmap(info: Any, axes: Any, *arguments: Any) -> Any:
        return forward_of_a_batch(info, axes, *arguments)


class TransformedGradient(torch.autograd.Function):
    """Its backward pass."""

    @staticmethod
    def forward(*arguments: Any) -> Any:
        return tuple(torch.ops.sextant.attention_backward(*arguments))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    backward = staticmethod(refuse)
    jvp = staticmethod(refuse)

    @staticmethod
    def vmap(info: Any, axes: Any, *arguments: Any) -> Any:
        made, made_axes = backward_of_a_batch(info, axes, *arguments)
        return tuple(made), tuple(made_axes)


def gradient_of_call(call: Any, wanted: Any, dout: Any, query: Any, key: Any, value: Any, out: Any, sums: Any, *tensors: Any) -> list[Any]:
    """Gradients of the tensors of a plain call, inside a transform that came later."""
    options = {**call.options, **{name: tensor for name, tensor in zip(LEARNED, tensors) if name != "bias"}}
    biases = [*call.tables, *(tensor for name, tensor in zip(LEARNED, tensors) if name == "bias" and tensor is not None)]
    arguments = in_words_of_operator({**options, "bias": biases})
    found = iter(TransformedGradient.apply(dout, query, key, value, out, sums, *arguments, list(wanted[: 3 + len(LEARNED)])))
    return [next(found) if is_wanted else None for is_wanted in wanted]
