"""Which tensors the operator can read, and memory for its results."""

from __future__ import annotations

import copy
from array import array
from typing import Any

import numpy as np
import torch
from .._errors import ArgumentError, ArgumentTypeError, UnsupportedError

functorch = torch._C._functorch
# A tensor whose numbers lie in memory as its shape and strides say has one of these sets of dispatch keys.
with torch.inference_mode():
    ORDINARY = {torch._C._dispatch_keys(torch.empty(0, device="cpu")).raw_repr()}
ORDINARY.add(torch._C._dispatch_keys(torch.empty(0, device="cpu")).raw_repr())
PLAIN_CLASSES = (torch.Tensor, torch.nn.Parameter)


def in_memory(where: str, tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or one with the same numbers whose negative or conjugate bit is not set.

    Raises:
        NotImplementedError: inside torch.func, vmap, or gradients of a batch
        ValueError: not in the memory of the CPU
        TypeError: numbers that are not in memory as shape and strides say: nested, sparse, fake, of a class that changes the meaning of its values
    """
    keys = torch._C._dispatch_keys(tensor).raw_repr()
    if keys in ORDINARY and (type(tensor) in PLAIN_CLASSES or not has_own_meaning(tensor)):
        return tensor
    if functorch.is_functorch_wrapped_tensor(tensor) or functorch.is_legacy_batchedtensor(tensor):
        raise UnsupportedError(
            f"[{where}] must not be inside torch.func (vmap, grad, ...) or gradients of a batch (is_grads_batched, vectorize): "
            "these are not computed"
        )
    kind = kind_of(tensor)
    if kind is not None:
        raise ArgumentTypeError(f"[{where}] must be a tensor whose numbers are in memory, got {kind}")
    if tensor.device.type != "cpu":
        raise ArgumentError(f"[{where}] must be in the memory of the CPU, got a tensor on {tensor.device}")
    if tensor._is_zerotensor():
        return torch.zeros(tensor.shape, dtype=tensor.dtype, device="cpu")
    return tensor.resolve_conj().resolve_neg()


in_memory._torchdynamo_disable = True  # type: ignore[attr-defined]  # it looks at tensors that exist


def has_own_meaning(tensor: torch.Tensor) -> bool:
    """Whether its class overrides what torch's functions do with it."""
    function = type(tensor).__torch_function__
    ordinary = getattr(function, "__func__", function) in (torch.Tensor.__torch_function__.__func__, torch._C._disabled_torch_function_impl)
    return not ordinary or type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


def kind_of(tensor: torch.Tensor) -> str | None:
    """What a tensor is, if its numbers are not in memory as its shape and strides say."""
    if has_own_meaning(tensor):
        return f"{type(tensor).__module__}.{type(tensor).__name__}"
    if tensor.is_nested:
        return "a nested tensor"
    if tensor.layout is not torch.strided:
        return f"one of the layout {str(tensor.layout).removeprefix('torch.').removeprefix('_')}"
    return "a quantized tensor" if tensor.is_quantized else None


def refuse_tracing(where: str) -> None:
    """Throws where a graph is recorded: it would allocate a result, and not compute it."""
    if torch.jit.is_tracing():
        raise UnsupportedError(f"[{where}] cannot be traced: torch.jit.trace and torch.onnx.export(dynamo=False) do not see its computation")


def new_memory(where: str, shape: Any, dtype: torch.dtype) -> torch.Tensor:
    """Memory of the CPU that the library writes."""
    refuse_tracing(where)
    return torch.empty(shape, dtype=dtype, device="cpu")


def kept(value: Any) -> Any:
    """The value as it is now, for the backward pass: a copy of arrays and lists, which may change before it."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(kept(part) for part in value)
    return copy.copy(value) if isinstance(value, (np.ndarray, array)) else value
