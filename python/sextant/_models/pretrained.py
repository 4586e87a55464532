"""Tokenizers of published models."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

from .. import _core
from .._sources import path_of

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray


class PretrainedEncoding(NamedTuple):
    """A text as tokens; every member has one element a token."""

    ids: NDArray[int64]
    tokens: list[str]
    """As in the vocabulary."""
    offsets: NDArray[int64]
    """[tokens, 2]: the characters of the text, text[begin:end]; 0, 0 for special tokens that were added."""
    type_ids: NDArray[int64]


class PretrainedTokenizer:
    """The tokenizer.json of a published model, as the library ``tokenizers`` writes it: WordPiece (BERT), BPE (GPT-2, Llama, Qwen),
    Unigram and WordLevel. A text becomes the ids that library gives. What a file has that is not supported is refused by name.

    Args:
        path: the file, or a folder with a tokenizer.json

    Raises:
        ValueError: a file that is missing, damaged, or has what is not supported
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path_of(path, "pretrained_tokenizer.path")
        self._core: Any = _core.PretrainedTokenizer.load(self._path)

    def encode(self, text: str, *, add_special_tokens: bool = True, truncate: bool = False) -> PretrainedEncoding:
        """A text as tokens.

        Args:
            text: of any length
            add_special_tokens: those of the post-processor, such as [CLS] and [SEP]
            truncate: leave out what is more than ``max_length`` tokens
        """
        return PretrainedEncoding(*self._core.encode(text, add_special_tokens, truncate))

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """The text of ids. Bytes that make no character become U+FFFD."""
        text: str = self._core.decode(ids, skip_special_tokens)
        return text

    def piece(self, id: int) -> str:
        """The token of an id, as in the vocabulary."""
        piece: str = self._core.piece(id)
        return piece

    def id_of(self, token: str) -> int | None:
        """The id of a token of the vocabulary, or None."""
        found: int | None = self._core.id_of(token)
        return found

    def is_special(self, id: int) -> bool:
        """Whether ``decode()`` leaves the token out."""
        return bool(self._core.is_special(id))

    @property
    def max_length(self) -> int | None:
        """Tokens that ``truncate`` leaves, where the file says how many."""
        length: int | None = self._core.max_length()
        return length

    def __len__(self) -> int:
        """The largest id and 1; ids between may have no token."""
        return int(self._core.size())

    def __repr__(self) -> str:
        return f"PretrainedTokenizer({self._path!r}, {len(self)} ids)"
