"""The attention "sextant" of Hugging Face's models, registered with transformers as soon as something imports that."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from types import ModuleType
from typing import Any, TypeVar

import torch

from .._errors import ArgumentError, ArgumentTypeError
from . import _record
from ._attention import scaled_dot_product_attention
from ._model_mask import ModelMask, no_interface
from ._on_import import on_import

NAME = "sextant"
# Arguments of a few models that change which keys are seen, in ways that this attention does not know.
UNKNOWN = ("cache", "indices", "block_indices", "sinks")

# Where a model's file takes classes of attention from its own table, which has no "sextant".
OWN_CLASSES = re.compile(r"\b\w+_CLASSES\[[\w.]*_attn_implementation\]")

Model = TypeVar("Model")

# Models of which a part computes attention itself, which a compiled graph does not notice.
OWN_PARTS = ("bigbird_pegasus", "git")
collector: Any = None  # of transformers: what a call of a model collects


def attention_forward(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """What models call: query [batch, heads, q_len, head_dim], key and value [batch, kv_heads, k_len, ...] -> [batch, q_len, heads,
    v_dim], and the weights, before dropout, where output_attentions asks for them. The mask is model_mask()'s, one of the model's own, or None."""
    for name in UNKNOWN:
        if others.get(name) is not None:
            raise ArgumentError(f"[sextant.{name}] is an argument of {type(module).__name__} that this attention does not know")
    options: dict[str, Any] = {"softcap": softcap, "sinks": s_aux}
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    if isinstance(attention_mask, ModelMask):
        is_causal = attention_mask.is_causal
        attention_mask = None if is_causal else attention_mask.plain()
    if attention_mask is None and is_causal and query.shape[2] > 1:
        options["causal"] = "top_left"  # a cache of a fixed size has keys behind the last query: not written yet
        if sliding_window is not None:
            options["window"] = (sliding_window - 1, 0)
    if position_bias is not None:
        attention_mask = with_bias(position_bias, attention_mask)
    out = scaled_dot_product_attention(query, key, value, attention_mask, dropout_p=dropout, scale=scaling, enable_gqa=True, **options)
    weights = None
    if _record.active or wants_weights(others):
        weights = recorded(module, query, key, {**options, "mask": attention_mask, "scale": scaling}, others)
    return out.transpose(1, 2).contiguous(), weights


def wants_weights(others: dict[str, Any]) -> bool:
    """Whether output_attentions=True was asked of the model: models pass it on, or collect what comes back."""
    if others.get("output_attentions"):
        return True
    collected = None if collector is None else collector.get()
    return collected is not None and any(name.endswith("attentions") for name in collected)


def recorded(module: torch.nn.Module, query: Any, key: Any, options: dict[str, Any], others: dict[str, Any]) -> torch.Tensor | None:
    """The weights for the records that run, and those that output_attentions wants."""
    for each in _record.active:
        each.take(module, query, key, options)
    return _record.weights_of(query, key, options) if wants_weights(others) else None


def with_bias(bias: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """One float mask of a bias and a mask of bool or of numbers to add."""
    if mask is None:
        return bias
    return torch.where(mask, bias, -torch.inf) if mask.dtype == torch.bool else bias + mask


def model_mask(*, q_length: int, kv_length: int, batch_size: int, config: Any = None, allow_is_causal_skip: bool = True, **options: Any) -> Any:
    """What transformers calls for the mask of a model: sdpa_mask()'s as a ModelMask, or None where all is seen."""
    from transformers.masking_utils import sdpa_mask

    make = functools.partial(sdpa_mask, q_length=q_length, kv_length=kv_length, batch_size=batch_size, config=config, **options)
    if torch.compiler.is_compiling():
        if getattr(config, "model_type", None) in OWN_PARTS:
            raise no_interface("attn_implementation", f"the model of this {type(config).__name__}")
        return make(allow_is_causal_skip=allow_is_causal_skip)
    made = make(allow_is_causal_skip=allow_is_causal_skip)
    model = f"the model of this {type(config).__name__}"
    if made is not None:
        return ModelMask.of(made, model)
    if not allow_is_causal_skip or q_length == 1:
        return None
    empty = torch.empty_strided((batch_size, 1, q_length, kv_length), (0, 0, 0, 0), dtype=torch.bool, device=options.get("device", "cpu"))
    return ModelMask.of(empty, model, functools.partial(make, allow_is_causal_skip=False))



def patch(model: Model) -> Model:
    """Replaces the attention of a Hugging Face model by the operator's; model.set_attn_implementation(...) puts it back.

    Args:
        model: a transformers.PreTrainedModel whose attention goes through transformers' AttentionInterface

    Returns:
        The model.

    Raises:
        TypeError: what is no such model
        ValueError: a model, or a part of one, whose attention cannot be replaced; nothing has changed then
        ImportError: transformers is not installed, too old, or of a version that is not known here
    """
    try:
        from transformers import AttentionMaskInterface, PreTrainedModel  # noqa: F401
    except ImportError:
        raise ImportError("sextant.torch.patch() needs transformers 5 (pip install transformers)") from None
    if lacks := lacking(PreTrainedModel):
        raise unknown_version(lacks)
    if not isinstance(model, PreTrainedModel):
        raise ArgumentTypeError(f"[patch.model] must be a model of transformers, got {type(model).__name__}")
    parts = [part for part in model.modules() if isinstance(part, PreTrainedModel)]
    before = [part.config._attn_implementation for part in parts]
    model.set_attn_implementation(NAME)
    left = sorted({type(part).__name__ for part in parts if part.config._attn_implementation != NAME})
    if left:
        for part, implementation in zip(parts, before):
            part.config._attn_implementation = implementation
        raise no_interface("patch.model", ", ".join(left))
    return model


def register(modeling_utils: ModuleType) -> None:
    """The attention, its masks, and a check of every model that is made with them."""
    try:
        from transformers.masking_utils import AttentionMaskInterface
    except ImportError:
        return  # too old: patch() says so
    base = modeling_utils.PreTrainedModel
    if lacks := lacking(base):

        def refuse(*arguments: Any, **options: Any) -> Any:
            raise unknown_version(lacks)

        modeling_utils.AttentionInterface.register(NAME, refuse)
        AttentionMaskInterface.register(NAME, refuse)
        return
    modeling_utils.AttentionInterface.register(NAME, attention_forward)
    AttentionMaskInterface.register(NAME, model_mask)
    global collector
    try:
        from transformers.utils.output_capturing import _active_collector

        collector = _active_collector
    except ImportError:
        pass  # models of that version pass output_attentions on
    choose = base.get_correct_attn_implementation

    @functools.wraps(choose)
    def checked(self: Any, requested_attention: str | None, *others: Any, **options: Any) -> str:
        if requested_attention == NAME:
            check_interface(type(self), base)
        return choose(self, requested_attention, *others, **options)

    base.get_correct_attn_implementation = checked


def lacking(base: Any) -> list[str]:
    """Methods of PreTrainedModel that are used here and that this transformers does not have: they are no part of its interface."""
    return [name for name in ("get_correct_attn_implementation", "_can_set_attn_implementation") if not hasattr(base, name)]


def unknown_version(lacks: list[str]) -> ImportError:
    from transformers import __version__

    return ImportError(f"sextant.torch does not know transformers {__version__}: its PreTrainedModel has no {' and no '.join(lacks)}")


def check_interface(model: Any, base: Any) -> None:
    """Throws where the file of a model, or of a model it is derived from, has attention that does not go through the interface.
    transformers reads the source; of a class without a file, as in a notebook, that of its bases is read."""
    for part in model.__mro__:
        has_file = hasattr(sys.modules.get(part.__module__), "__file__")
        if not issubclass(part, base) or part is base or not has_file:
            continue
        if not part._can_set_attn_implementation() or OWN_CLASSES.search(inspect.getsource(sys.modules[part.__module__])):
            raise no_interface("attn_implementation", model.__name__)


on_import("transformers.modeling_utils", register)
