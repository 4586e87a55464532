"""PositionalLayer: any scheme of the registry as a module."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from ... import _core
from ..._errors import ArgumentError, ArgumentTypeError, UnsupportedError
from ..._registry import Scheme, scheme_named
from .._operator import is_seen
from .._tensors import in_memory, refuse_tracing
from ._operators import as_text, seen_rotation, seen_table
from ._rotate import rotated
from ._tables import (
    LearnedTable,
    LearnedWaves,
    Recipe,
    check_float,
    checked_positions,
    distances,
    for_channels,
    learned_term,
    rotation,
    vectors,
    waves,
)

# What a kind of scheme needs to know, and what it may be told.
SIZES = {
    "none": ((), ()),
    "added": (("width",), ()),
    "rotated": (("head_dim",), ("heads",)),
    "distance_bias": (("heads",), ()),
    "indexed_bias": (("heads",), ()),
    "content": (("heads", "head_dim"), ()),
}


class RotationForm(NamedTuple):
    """What a rotation's tables have in common, whatever the positions."""

    layout: str
    first_channel: int
    has_one_table: bool  # for queries and keys


class PositionalLayer(torch.nn.Module):
    """A scheme as a module: its weights are parameters by the names of the registry, its parameters are given by name.

    Calling it with a length, or with ids [length] or [length, axes], gives

        added            the vectors [length, width] to add to embeddings
        rotated          (cos, sin), [length, channels] or [heads, length, channels], as Hugging Face's apply_rotary_pos_emb
                         takes them; rotate(q, k) applies them, rotation(length) is for rotation= of attention
        distance_bias    a tensor [heads, 2 * length - 1] of float32, for bias= of attention
        indexed_bias     what bias= of attention takes, with the gradients of its weights
        content          the same
        none             None

    Tables are exact and of the layer's dtype. Weights have first derivatives.

    Args:
        scheme: a name of sextant.schemes(); all but "forgetting", whose gates the model makes of its tokens
        positions: how many there are, or their ids, where initial weights depend on them: rows of "learned", axes of
            "rotary_mixed"
        width, heads, head_dim: what the kind of scheme needs
        dtype: of weights and tables; None: torch's default
        parameters: of the scheme, as sextant.<scheme>() takes them

    Raises:
        ValueError: a value out of its range; the message names it
        TypeError: an argument that is missing or not known
    """

    def __init__(
        self,
        scheme: str,
        positions: Any = 1,
        *,
        width: int | None = None,
        heads: int | None = None,
        head_dim: int | None = None,
        dtype: torch.dtype | None = None,
        **parameters: Any,
    ):
        super().__init__()
        found = scheme_named(scheme, "PositionalLayer.scheme")
        self.scheme = scheme
        if width is not None and "width" in (parameter.name for parameter in found.parameters):
            parameters["width"], width = width, None  # Transformer-XL's, of its sinusoids
        self.recipe = Recipe(
            scheme,
            found.kind,
            checked_sizes(found, {"width": width, "heads": heads, "head_dim": head_dim}),
            checked_parameters(found, parameters),
            tuple(weight.name for weight in found.weights),
        )
        dtype = dtype or torch.get_default_dtype()
        check_float(self.named("dtype"), dtype)
        self.first_positions = checked_positions(self.named("positions"), positions)
        weights = self.recipe.initial_weights(self.first_positions)
        made = self.recipe.make(self.first_positions, "float32")  # what is wrong with the parameters is said now
        self.recipe_text = as_text(self.recipe)
        if self.recipe.kind == "rotated":
            self.form = RotationForm(made.layout, made.first_channel, np.may_share_memory(made.cos, made.keys.cos))
        for name in self.recipe.weights:
            self.register_parameter(name, torch.nn.Parameter(torch.from_numpy(weights[name]).to(dtype)))
        # Follows .to(): the dtype of tables, and the device, which must be the CPU.
        self.register_buffer("like", torch.empty(0, dtype=dtype, device="cpu"), persistent=False)

    def reset_parameters(self) -> None:
        """The initial weights again."""
        with torch.no_grad():
            for name, values in self.recipe.initial_weights(self.first_positions).items():
                getattr(self, name).copy_(torch.from_numpy(values))

    def named(self, argument: str) -> str:
        return f"{type(self).__name__}.{argument}"

    def weights(self) -> tuple[torch.Tensor, ...]:
        return tuple(in_memory(self.named("weights"), getattr(self, name)) for name in self.recipe.weights)

    def checked(self, positions: Any) -> Any:
        refuse_tracing(type(self).__name__)
        for tensor in (in_memory(self.named("weights"), self.like), *self.weights()):
            check_float(self.named("weights"), tensor.dtype)
        return checked_positions(self.named("positions"), positions)

    def forward(self, positions: Any) -> Any:
        if is_seen(self.like):
            return self.seen(positions)
        positions, recipe, weights = self.checked(positions), self.recipe, self.weights()
        if recipe.kind == "rotated":
            return self.cos_sin(positions)
        if recipe.kind == "added":
            return LearnedTable.apply(recipe, positions, *weights) if weights else vectors(recipe, positions, self.like.dtype)
        if recipe.kind == "distance_bias":
            return LearnedTable.apply(recipe, positions, *weights) if weights else distances(recipe, positions)
        if recipe.kind == "none":
            return None
        return learned_term(recipe, positions, weights) if weights else recipe.make(positions, "float32")

    def seen(self, positions: Any) -> Any:
        """forward() by torch's operators."""
        kind = self.recipe.kind
        if kind not in ("none", "added", "rotated", "distance_bias"):
            raise UnsupportedError(f"[{self.named('scheme')}] {self.scheme} cannot be compiled, exported or inside torch.func: make its table outside")
        if kind == "none":
            return None
        if kind == "rotated" and not self.form.has_one_table:
            raise self.two_tables()
        made = seen_table(self.recipe_text, positions, self.like.dtype, [getattr(self, name) for name in self.recipe.weights], like=self.like)
        return made[0] if len(made) == 1 else tuple(for_channels(each, self.form.layout) for each in made)

    def two_tables(self) -> ArgumentError:
        return ArgumentError(f"[{self.named('scheme')}] {self.scheme} has other tables for keys than for queries: use rotate(q, k)")

    def cos_sin(self, positions: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of every rotated channel."""
        recipe, weights = self.recipe, self.weights()
        made = rotation(recipe, positions, self.like.dtype, weights)
        if not np.may_share_memory(made.cos, made.keys.cos):
            raise self.two_tables()
        cos, sin = LearnedWaves.apply(recipe, positions, *weights) if weights else waves(made, self.like.dtype)
        return for_channels(cos, made.layout), for_channels(sin, made.layout)

    def rotation(self, positions: Any) -> _core.RotationTable:
        """The table of a rotation, for rotation= of attention: of float32, without gradients.

        Args:
            positions: a length, or ids [length] or [length, axes]
        """
        return self.rotation_of(positions, torch.float32)

    def rotation_of(self, positions: Any, dtype: torch.dtype) -> _core.RotationTable:
        if self.recipe.kind != "rotated":
            raise ArgumentTypeError(f"[{self.named('scheme')}] must be a rotation, got {self.scheme}")
        return rotation(self.recipe, self.checked(positions), dtype, self.weights())

    def rotate(self, q: torch.Tensor, k: torch.Tensor, positions: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Rotated queries and keys, with gradients of them and of the weights.

        Args:
            q, k: [batch, heads, length, head_dim]; k may have fewer heads
            positions: of both: a length, or ids [length] or [length, axes]; None: 0 .. length - 1
        """
        if is_seen(q, k) and self.recipe.kind == "rotated":
            return self.rotate_seen(q, k, q.shape[-2] if positions is None else positions)
        q, k = in_memory(self.named("q"), q), in_memory(self.named("k"), k)
        for name, tensor in (("q", q), ("k", k)):
            check_float(self.named(name), tensor.dtype)
        positions = q.shape[-2] if positions is None else positions
        made = self.rotation_of(positions, q.dtype)
        if not self.weights():
            return rotated(q, made), rotated(k, made.keys)
        cos, sin = (x.to(q.dtype) for x in LearnedWaves.apply(self.recipe, self.checked(positions), *self.weights()))
        return rotated(q, made, (cos, sin)), rotated(k, made, (cos, sin))

    def rotate_seen(self, q: torch.Tensor, k: torch.Tensor, positions: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """rotate() by torch's operators."""
        text, weights = self.recipe_text, [getattr(self, name) for name in self.recipe.weights]
        if not weights:
            return seen_rotation(q, text, positions, False), seen_rotation(k, text, positions, True)
        cos, sin = (each.to(q.dtype) for each in seen_table(text, positions, weights[0].dtype, weights))
        return rotated(q, self.form, (cos, sin)), rotated(k, self.form, (cos, sin))

    def extra_repr(self) -> str:
        given = {**self.recipe.sizes, **self.recipe.parameters}
        return ", ".join([repr(self.scheme), *(f"{name}={value!r}" for name, value in given.items())])


def checked_sizes(scheme: Scheme, given: dict[str, int | None]) -> dict[str, int]:
    needed, allowed = SIZES[scheme.kind]
    for name, value in given.items():
        if value is None and name in needed:
            raise ArgumentTypeError(f"[PositionalLayer.{name}] is needed by {scheme.name}")
        if value is not None and name not in needed + allowed:
            raise ArgumentTypeError(f"[PositionalLayer.{name}] is not needed by {scheme.name}, got {value}")
    return {name: value for name, value in given.items() if value is not None}


def checked_parameters(scheme: Scheme, given: dict[str, Any]) -> dict[str, Any]:
    names = [parameter.name for parameter in scheme.parameters]
    for name in given:
        if name not in names:
            raise ArgumentTypeError(f"[PositionalLayer.{name}] must be one of {', '.join(names) or 'no parameters'}, those of {scheme.name}")
    for parameter in scheme.parameters:
        if parameter.required and parameter.name not in given:
            raise ArgumentTypeError(f"[PositionalLayer.{parameter.name}] is needed by {scheme.name}")
    if scheme.name == "forgetting":
        raise ArgumentError("[PositionalLayer.scheme] must not be forgetting, whose gates a model makes of its tokens: use sextant.forgetting()")
    return given
