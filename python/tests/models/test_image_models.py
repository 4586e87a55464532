"""Image models of the Hugging Face hub. tests/hub says that the numbers are those of transformers."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import sextant

GOLDEN = Path(__file__).resolve().parents[3] / "tests/hub/golden_images"


@pytest.mark.parametrize("name", ["vit", "vit_bare", "vit_classes", "deit", "deit_teacher"])
def test_all_is_what_transformers_computes(name: str, tmp_path: Path) -> None:
    expected = sextant.TensorFile(GOLDEN / name / "expected.safetensors")
    model = sextant.ImageModel.load(GOLDEN / name)
    model.save_pretrained(tmp_path / "again")
    for each in (model, sextant.ImageModel.load(str(tmp_path / "again")), sextant.load(tmp_path / "again")):
        assert type(each) is sextant.ImageModel
        images = expected["images"]
        np.testing.assert_allclose(each.hidden_states(images), expected["hidden"], atol=1e-4)
        np.testing.assert_allclose(each.last_hidden_states(images), expected["last"], atol=1e-4)
        if "pooled" in expected:
            np.testing.assert_allclose(each.vectors(images), expected["pooled"], atol=1e-5)
        if "logits" in expected:
            np.testing.assert_allclose(each.logits(images), expected["logits"], atol=1e-4)
        else:
            with pytest.raises(ValueError, match=r"\[model.logits\] must be of a model with classes"):
                each.logits(images)
        maps = each.attention_maps(images[1], layers=[1], rows=[0, 2])
        np.testing.assert_allclose(maps.weights[0], expected["attention"][1, 1][:, [0, 2]], atol=1e-5)
        assert maps.queries[0] == maps.keys[0] == "[CLS]" and maps.keys[-1].count(",") == 1


def test_images_that_do_not_fit_are_refused() -> None:
    model = sextant.ImageModel.load(GOLDEN / "vit")
    with pytest.raises(ValueError, match=r"\[vectors.images\] must be \[images, 3, height, width\]"):
        model.vectors(np.zeros((1, 1, 12, 12), np.float32))
    with pytest.raises(ValueError, match=r"\[logits.images\] must be floats, got int64"):
        model.logits(np.zeros((1, 3, 12, 12), np.int64))
    with pytest.raises(ValueError, match=r"\[attention_maps.image\] must be \[3, height, width\]"):
        model.attention_maps(np.zeros((1, 3, 12, 12), np.float32))
    with pytest.raises(ValueError, match="must be vit or deit for a model of images, got 'bert'"):
        sextant.ImageModel.load(GOLDEN.parent / "golden" / "bert")
    with pytest.raises(ValueError, match="a model of images"):
        sextant.load_pretrained(GOLDEN / "vit")
    with pytest.raises(ValueError, match=r"\[load.replace_scheme\] must not be given for an image model"):
        sextant.load(GOLDEN / "vit", without_positions=True)
    with pytest.raises(ValueError, match=r"\[load.read_as\] must not be given for an image model"):
        sextant.load(GOLDEN / "vit", read_as="llama")
    with pytest.raises(ValueError, match="a model of images"):
        sextant.load(GOLDEN / "vit", GOLDEN / "vit")


@pytest.mark.parametrize("name", ["vit_classes", "deit_teacher"])
def test_copies_and_pickles_compute_the_same_bits(name: str) -> None:
    images = sextant.TensorFile(GOLDEN / name / "expected.safetensors")["images"]
    model = sextant.load(GOLDEN / name)
    assert copy.copy(model)._core is model._core
    narrow = sextant.load(GOLDEN / name, dtype="bfloat16")
    for one, others in ((model, (copy.deepcopy(model), pickle.loads(pickle.dumps(model)))), (narrow, (copy.deepcopy(narrow),))):
        for other in others:
            assert type(other) is sextant.ImageModel and other._core is not one._core
            assert other.config == one.config
            np.testing.assert_array_equal(other.logits(images), one.logits(images))
    with pytest.raises(ValueError, match="must be float32 to train, save"):
        pickle.dumps(narrow)
