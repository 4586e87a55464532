"""Trained models: generation, translation, scores, attention maps, weights."""

from __future__ import annotations

import json
import operator
import os
import warnings
from typing import TYPE_CHECKING, Any, Callable, Literal, Mapping, Sequence

from . import _core
from ._calls import _Fills, _Generates, _LensOfPairs, _LensOfText, _ScoresPairs, _ScoresText, _Translates
from ._errors import ArgumentError
from ._results import (
    AttentionMaps,
    Bleu,
    FilledText,
    LensLayer,
    LogitLens,
    PairScore,
    TextScore,
    Translation,
    TranslatorMaps,
    WindowScore,
)
from ._sources import contents_of, flag_of, folder_of, integer_of, layers_of, name_of, named, pairs_of, positions_of, type_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._training import Training
    from ._types import Integers, Pairs, Source


class Model:
    """What all models have. sextant.load() and sextant.train make them."""

    training: Training | None = None  # of models that were trained in this process

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def config(self) -> dict[str, Any]:
        """What config.json says: kind, width, heads, layers, positions, ..."""
        return json.loads(self._core.config)  # type: ignore[no-any-return]

    @property
    def tokenizer(self) -> _core.Tokenizer:
        """What makes tokens of text, and text of tokens."""
        return self._core.tokenizer  # type: ignore[no-any-return]

    @property
    def weights(self) -> dict[str, NDArray[Any]]:
        """The weights by name: read-only float32 arrays of the model's own memory."""
        return self._core.weights()  # type: ignore[no-any-return]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes config.json, tokenizer.json and model.safetensors into a folder, which the command line and load() open."""
        self._core.save(folder_of(folder, "save.folder"))

    def __repr__(self) -> str:
        config = self.config
        sizes = ", ".join(f"{name}={config[name]}" for name in ("vocabulary", "width", "heads", "layers"))
        return f"{type(self).__name__}({sizes}, schemes={[each['scheme'] for each in config['schemes']]})"


class TextModel(Model, _ScoresText, _LensOfText):
    """What causal and masked language models have."""

    _core: _core.TextModel

    def save_pretrained(
        self,
        folder: str | os.PathLike[str],
        *,
        model_type: str | None = None,
        like: str | os.PathLike[str] | None = None,
        dtype: Literal["float32", "float16", "bfloat16"] = "float32",
    ) -> str:
        """Writes a new folder as transformers reads it: config.json, model.safetensors, and tokenizer.json where the tokens have such a form.

        Args:
            folder: a path where nothing is yet
            model_type: of config.json: bert, bloom, gpt2, gpt_neox, llama, mistral, mpt, opt, qwen2 or qwen3; None: the first that has all of the model
            like: a Hugging Face folder whose config.json is taken instead, of any model type that is read: that of the model that this one was trained further from
            dtype: of the weights, rounded once

        Returns:
            The model type.

        Raises:
            ValueError: no model type, or not this one, has all of the model; the message says what differs
        """
        return self._core.save_pretrained(
            folder_of(folder, "save_pretrained.folder"), model_type, folder_of(like, "save_pretrained.like"), dtype
        )

    def logits(self, ids: Integers, *, threads: int = 0) -> NDArray[Any]:
        """The logits at every position: of the next token, or of a masked model of the token there.

        Args:
            ids: whole numbers [tokens] or [batch, tokens]; each row is a separate sequence
            threads: 0: all cores

        Returns:
            float32 [tokens, vocabulary] or [batch, tokens, vocabulary].

        Raises:
            ValueError: another shape, or an id outside the vocabulary
        """
        import numpy as np

        return self._core.logits(np.asarray(ids) if isinstance(ids, (list, tuple)) else ids, threads)  # type: ignore[no-any-return]

    def hidden_states(self, ids: Integers, *, threads: int = 0) -> NDArray[Any]:
        """What there is of each token before the first layer and after each, as `hidden_states` of transformers: the last after the final norm.

        Args:
            ids: whole numbers [tokens], one sequence
            threads: 0: all cores

        Returns:
            float32 [layers + 1, tokens, width].

        Raises:
            ValueError: no token, or one outside the vocabulary
        """
        return self._core.hidden_states(ids, threads)  # type: ignore[no-any-return]

    def embed(
        self,
        texts: str | Sequence[str],
        *,
        pooling: Literal["mean", "first", "last", "max"] | None = None,
        normalize: bool | None = None,
        max_tokens: int | None = None,
        threads: int = 0,
    ) -> NDArray[Any]:
        """Texts as vectors, as sentence-transformers makes them of a model's last hidden states. What is None is as the model's
        folder says (modules.json), else the mean over tokens (of causal models the last token), divided by its length.

        Args:
            texts: one or more, each of at least one token
            pooling: over tokens, special ones included
            normalize: divide each vector by its length, so that a product of two is their cosine similarity
            max_tokens: longer texts are cut there; None: where the model ends, with a warning
            threads: 0: all cores; the numbers are the same for any

        Returns:
            float32 [texts, width], of a single text [width].

        Raises:
            ValueError: no text, one without tokens, or a model without a tokenizer
        """
        with named(sentence_vectors="embed"):
            given = [texts] if isinstance(texts, str) else list(texts)
            vectors, cut, longest = self._core.embed(given, pooling, normalize, max_tokens, threads)
        if cut and max_tokens is None:
            warnings.warn(f"{cut} of {len(given)} texts are longer than the {longest} tokens that the model reads: their beginnings count", stacklevel=2)
        return vectors[0] if isinstance(texts, str) else vectors  # type: ignore[no-any-return]

    def attention_maps(self, text: str | Integers, *, layers: Sequence[int] | None = None, threads: int = 0) -> AttentionMaps:
        """Where each token of a text looks.

        Args:
            text: at least one token, or ids [tokens]; the maps of all layers that are asked for are held at once
            layers: which, in ascending order; None: all
            threads: 0: all cores

        Returns:
            AttentionMaps: weights [layers, heads, tokens, tokens], and the tokens.
        """
        chosen = layers_of(layers, "attention_maps.layers")
        if isinstance(text, str):
            with named(model_input="attention_maps", tokenizer="attention_maps"):
                ids, words = self.tokenizer.model_input(text)
            weights = self._core.attention_maps(ids, chosen or [], threads)
        else:
            given: Any = text
            weights = self._core.attention_maps(given, chosen or [], threads)
            words = self.tokenizer.pieces(given) if self._core.has_tokenizer() else [str(int(token)) for token in given]
        return AttentionMaps(weights, words, words, "Self attention", hidden=self._core.hidden_pairs(len(words), chosen or []), layers=chosen)

    def _logit_lens(self, text: str, options: dict[str, Any]) -> LogitLens:
        return lens_of(self._core.logit_lens(text, options))

    def _evaluate(self, text: Source, options: dict[str, Any]) -> TextScore:
        score = self._core.evaluate(contents_of(text, "evaluate.text"), options, name_of(text, "evaluate.text"))
        return TextScore(windows=[WindowScore(**one) for one in score.pop("windows")], **score)


class LanguageModel(TextModel, _Generates):
    """A model of the next token."""

    def _generate(self, prompt: str, options: dict[str, Any], stop: str, on_text: Callable[[str], object] | None) -> str:
        text, note = self._core.generate(prompt, options, stop, on_text)
        if note:
            warnings.warn(note, stacklevel=3)
        return text


class MaskedModel(TextModel, _Fills):
    """A model of hidden tokens."""

    def _fill(self, text: str, options: dict[str, Any]) -> FilledText:
        return FilledText(**self._core.fill(text, options))


class Translator(Model, _Translates, _ScoresPairs, _LensOfPairs):
    """An encoder and a decoder; of several models, an ensemble whose probabilities are averaged."""

    _core: _core.Translator

    def attention_maps(
        self, text: str, target: str | None = None, *, layers: Sequence[int] | None = None, threads: int = 0
    ) -> TranslatorMaps:
        """Where each token of a pair of sentences looks.

        Args:
            text: the source
            target: its translation; None: what the model makes of it
            layers: which of encoder and decoder, in ascending order; None: all
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
        chosen = layers_of(layers, "attention_maps.layers")
        maps = self._core.attention_maps(source_ids, [*start, *ids], chosen or [], threads)
        read = [*tokenizer.pieces(start), *words]
        written = [*read[1:], *tokenizer.pieces([end])]
        hidden = self._core.hidden_pairs(len(source), len(read))
        return TranslatorMaps(
            AttentionMaps(maps["encoder"], source, source, "Encoder attention", hidden=hidden[0], layers=chosen),
            AttentionMaps(maps["decoder"], read, read, "Decoder attention", hidden=hidden[1], layers=chosen),
            AttentionMaps(maps["cross"], written, source, "Cross attention", "Written tokens", "Source tokens", layers=chosen),
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


def lens_of(found: dict[str, Any]) -> LogitLens:
    return LogitLens(**{**found, "layers": [LensLayer(**one) for one in found["layers"]]})


def model_of(core: Any) -> Model:
    if isinstance(core, _core.Translator):
        return Translator(core)
    return MaskedModel(core) if json.loads(core.config)["kind"] == "masked" else LanguageModel(core)


def load(
    path: str | os.PathLike[str],
    *more: str | os.PathLike[str],
    replace_scheme: str | dict[str, dict[str, Any]] | None = None,
    replace_in: Sequence[int] | None = None,
    without_positions: bool = False,
    read_as: str | None = None,
) -> Any:
    """A model from its folder, from that of a training run (its best model, else its last one), or of the Hugging Face hub.

    Args:
        path: the folder, as `sextant train` and Model.save() write it, or as save_pretrained() of transformers does, with tokenizer.json;
            load_pretrained() says which model types are read
        more: further translators with the same tokenizer: an ensemble
        replace_scheme: give the trained model these positions instead of its own: a scheme's name, or a dict from names to parameters,
            such as {"rotary": {"base": 500000}}; schemes that learn nothing
        replace_in: the layers, from 0, that get them; None: all
        without_positions: the same as replace_scheme="none"
        read_as: the model type as which a folder of the hub is read whose own type is not known: "llama"

    Returns:
        LanguageModel, MaskedModel or Translator, as config.json says.

    Raises:
        ValueError: a file is missing, damaged or does not fit the others, or needs a library that this build is without
    """
    others = _other_schemes(replace_scheme, without_positions, "load")
    folders = [folder_of(each, "load.path") for each in (path, *more)]
    with named(model_config="load", model="load"):
        return model_of(_core.load_model(folders, others, replace_in, type_of(read_as, "load.read_as")))


def _other_schemes(replace: Any, without: bool, call: str) -> list[tuple[str, dict[str, Any]]] | None:
    if flag_of(without, f"{call}.without_positions"):
        if replace is not None:
            raise ArgumentError(f"[{call}.replace_scheme] must not be given together with without_positions")
        return [("none", {})]
    return None if replace is None else positions_of(replace, f"{call}.replace_scheme")


def load_pretrained(folder: str | os.PathLike[str], *, read_as: str | None = None) -> Any:
    """A model of the Hugging Face hub from its folder: config.json and model.safetensors, or its shards.

    It reads ids, not text: logits(ids), hidden_states(ids), attention_maps(ids). docs/pretrained.md lists the model types. Models
    without a head have no logits.

    Args:
        folder: as save_pretrained() of transformers writes it
        read_as: the model type as which a folder is read whose own type is not known: "llama"

    Returns:
        LanguageModel, or of an encoder MaskedModel.

    Raises:
        ValueError: another model type, a key of config.json that changes the result in a way that models here do not have, tensors
            that are missing, unknown or of another shape, numbers that are not finite, pickled weights
    """
    with named(model_config="load_pretrained"):
        return model_of(
            _core.pretrained_model(folder_of(folder, "load_pretrained.folder"), type_of(read_as, "load_pretrained.read_as"))
        )


def shipped(*, replace_scheme: str | dict[str, dict[str, Any]] | None = None, without_positions: bool = False) -> Translator:
    """The translator of dates that is part of the library: "the third of march nineteen ninety-nine" to "1999-03-03".

    It was taught English dates of the years 1900 to 2099. Of any other text, a date of another year too, it writes some date of these years, and may be
    as sure of it: translate(text, n_best=2)[0].probability.

    Args:
        replace_scheme: as of load()
        without_positions: the same as replace_scheme="none"
    """
    return Translator(_core.shipped_model(_other_schemes(replace_scheme, without_positions, "shipped")))
