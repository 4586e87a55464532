"""What pickles call to make objects again."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Sequence

from . import _core

if TYPE_CHECKING:
    from ._kv_cache import KvCache


def rotation(cos: Any, sin: Any, layout: str, first_channel: int, keys: Any, positions: Any) -> _core.RotationTable:
    return _core.RotationTable(cos, sin, layout, first_channel, keys, positions)


def distance_bias(values: Any, origin: int | None, slopes: Any) -> _core.DistanceBias:
    return _core.DistanceBias(values, origin, slopes)


def term(scheme: str, positions: Any, sizes: dict[str, int], texts: dict[str, str], weights: Any) -> Any:
    from ._registry import find_scheme

    return _core.make(scheme, positions, sizes, find_scheme(scheme).read(texts), weights, "float32", None)


def files_of(save: Any, inside: str = "") -> dict[str, bytes]:
    """The files that save(folder) writes, by name, into a temporary folder or into a new one of this name in it."""
    with tempfile.TemporaryDirectory(prefix="sextant-") as top:
        folder = os.path.join(top, inside)
        save(folder)
        files = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
        return files


def write_files(files: dict[str, bytes], folder: str) -> str:
    os.makedirs(folder, exist_ok=True)
    for name, contents in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(contents)
    return folder


def models(folders: list[dict[str, bytes]], sentences: Any) -> Any:
    """A model of the files of its folder, or an ensemble of several folders."""
    with tempfile.TemporaryDirectory(prefix="sextant-") as top:
        paths = [write_files(files, os.path.join(top, str(number))) for number, files in enumerate(folders)]
        core: Any = _core.load_model(paths, None, None, "", "float32")
    return core if sentences is None else core.with_sentences(*sentences)


def model_of_ids(config: str, weights: dict[str, Any]) -> Any:
    return _core.model_of_config(config, None, weights)


def image_model(files: dict[str, bytes]) -> _core.ImageModel:
    with tempfile.TemporaryDirectory(prefix="sextant-") as folder:
        return _core.load_image_model(write_files(files, folder), "float32")


def tokenizer(files: dict[str, bytes]) -> _core.Tokenizer:
    with tempfile.TemporaryDirectory(prefix="sextant-") as folder:
        return _core.Tokenizer.load(write_files(files, folder))


def picture(svg: str, width: float, height: float, title: str, description: str, charts: Sequence[dict[str, Any]] = ()) -> _core.Picture:
    return _core.Picture(svg, width, height, title, description, list(charts))


def pretrained_tokenizer(text: str) -> Any:
    return _core.PretrainedTokenizer.parse(text)


def cache(keys: Any, values: Any, lengths: list[int], page_size: int, dtype: str) -> KvCache:
    from ._kv_cache import KvCache

    batch, heads, _, width = keys.shape
    made = KvCache(batch, heads, width, values.shape[-1], page_size=page_size, dtype=dtype)
    if max(lengths, default=0) > 0:
        made.append(keys, values, lengths)
    return made
