"""The masks of Hugging Face's models whose attention is "sextant", as a separate class."""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch.utils._pytree import tree_map
from .._errors import ArgumentError

TensorFunctions = torch._C.DisableTorchFunctionSubclass
# What asks for a tensor's place in memory, not for its values.
OF_MEMORY = {
    getattr(torch.Tensor, name)
    for name in ("size", "dim", "numel", "__len__", "stride", "storage_offset", "is_contiguous", "is_floating_point", "data_ptr", "_is_view")
}
# What takes a mask as a condition, and gives numbers that are not the mask's.
CONDITIONS = (
    torch.where,
    torch.Tensor.where,
    torch.masked_fill,
    torch.Tensor.masked_fill,
    torch.Tensor.masked_fill_,
    torch.Tensor.__getitem__,
    torch.Tensor.__setitem__,
)


def no_interface(where: str, models: str) -> ArgumentError:
    """The error for models whose attention cannot be replaced."""
    return ArgumentError(f'[{where}] needs attention that goes through transformers\' AttentionInterface, which {models} does not: use "eager"')


class ModelMask(torch.Tensor):
    """A mask of bool [batch, 1, q_len, k_len] that only attention_forward() reads as one.

    transformers gives the mask of "sextant" to every model that was loaded by that name, and some models have attention of their
    own, which adds masks to scores: numbers, to which True would add 1. This class has the functions of torch that take a mask for
    a condition or give another mask; everything else raises ValueError.

    A causal mask has no memory: its values are made when something asks for them.
    """

    values: Callable[[], torch.Tensor] | None  # of a causal mask; None: they are the tensor's
    model: str

    @staticmethod
    def of(mask: torch.Tensor, model: str, values: Callable[[], torch.Tensor] | None = None) -> ModelMask:
        made: ModelMask = torch.Tensor._make_subclass(ModelMask, mask)
        made.values, made.model = values, model
        return made

    @property
    def is_causal(self) -> bool:
        """Whether key j is seen by query i where j <= i, and nothing else is hidden."""
        return self.values is not None

    def plain(self) -> torch.Tensor:
        if self.values is not None:
            return self.values()
        with TensorFunctions():
            return self.as_subclass(torch.Tensor)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        options = options or {}
        with TensorFunctions():
            if function in OF_MEMORY or getattr(function, "__name__", "") == "__get__":
                result = function(*arguments, **options)
                if not isinstance(result, torch.Tensor):
                    return result
            models: list[str] = []

            def plain(value: Any) -> Any:
                if not isinstance(value, ModelMask):
                    return value
                models.append(value.model)
                return value.plain()

            arguments, options = tree_map(plain, (arguments, options))

            def again(value: Any) -> Any:
                if not isinstance(value, torch.Tensor):
                    return value
                if value.dtype == torch.bool:
                    return ModelMask.of(value, models[0])
                if function in CONDITIONS:
                    return value
                raise no_interface("attn_implementation", models[0])

            return tree_map(again, function(*arguments, **options))
