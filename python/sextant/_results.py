"""What models give: attention maps, translations, scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._core import Picture


@dataclass(frozen=True)
class AttentionMaps:
    """The attention of every layer and head, with its words. A notebook shows the last layer; numpy.asarray() of it is `weights`."""

    weights: NDArray[Any]  # [layers, heads, queries, keys]; each row sums to 1
    queries: list[str]  # the token of each row
    keys: list[str]  # the token of each column
    title: str = "Attention"
    row_name: str = "Queries"  # what the tokens of an axis are
    column_name: str = "Keys"
    hidden: NDArray[Any] | None = None  # [heads, queries, keys] of bool, or of each layer: pairs that a mask or the positions hide
    layers: list[int] | None = None  # of the model, that the maps are of; None: all
    heads: list[int] | None = None  # the same

    @property
    def shape(self) -> tuple[int, ...]:
        return self.weights.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        import numpy as np

        return np.array(self.weights, dtype) if copy else np.asarray(self.weights, dtype)

    def masked(self, layer: int) -> NDArray[Any]:
        """The maps of a layer, [heads, queries, keys], with -inf where a mask or the positions hide a pair."""
        import numpy as np

        place = layer if self.layers is None else self.layers.index(layer)
        if self.hidden is None:
            return self.weights[place]  # type: ignore[no-any-return]
        return np.where(self.hidden[place] if self.hidden.ndim == 4 else self.hidden, np.float32(-np.inf), self.weights[place])

    def picture(self, *, layer: int | None = None, head: int | None = None, lines: bool = False, max_width: float | None = None) -> Picture:
        """The maps of a layer, None: the last; `head`: this one alone; `lines`: lines between the words."""
        from . import plot

        return plot.attention(self, layer=layer, head=head, lines=lines, max_width=max_width)

    def _repr_svg_(self) -> str:
        return self.picture()._repr_svg_()

    def _repr_html_(self) -> str:
        return self.picture()._repr_html_()


class TranslatorMaps(NamedTuple):
    """The attention maps of a pair of sentences."""

    encoder: AttentionMaps  # the source looks at itself
    decoder: AttentionMaps  # what was read of the target looks at itself
    cross: AttentionMaps  # what is written looks at the source
    copied: NDArray[Any] | None  # [written, source]: the probability of copying, where the model can


@dataclass(frozen=True)
class FilledText:
    """A text whose masks are filled."""

    text: str  # with the most probable token in every mask
    masks: list[list[tuple[str, float]]]  # tokens with their probabilities, the most probable first


@dataclass(frozen=True)
class LensLayer:
    """What a layer would write next."""

    name: str  # "embedding", "layer 0", ...
    next_probability: list[float | None]  # of the token that does come next; None where the text ends
    predictions: list[list[tuple[str, float]]]  # after each token: tokens with their probabilities, the most probable first


@dataclass(frozen=True)
class LogitLens:
    """What each layer of a model would write next."""

    tokens: list[str]  # that are read; a translator's decoder reads <bos> and its target
    next: list[str | None]  # what comes after each; None where the text ends
    layers: list[LensLayer]  # what goes into the first layer, then each layer; the last is the model's own distribution


@dataclass(frozen=True)
class WindowScore:
    """How well a text is predicted in windows of one kind."""

    length: int
    stride: int  # length: the windows lie side by side
    perplexity: float  # per token
    bits_per_character: float
    correct_percent: float  # tokens that were the most probable ones


@dataclass(frozen=True)
class TextScore:
    """How well a model predicts a text."""

    tokens: int
    unknown_tokens: int
    characters: int
    windows: list[WindowScore]  # side by side; then sliding ones, if asked for


@dataclass(frozen=True)
class Bleu:
    """BLEU over all pairs (Papineni et al. 2002), with sacreBLEU's tokens and smoothing."""

    score: float  # 0 .. 100
    precisions: list[float]  # of orders 1 .. 4
    brevity_penalty: float
    hypothesis_length: int
    reference_length: int
    signature: str


@dataclass(frozen=True)
class PairScore:
    """How good translations are."""

    translations: list[str]
    bleu: Bleu
    source_bleu: float  # of the sources as they are
    exact_percent: float
    perplexity: float  # per token of the references, their ends included
    reference_tokens: int
    unknown_tokens: int
    seconds: float
    tokens_per_second: float


@dataclass(frozen=True)
class Translation:
    """One of several translations of a sentence."""

    text: str
    tokens: list[int]
    score: float  # with the length penalty: what they are ranked by
    log_probability: float
    finished: bool  # ended by <eos>, not by the length

    @property
    def probability(self) -> float:
        """exp(log_probability), 0 to 1: how sure the model is."""
        return math.exp(self.log_probability)
