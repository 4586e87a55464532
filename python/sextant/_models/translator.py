"""Translators: losses and gradients, translations, scores, attention maps."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence, overload

from .. import _core
from .._calls import _LensOfPairs, _NewTranslator, _ScoresPairs, _Translates
from .._results import AttentionMaps, Bleu, LogitLens, PairScore, Translation, TranslatorMaps
from .._sources import chosen_of, elements_of, flag_of, integer_of, named, pairs_of
from .model import Model, lens_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._types import Integers, Pairs


class Translator(Model, _NewTranslator, _Translates, _ScoresPairs, _LensOfPairs):
    """An encoder and a decoder; of several models, an ensemble whose probabilities are averaged."""

    _kind = "translator"
    _core: _core.Translator

    @overload
    def loss(
        self,
        source: Sequence[str] | Sequence[Integers],
        target: Sequence[str] | Sequence[Integers],
        *,
        gradients: Literal[False] = False,
        label_smoothing: float = 0.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        seed: int = 0,
        threads: int = 0,
    ) -> float: ...

    @overload
    def loss(
        self,
        source: Sequence[str] | Sequence[Integers],
        target: Sequence[str] | Sequence[Integers],
        *,
        gradients: Literal[True],
        label_smoothing: float = 0.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        seed: int = 0,
        threads: int = 0,
    ) -> tuple[float, dict[str, NDArray[Any]]]: ...

    def loss(
        self,
        source: Sequence[str] | Sequence[Integers],
        target: Sequence[str] | Sequence[Integers],
        *,
        gradients: bool = False,
        label_smoothing: float = 0.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        seed: int = 0,
        threads: int = 0,
    ) -> float | tuple[float, dict[str, NDArray[Any]]]:
        """Computes the mean negative log likelihood of the tokens of translations and of their ends, in nats, and its gradients.

        Args:
            source: sentences, or the ids of each
            target: their translations, as many; the decoder's first token and the end are added
            gradients, label_smoothing, dropout, attention_dropout, seed, threads: as LanguageModel.loss()

        Returns:
            The loss; with `gradients` (loss, gradients), float32 arrays by the names of `weights`.

        Raises:
            ValueError: other numbers of sides, a side without a token, an id outside the vocabulary, or an ensemble
        """
        options = dict(
            label_smoothing=label_smoothing, dropout=dropout, attention_dropout=attention_dropout, seed=seed, threads=threads
        )
        sources = [self._side(one, "source") for one in elements_of(source, "loss.source", "a list of str or of ids")]
        targets = [self._side(one, "target") for one in elements_of(target, "loss.target", "a list of str or of ids")]
        loss, of_weights = _core.pair_loss(self._core, sources, targets, options, flag_of(gradients, "loss.gradients"))
        return (loss, of_weights) if gradients else loss

    def _side(self, given: Any, name: str) -> Any:
        if not isinstance(given, str):
            return given
        with named(model_input=f"loss.{name}", encode=f"loss.{name}"):
            return self.tokenizer.model_input(given)[0] if name == "source" else self.tokenizer.encode(given)

    def attention_maps(
        self,
        text: str,
        target: str | None = None,
        *,
        layers: Sequence[int] | None = None,
        heads: Sequence[int] | None = None,
        threads: int = 0,
    ) -> TranslatorMaps:
        """Computes the attention weights of a pair of sentences, all or chosen ones; only these take memory.

        Args:
            text: the source
            target: its translation; None: what the model makes of it
            layers: which of encoder and decoder, in ascending order; None: all
            heads: which of each layer; None: all
            threads: 0: all cores

        Returns:
            TranslatorMaps: AttentionMaps of encoder, decoder and cross attention. The decoder reads <bos> and the target, and
            writes the target and <eos>; published models have other tokens there.
        """
        tokenizer = self.tokenizer
        with named(model_input="attention_maps", tokens="attention_maps", translate="attention_maps", encode="attention_maps.target"):
            source_ids, source = tokenizer.model_input(text)
            if target is None:
                found = self._core.translate([text], {"threads": threads})[0]
                ids = list(found[0]["tokens"]) if found else []
                words = tokenizer.pieces(ids)
            else:
                ids = list(tokenizer.encode(target))
                words = tokenizer.tokens(target)
        start, end = self.config.get("target_start", [1]), self.config.get("target_end", 2)
        chosen, of_heads = chosen_of(layers, "attention_maps.layers"), chosen_of(heads, "attention_maps.heads")
        with named(attention_weights="attention_maps"):
            maps = self._core.attention_maps(source_ids, [*start, *ids], chosen or [], of_heads or [], threads)
        read = [*tokenizer.pieces(start), *words]
        written = [*read[1:], *tokenizer.pieces([end])]
        hidden = self._core.hidden_pairs(len(source), len(read))
        of_encoder, of_decoder = hidden if of_heads is None else (each[of_heads] for each in hidden)
        return TranslatorMaps(
            AttentionMaps(maps["encoder"], source, source, "Encoder attention", hidden=of_encoder, layers=chosen, heads=of_heads),
            AttentionMaps(maps["decoder"], read, read, "Decoder attention", hidden=of_decoder, layers=chosen, heads=of_heads),
            AttentionMaps(maps["cross"], written, source, "Cross attention", "Written tokens", "Source tokens", layers=chosen, heads=of_heads),
            maps["copied"],
        )

    def _translate(self, text: str | Sequence[str], options: dict[str, Any]) -> Any:
        lines = [text] if isinstance(text, str) else text
        found = self._core.translate(lines, options)
        if operator.index(options["n_best"]) > 1:
            results: list[Any] = [[Translation(**one) for one in all_of_it] for all_of_it in found]
        else:
            results = [all_of_it[0]["text"] if all_of_it else "" for all_of_it in found]
        return results[0] if isinstance(text, str) else results

    def _logit_lens(self, text: str, target: str | None, options: dict[str, Any]) -> LogitLens:
        return lens_of(self._core.logit_lens(text, target, options))

    def _evaluate(self, pairs: Pairs, options: dict[str, Any], reverse: bool, limit: int | None) -> PairScore:
        scored = pairs_of(pairs, "evaluate.pairs", flag_of(reverse, "evaluate.reverse"))
        if limit is not None:
            scored = scored[: integer_of(limit, "evaluate.limit")]
        score: Mapping[str, Any] = self._core.evaluate(scored, options, "evaluate.pairs")
        return PairScore(**{**score, "bleu": Bleu(**score["bleu"])})
