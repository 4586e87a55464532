"""Image models: ViT and DeiT of the Hugging Face hub."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal, Sequence

from .. import _core
from .._results import AttentionMaps
from .._sources import chosen_of, folder_of, named

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ImageModel:
    """A vision transformer, which reads patches of images in place of words. load() and sextant.load() open one.

    Images are floats [images, channels, height, width], normalised as the model was trained (preprocessor_config.json of its folder).
    Height and width are multiples of the patch's; positions of images of another size than the model's are resized, as
    interpolate_pos_encoding=True of transformers does. The tokens of an image are [CLS], [DIST] of DeiT, and its patches row by row.
    """

    _core: _core.ImageModel

    @staticmethod
    def load(
        folder: str | os.PathLike[str], *, dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    ) -> ImageModel:
        """Opens a folder of model type vit or deit: config.json and model.safetensors, or its shards.

        Args:
            folder: as save_pretrained() of transformers writes it
            dtype: as of sextant.load()

        Raises:
            ValueError: another model type, tensors that are missing, unknown or of another shape, numbers that are not finite
        """
        return ImageModel._of(_core.load_image_model(folder_of(folder, "load.folder"), dtype))

    @classmethod
    def _of(cls, core: Any) -> ImageModel:
        model = cls.__new__(cls)
        model._core = core
        return model

    @property
    def config(self) -> dict[str, Any]:
        """The model's sizes: image_height, patch_height, channels, width, heads, layers, classes, labels, ..."""
        return json.loads(self._core.config)  # type: ignore[no-any-return]

    def hidden_states(self, images: Any, *, threads: int = 0) -> NDArray[Any]:
        """The tokens before the first layer and after each, before the final norm, as `hidden_states` of transformers.

        Args:
            images: floats [images, channels, height, width]
            threads: 0: all cores

        Returns:
            float32 [layers + 1, images, tokens, width].
        """
        with named(image_model="hidden_states"):
            return self._core.hidden_states(images, threads)  # type: ignore[no-any-return]

    def last_hidden_states(self, images: Any, *, threads: int = 0) -> NDArray[Any]:
        """The tokens after the last layer and the final norm, float32 [images, tokens, width].

        Args:
            images: floats [images, channels, height, width]
            threads: 0: all cores
        """
        with named(image_model="last_hidden_states"):
            return self._core.last_hidden_states(images, threads)  # type: ignore[no-any-return]

    def vectors(self, images: Any, *, threads: int = 0) -> NDArray[Any]:
        """A vector per image: the pooler's, or without one the class token after the final norm, float32 [images, width].

        Args:
            images: floats [images, channels, height, width]
            threads: 0: all cores
        """
        with named(image_model="vectors"):
            return self._core.vectors(images, threads)  # type: ignore[no-any-return]

    def logits(self, images: Any, *, threads: int = 0) -> NDArray[Any]:
        """The logits of the classes, which config["labels"] names, float32 [images, classes].

        Args:
            images: floats [images, channels, height, width]
            threads: 0: all cores

        Raises:
            ValueError: the model has no classes, or the images have another shape
        """
        with named(image_model="logits"):
            return self._core.logits(images, threads)  # type: ignore[no-any-return]

    def attention_maps(
        self,
        image: Any,
        *,
        layers: Sequence[int] | None = None,
        heads: Sequence[int] | None = None,
        rows: Sequence[int] | None = None,
        threads: int = 0,
    ) -> AttentionMaps:
        """Computes the attention weights of an image, all or chosen ones; only these take memory.

        Args:
            image: floats [channels, height, width]
            layers: which, in ascending order; None: all
            heads: which; None: all
            rows: the tokens whose weights are wanted; None: all
            threads: 0: all cores

        Returns:
            AttentionMaps: weights [layers, heads, rows, tokens], and the tokens; patches are named "row,column".

        Raises:
            ValueError: another shape, or a layer, head or row that does not exist
        """
        of_layers, of_heads = chosen_of(layers, "attention_maps.layers"), chosen_of(heads, "attention_maps.heads")
        of_rows = chosen_of(rows, "attention_maps.rows")
        with named(image_model="attention_maps", attention_weights="attention_maps"):
            weights = self._core.attention_maps(image, of_layers or [], of_heads or [], of_rows or [], threads)
        keys = self._core.token_names(int(image.shape[1]), int(image.shape[2]))
        queries = keys if of_rows is None else [keys[row] for row in of_rows]
        return AttentionMaps(weights, queries, keys, "Self attention", layers=of_layers, heads=of_heads)

    def save_pretrained(
        self, folder: str | os.PathLike[str], *, dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    ) -> None:
        """Writes a new folder as transformers reads it: config.json and model.safetensors.

        Args:
            folder: a path where nothing is yet
            dtype: of the weights, rounded once
        """
        self._core.save_pretrained(folder_of(folder, "save_pretrained.folder"), dtype)

    def __repr__(self) -> str:
        config = self.config
        return "ImageModel(" + ", ".join(f"{name}={config[name]}" for name in ("width", "heads", "layers", "classes")) + ")"
