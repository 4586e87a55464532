"""Models from folders: of this library, of the Hugging Face hub, and the one that ships."""

from __future__ import annotations

import json
import os
from typing import Any, Literal, Sequence

from .. import _core
from .._errors import ArgumentError
from .._sources import flag_of, folder_of, named, positions_of, type_of
from .image_model import ImageModel
from .model import Model
from .text_models import LanguageModel, MaskedModel
from .translator import Translator


def model_of(core: Any) -> Model:
    if isinstance(core, _core.Translator):
        return Translator._of(core)
    return MaskedModel._of(core) if json.loads(core.config)["kind"] == "masked" else LanguageModel._of(core)


def load(
    path: str | os.PathLike[str],
    *more: str | os.PathLike[str],
    replace_scheme: str | dict[str, dict[str, Any]] | None = None,
    replace_in: Sequence[int] | None = None,
    without_positions: bool = False,
    read_as: str | None = None,
    dtype: Literal["float32", "bfloat16", "float16"] = "float32",
) -> Any:
    """A model from its folder, from that of a training run (its best model, else its last one), or of the Hugging Face hub.

    Args:
        path: the folder, as `sextant train` and Model.save() write it, or as save_pretrained() of transformers does, with tokenizer.json;
            load_pretrained() says which model types are read, and an ImageModel is of vit or deit
        more: further translators with the same tokenizer: an ensemble
        replace_scheme: give the trained model these positions instead of its own: a scheme's name, or a dict from names to parameters,
            such as {"rotary": {"base": 500000}}; schemes that learn nothing
        replace_in: the layers, from 0, that get them; None: all
        without_positions: the same as replace_scheme="none"
        read_as: the model type as which a folder of the hub is read whose own type is not known: "llama"
        dtype (float32 | bfloat16 | float16): type of the matrices in memory, rounded once. float32: as in the file; bfloat16: half the
            memory, 8 bits of precision; float16: half the memory, 11 bits of precision, at most 65504. A model of 16 bits is not trained or
            saved

    Returns:
        LanguageModel, MaskedModel, Translator or ImageModel, as config.json says.

    Raises:
        ValueError: a file is missing, damaged or does not fit the others, or needs a library that this build is without
    """
    others = _other_schemes(replace_scheme, without_positions, "load")
    folders = [folder_of(each, "load.path") for each in (path, *more)]
    with named(model_config="load", model="load"):
        core = _core.load_model(folders, others, replace_in, type_of(read_as, "load.read_as"), dtype)
        return ImageModel._of(core) if isinstance(core, _core.ImageModel) else model_of(core)


def _other_schemes(replace: Any, without: bool, call: str) -> list[tuple[str, dict[str, Any]]] | None:
    if flag_of(without, f"{call}.without_positions"):
        if replace is not None:
            raise ArgumentError(f"[{call}.replace_scheme] must not be given together with without_positions")
        return [("none", {})]
    return None if replace is None else positions_of(replace, f"{call}.replace_scheme")


def load_pretrained(
    folder: str | os.PathLike[str], *, read_as: str | None = None, dtype: Literal["float32", "bfloat16", "float16"] = "float32"
) -> Any:
    """A model of the Hugging Face hub from its folder: config.json and model.safetensors, or its shards.

    It reads ids, not text: logits(ids), hidden_states(ids), attention_maps(ids). docs/pretrained.md lists the model types. Models
    without a head have no logits.

    Args:
        folder: as save_pretrained() of transformers writes it
        read_as: the model type as which a folder is read whose own type is not known: "llama"
        dtype: as of load()

    Returns:
        LanguageModel, or of an encoder MaskedModel.

    Raises:
        ValueError: another model type, a key of config.json that changes the result in a way that models here do not have, tensors
            that are missing, unknown or of another shape, numbers that are not finite, pickled weights
    """
    with named(model_config="load_pretrained"):
        return model_of(
            _core.pretrained_model(
                folder_of(folder, "load_pretrained.folder"), type_of(read_as, "load_pretrained.read_as"), dtype
            )
        )


def shipped(*, replace_scheme: str | dict[str, dict[str, Any]] | None = None, without_positions: bool = False) -> Translator:
    """The translator of dates that is part of the library: "the third of march nineteen ninety-nine" to "1999-03-03".

    It was taught English dates of the years 1900 to 2099. Of any other text, a date of another year too, it writes some date of these years, and may be
    as sure of it: translate(text, n_best=2)[0].probability.

    Args:
        replace_scheme: as of load()
        without_positions: the same as replace_scheme="none"
    """
    return Translator._of(_core.shipped_model(_other_schemes(replace_scheme, without_positions, "shipped")))
