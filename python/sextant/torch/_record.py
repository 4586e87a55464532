"""record(): attention weights of chosen layers, heads and rows of a Hugging Face model, while it runs."""

from __future__ import annotations

import re
from typing import Any, Iterator, Mapping, Sequence

import torch

from .._attention import attention_weights
from .._errors import ArgumentError, ArgumentTypeError
from ._tensors import in_memory

NAME = "sextant"
MAX_BYTES = 1 << 30

active: list[AttentionRecord] = []  # those inside their `with`


def layer_number(name: str, module: Any) -> int | None:
    """The number of a module's layer: its own, else the last one in its name."""
    own = getattr(module, "layer_idx", None)
    found = re.findall(r"(?:^|\.)(\d+)(?=\.|$)", name)
    return own if isinstance(own, int) else int(found[-1]) if found else None


def whole_numbers(given: Any, argument: str) -> list[int] | None:
    if given is None:
        return None
    numbers = [given] if isinstance(given, int) else list(given)
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise ArgumentTypeError(f"[record.{argument}] must be whole numbers from 0, got {number!r}")
    if not numbers:
        raise ArgumentError(f"[record.{argument}] must not be empty")
    return numbers


class AttentionRecord(Mapping[Any, torch.Tensor]):
    """The weights of the last call of each layer: record[3] is [batch, heads, rows, keys]; what record() gives."""

    def __init__(self, model: Any, layers: Any, heads: Any, rows: Any, max_bytes: int):
        from transformers import PreTrainedModel

        if not isinstance(model, PreTrainedModel):
            raise ArgumentTypeError(f"[record.model] must be a model of transformers, got {type(model).__name__}")
        parts = [part for part in model.modules() if isinstance(part, PreTrainedModel)]
        if not any(part.config._attn_implementation == NAME for part in parts):
            used = model.config._attn_implementation
            raise ArgumentError(f'[record.model] must run with attn_implementation="sextant", got {used!r}: use sextant.torch.patch(model)')
        self.names = {module: name for name, module in model.named_modules()}
        self.layers = None if layers is None else [layers] if isinstance(layers, (int, str)) else list(layers)
        self.heads, self.rows = whole_numbers(heads, "heads"), whole_numbers(rows, "rows")
        self.max_bytes = max_bytes
        self.by_number = not getattr(model.config, "is_encoder_decoder", False)
        self.maps: dict[Any, torch.Tensor] = {}
        self.modules: dict[Any, torch.nn.Module] = {}
        for layer in self.layers or []:
            self.check(layer)

    def check(self, layer: Any) -> None:
        if isinstance(layer, str):
            if not any(name == layer for name in self.names.values()):
                raise ArgumentError(f"[record.layers] must be modules of the model, got {layer!r}")
        elif not isinstance(layer, int) or isinstance(layer, bool):
            raise ArgumentTypeError(f"[record.layers] must be numbers of layers or names of modules, got {layer!r}")
        elif not self.by_number:
            raise ArgumentError("[record.layers] must be names of modules in a model of an encoder and a decoder, as model.named_modules() has them")
        elif not any(layer_number(name, module) == layer for module, name in self.names.items()):
            raise ArgumentError(f"[record.layers] must be layers of the model, got {layer}")

    def key_of(self, module: torch.nn.Module) -> Any:
        """What the map of a module is called; None where it is not asked for."""
        name = self.names.get(module)
        if name is None:
            return None
        number = layer_number(name, module) if self.by_number else None
        if self.layers is None:
            return name if number is None else number
        return name if name in self.layers else number if number in self.layers else None

    def take(self, module: torch.nn.Module, query: Any, key: Any, options: dict[str, Any]) -> None:
        place = self.key_of(module)
        if place is None:
            return
        other = self.modules.setdefault(place, module)
        if other is not module:
            raise ArgumentError(f"[record.layers] must be names of modules, as {self.names[other]} and {self.names[module]} have the number {place}")
        for chosen, size, argument in ((self.heads, query.shape[1], "heads"), (self.rows, query.shape[2], "rows")):
            if chosen is not None and max(chosen) >= size:
                raise ArgumentError(f"[record.{argument}] must be 0 .. {size - 1}, got {max(chosen)}")
        heads, rows = (len(chosen) if chosen else size for chosen, size in ((self.heads, query.shape[1]), (self.rows, query.shape[2])))
        kept = sum(weights.nbytes for at, weights in self.maps.items() if at != place)
        needed = kept + query.shape[0] * heads * rows * key.shape[2] * query.element_size()
        if needed > self.max_bytes:
            raise ArgumentError(
                f"[record.max_bytes] must be {needed} or more for the maps of {len(self.maps) + (place not in self.maps)} layers, "
                f"got {self.max_bytes}: choose fewer layers, heads or rows"
            )
        self.maps[place] = weights_of(query, key, options, heads=self.heads, rows=self.rows)

    def __getitem__(self, layer: Any) -> torch.Tensor:
        if layer not in self.maps:
            there = ", ".join(map(repr, self.maps)) or "none: the model has not run"
            raise KeyError(f"no map of layer {layer!r}; there is {there}")
        return self.maps[layer]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.maps)

    def __len__(self) -> int:
        return len(self.maps)

    def __enter__(self) -> AttentionRecord:
        active.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        active[:] = [each for each in active if each is not self]

    def __repr__(self) -> str:
        return f"AttentionRecord({ {layer: list(weights.shape) for layer, weights in self.maps.items()} })"


def record(
    model: Any,
    *,
    layers: int | str | Sequence[int | str] | None = None,
    heads: int | Sequence[int] | None = None,
    rows: int | Sequence[int] | None = None,
    max_bytes: int = MAX_BYTES,
) -> AttentionRecord:
    """Attention weights of a Hugging Face model, computed where they are asked for while it runs inside the ``with``.

    ::

        with sextant.torch.record(model, layers=[3], heads=[5]) as maps:
            model(**inputs)
        sextant.plot.attention(maps[3][0], tokens)

    Args:
        model: a transformers.PreTrainedModel that runs with attn_implementation="sextant"
        layers: numbers of layers, or names of modules of attention as model.named_modules() has them, which models of an encoder and a
            decoder need; None: all
        heads: which query heads; None: all
        rows: which queries of the call; None: all
        max_bytes: of all maps together; what needs more is refused before it is computed

    Returns:
        A mapping from the layers to their weights [batch, heads, rows, keys], of the query's dtype and without gradients, of each
        layer's last call. Hidden pairs are 0.

    Raises:
        ValueError, TypeError: a model of another attention, a layer, head or row that is not there; maps that are too large
    """
    return AttentionRecord(model, layers, heads, rows, max_bytes)


def weights_of(query: Any, key: Any, options: dict[str, Any], **chosen: Any) -> torch.Tensor:
    """The weights of attention_forward()'s call."""
    given = {name: option for name, option in {**options, **chosen}.items() if option is not None}
    given = {name: in_memory(f"record.{name}", option).detach() if isinstance(option, torch.Tensor) else option for name, option in given.items()}
    for name in ("sinks",):
        if name in given:
            given[name] = given[name].tolist()
    if isinstance(given.get("mask"), torch.Tensor) and given["mask"].dtype != torch.bool:
        given["mask"] = given["mask"].to(query.dtype)
    query, key = (in_memory("record.model", tensor).detach() for tensor in (query, key))
    made = attention_weights(query, key, **given)
    return made if isinstance(made, torch.Tensor) else torch.from_numpy(made)


weights_of._torchdynamo_disable = True  # type: ignore[attr-defined]  # numbers that exist
AttentionRecord.take._torchdynamo_disable = True  # type: ignore[attr-defined]
