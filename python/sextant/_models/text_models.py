"""Language models, causal and masked: losses and gradients, generation, scores, attention maps."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Callable, Literal, Sequence, overload

from .. import _core
from .._calls import _Fills, _Generates, _LensOfText, _NewLanguageModel, _NewMaskedModel, _ScoresText
from .._errors import ArgumentError
from .._results import AttentionMaps, FilledText, LogitLens, TextScore, WindowScore
from .._sources import chosen_of, contents_of, flag_of, folder_of, name_of, named
from .model import Model, lens_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._types import IdBatch, Integers, Source


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

    @overload
    def loss(
        self,
        ids: IdBatch,
        targets: IdBatch | None = None,
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
        ids: IdBatch,
        targets: IdBatch | None = None,
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
        ids: IdBatch,
        targets: IdBatch | None = None,
        *,
        gradients: bool = False,
        label_smoothing: float = 0.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        seed: int = 0,
        threads: int = 0,
    ) -> float | tuple[float, dict[str, NDArray[Any]]]:
        """Computes the mean negative log likelihood of the targets, in nats, and its gradients.

        Args:
            ids: whole numbers [tokens] or [batch, tokens]; each row is a separate sequence
            targets: the token to predict at each position, of the same shape, -1: none; None: the next token of the row (not of a
                masked model)
            gradients: return those of all weights, too
            label_smoothing (0 <= value < 1): the share of each target that is spread over all tokens
            dropout (0 <= value < 1): the share of the activations that are zeroed
            attention_dropout (0 <= value < 1): the share of the attention weights that are zeroed
            seed: of dropout; equal ones zero the same
            threads: 0: all cores; the numbers are the same for any

        Returns:
            The loss; with `gradients` (loss, gradients), float32 arrays by the names of `weights`.

        Raises:
            ValueError: shapes that differ, no target, or an id outside the vocabulary
        """
        options = dict(
            label_smoothing=label_smoothing, dropout=dropout, attention_dropout=attention_dropout, seed=seed, threads=threads
        )
        with named(batch="loss.ids", token_loss="loss.targets"):
            loss, of_weights = _core.text_loss(
                self._core, _ids_of(ids), None if targets is None else _ids_of(targets), options, flag_of(gradients, "loss.gradients")
            )
        return (loss, of_weights) if gradients else loss

    def logits(self, ids: IdBatch, *, types: IdBatch | None = None, threads: int = 0) -> NDArray[Any]:
        """The logits at every position: of the next token, or of a masked model of the token there.

        Args:
            ids: whole numbers [tokens] or [batch, tokens]; each row is a separate sequence
            types: the type of each token, of the same shape, as tokenizer.model_input(first, second) of BERT gives them; None: all are 0
            threads: 0: all cores

        Returns:
            float32 [tokens, vocabulary] or [batch, tokens, vocabulary].

        Raises:
            ValueError: another shape, or an id outside the vocabulary
        """
        with named(batch="logits.ids"):
            return self._core.logits(_ids_of(ids), _ids_of(types), threads)  # type: ignore[no-any-return]

    def hidden_states(self, ids: Integers, *, types: Integers | None = None, threads: int = 0) -> NDArray[Any]:
        """What there is of each token before the first layer and after each, as `hidden_states` of transformers: the last after the final norm.

        Args:
            ids: whole numbers [tokens], one sequence
            types: the type of each token, as tokenizer.model_input(first, second) of BERT gives them; None: all are 0
            threads: 0: all cores

        Returns:
            float32 [layers + 1, tokens, width].

        Raises:
            ValueError: no token, or one outside the vocabulary
        """
        return self._core.hidden_states(ids, _ids_of(types), threads)  # type: ignore[no-any-return]

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

    def attention_maps(
        self,
        text: str | Integers,
        second: str | None = None,
        *,
        types: Integers | None = None,
        layers: Sequence[int] | None = None,
        heads: Sequence[int] | None = None,
        rows: Sequence[int] | None = None,
        threads: int = 0,
    ) -> AttentionMaps:
        """Computes the attention weights of a text, all or chosen ones; only these take memory.

        Args:
            text: at least one token, or ids [tokens]
            second: the second text of a pair, for a model such as BERT
            types: of ids, the type of each token; None: all are 0
            layers: which, in ascending order; None: all
            heads: which; None: all
            rows: the places of the tokens whose weights are wanted; None: all
            threads: 0: all cores

        Returns:
            AttentionMaps: weights [layers, heads, rows, tokens], and the tokens.

        Raises:
            ValueError: no token, or a layer, head or row that does not exist
        """
        chosen = chosen_of(layers, "attention_maps.layers")
        of_heads, of_rows = chosen_of(heads, "attention_maps.heads"), chosen_of(rows, "attention_maps.rows")
        ids: Any = text
        if types is not None and isinstance(text, str):
            raise ArgumentError("[attention_maps.types] must not be given with a text, whose tokenizer gives the types")
        if second is not None and not (isinstance(text, str) and isinstance(self, MaskedModel)):
            raise ArgumentError("[attention_maps.second] must be given only with a text and a masked model, such as BERT")
        if isinstance(text, str):
            with named(model_input="attention_maps", tokenizer="attention_maps"):
                if second is None:
                    ids, words = self.tokenizer.model_input(text)
                else:
                    ids, words, types = self.tokenizer.model_input(text, second)
                    types = types if self.config.get("token_types", 1) > 1 else None  # as transformers do
        with named(attention_weights="attention_maps"):
            weights = self._core.attention_maps(ids, _ids_of(types), chosen or [], of_heads or [], of_rows or [], threads)
        if not isinstance(text, str):
            words = self.tokenizer.pieces(ids) if self._core.has_tokenizer() else [str(int(token)) for token in ids]
        hidden = self._core.hidden_pairs(len(words), chosen or [])
        if of_heads is not None:
            hidden = hidden[..., of_heads, :, :]
        queries = words
        if of_rows is not None:
            hidden, queries = hidden[..., of_rows, :], [words[row] for row in of_rows]
        return AttentionMaps(weights, queries, words, "Self attention", hidden=hidden, layers=chosen, heads=of_heads)

    def _logit_lens(self, text: str, options: dict[str, Any]) -> LogitLens:
        return lens_of(self._core.logit_lens(text, options))

    def _evaluate(self, text: Source, options: dict[str, Any]) -> TextScore:
        score = self._core.evaluate(contents_of(text, "evaluate.text"), options, name_of(text, "evaluate.text"))
        return TextScore(windows=[WindowScore(**one) for one in score.pop("windows")], **score)


class LanguageModel(TextModel, _NewLanguageModel, _Generates):
    """A model of the next token."""

    _kind = "causal"

    def _generate(
        self, prompt: str | Sequence[str], options: dict[str, Any], stop: str, on_text: Callable[[str], object] | None
    ) -> Any:
        texts, note = self._core.generate(prompt, options, stop, on_text)
        if note:
            warnings.warn(note, stacklevel=3)
        return texts


class MaskedModel(TextModel, _NewMaskedModel, _Fills):
    """A model of hidden tokens."""

    _kind = "masked"

    def _fill(self, text: str, options: dict[str, Any]) -> FilledText:
        return FilledText(**self._core.fill(text, options))


def _ids_of(given: Any) -> Any:
    """An array of ids; of a list NumPy's."""
    import numpy as np

    return np.asarray(given) if isinstance(given, (list, tuple)) else given
