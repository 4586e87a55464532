"""Tables, terms, models, pictures and caches are objects of Python: they are copied, pickled, compared, and are arrays where they can be."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import sextant

SIZES = {"added": [8], "rotated": [8], "distance_bias": [4], "indexed_bias": [4], "content": [4, 8], "none": []}
REQUIRED = {"transformer_xl": {"width": 8}}


def made(scheme, positions=6, **more):
    given = {parameter.name: 4 for parameter in scheme.parameters if parameter.required}
    return scheme.function(positions, *SIZES[scheme.kind], **{**given, **REQUIRED.get(scheme.name, {}), **more})


TABLES = [scheme for scheme in sextant.schemes() if scheme.kind not in ("added", "none")]


@pytest.mark.parametrize("scheme", TABLES, ids=lambda scheme: scheme.name)
def test_a_table_survives_a_pickle(scheme):
    table = made(scheme)
    again = pickle.loads(pickle.dumps(table))
    assert again == table and not again != table and hash(again) == hash(table)
    assert copy.copy(table) == table and copy.deepcopy({"a": table})["a"] == table
    assert table != made(scheme, 7) and table != 3
    if scheme.kind != "content" and scheme.name != "forgetting":
        np.testing.assert_array_equal(np.asarray(again), np.asarray(table))
        assert np.asarray(table).shape == table.shape and np.asarray(table).dtype == table.dtype and len(table) == table.shape[0]
    else:
        assert repr(again) == repr(table)


def test_a_pickled_term_computes_the_same_bits():
    q = np.random.default_rng(0).standard_normal((1, 4, 6, 8)).astype(np.float32)
    weights = {"keys": np.random.default_rng(1).standard_normal((9, 8))}
    names = [weight.name for weight in sextant.find_scheme("shaw").weights]
    term = sextant.shaw(6, 4, 8, values=False)
    again = pickle.loads(pickle.dumps(term))
    np.testing.assert_array_equal(sextant.attention(q, q, q, bias=term), sextant.attention(q, q, q, bias=again))
    assert names and weights  # the scheme has learned arrays, which the pickle holds
    other = sextant.shaw(6, 4, 8, values=False, seed=5)
    assert other != term and pickle.loads(pickle.dumps(other)) == other


def test_ids_and_weights_of_a_term_are_part_of_it():
    ids = np.array([0, 1, 25])
    term = sextant.alibi_2d(ids, 4)
    assert pickle.loads(pickle.dumps(term)) == term != sextant.alibi_2d(ids + 1, 4)
    ids[:] = 7
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(term)).array(), term.array())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_rotation_is_an_array_of_cosines_and_sines(dtype):
    table = sextant.rotary([5, 1, 900000], 8, dtype=dtype)
    numbers = np.asarray(table)
    np.testing.assert_array_equal(numbers[..., 0], table.cos)
    np.testing.assert_array_equal(numbers[..., 1], table.sin)
    assert numbers.dtype == table.dtype == np.dtype(dtype) and table.shape == (3, 4, 2) and len(table) == 3
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(again.positions, [5, 1, 900000])
    assert again == table != sextant.rotary([5, 1, 900001], 8, dtype=dtype)
    assert np.asarray(table, np.float64).dtype == np.float64
    xpos = sextant.xpos(6, 8)  # whose keys have a table of their own
    assert pickle.loads(pickle.dumps(xpos)).keys == xpos.keys != xpos
    # Angles too small for float32: the same cosines and sines, of other positions.
    assert sextant.rotary_linear([1, 2], 8, factor=1e60) != sextant.rotary_linear([3, 4], 8, factor=1e60)


def test_a_distance_bias_is_what_is_added():
    both = sextant.DistanceBias(np.ones((1, 5), np.float32), slopes=[1.0, 0.5])
    np.testing.assert_array_equal(np.asarray(both), 1 - np.outer([1.0, 0.5], [2, 1, 0, 1, 2]))
    assert both.shape == (2, 5) and len(both) == 2 and pickle.loads(pickle.dumps(both)) == both
    slopes = sextant.DistanceBias(slopes=[1.0, 0.5])
    assert pickle.loads(pickle.dumps(slopes)) == slopes != both
    with pytest.raises(ValueError, match=r"\[DistanceBias\] must have values by distance"):
        np.asarray(slopes)


def test_a_table_is_no_view_of_itself():
    with pytest.raises(ValueError, match=r"\[__array__.copy\] must not be False"):
        np.array(sextant.rotary(4, 8), copy=False)


@pytest.mark.parametrize("dtype", ["f8", "<f8", float, np.float64, np.dtype("f8"), "double"])
def test_a_dtype_is_whatever_numpy_takes(dtype):
    assert sextant.sinusoidal(4, 8, dtype=dtype).dtype == np.float64
    assert sextant.rotary(4, 8, dtype=dtype).dtype == np.float64


@pytest.mark.parametrize("dtype", [int, "i4", ">f4", "U3", object, None, "nothing", ()])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises((ValueError, TypeError), match=r"\[sinusoidal.dtype\] must be one of float32, bfloat16"):
        sextant.sinusoidal(4, 8, dtype=dtype)


def test_a_cache_survives_a_pickle():
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float16"):
        cache = sextant.KvCache(2, 2, 8, 4, dtype=dtype)
        assert pickle.loads(pickle.dumps(cache)).lengths == [0, 0]
        k, v = (rng.standard_normal((2, 2, 5, width)).astype(dtype) for width in (8, 4))
        cache.append(k, v, [5, 3])
        again = pickle.loads(pickle.dumps(cache))
        assert repr(again) == repr(cache)
        q = rng.standard_normal((2, 4, 2, 8)).astype(dtype)
        np.testing.assert_array_equal(again.attend(q), cache.attend(q))
        again.rewind(0)
        assert cache.lengths == [5, 3] and copy.copy(cache).lengths == [5, 3]


def test_models_tokenizers_and_pictures_survive_a_pickle(tmp_path):
    model = sextant.shipped()
    again = pickle.loads(pickle.dumps(model))
    assert again.translate("may 5 2020") == model.translate("may 5 2020") and repr(again) == repr(model)
    for name, weight in model.weights.items():
        np.testing.assert_array_equal(again.weights[name], weight)
    assert pickle.loads(pickle.dumps(model.tokenizer)).checksum == model.tokenizer.checksum
    model.tokenizer.save(tmp_path)
    assert sextant.Tokenizer.load(tmp_path).checksum == model.tokenizer.checksum
    model.save(tmp_path / "m")
    both = sextant.load(tmp_path / "m", tmp_path / "m")
    assert len(pickle.loads(pickle.dumps(both))._core) == 2
    assert copy.deepcopy(model).translate("may 5 2020") == model.translate("may 5 2020")
    picture = sextant.plot.heatmap("rotary")
    same = pickle.loads(pickle.dumps(picture))
    assert (same.svg, same.title, same.description, same.width) == (picture.svg, picture.title, picture.description, picture.width)


def test_a_trained_language_model_survives_a_pickle():
    import io

    model = sextant.train.lm(io.StringIO("the cat sat on the mat. " * 40), steps=2, width=16, heads=2, layers=1, length=16, tokenizer="character", progress=False)
    again = pickle.loads(pickle.dumps(model))
    ids = model.tokenizer.encode("the cat")
    np.testing.assert_array_equal(again.logits(ids), model.logits(ids))
    assert type(again) is sextant.LanguageModel


def test_a_file_of_tensors_survives_a_pickle(tmp_path):
    sextant.shipped().save(tmp_path)
    file = sextant.TensorFile(tmp_path / "model.safetensors")
    again = pickle.loads(pickle.dumps(file))
    assert list(again) == list(file) and copy.deepcopy(file) is file


MISSING = {
    "load": lambda path: sextant.load(path),
    "load_pretrained": lambda path: sextant.load_pretrained(path),
    "from_config": lambda path: sextant.from_config(path),
    "TensorFile": lambda path: sextant.TensorFile(path),
    "PretrainedTokenizer": lambda path: sextant.PretrainedTokenizer(path),
    "evaluate": lambda path: sextant.shipped().evaluate(path),
    "losses": lambda path: sextant.plot.losses(path),
    "extrapolation": lambda path: sextant.plot.extrapolation(path),
    "resume": lambda path: sextant.train.resume(path),
    "lm": lambda path: sextant.train.lm(path, steps=1, progress=False),
    "Picture.save": lambda path: sextant.plot.heatmap("rotary").save(path + "/x.svg"),
}


@pytest.mark.parametrize("call", MISSING.values(), ids=MISSING.keys())
def test_a_missing_file_is_pythons_own_error_and_ours(call, tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing") as caught:
        call(str(tmp_path / "nothing"))
    assert isinstance(caught.value, sextant.Error) and isinstance(caught.value, ValueError)


def test_every_error_is_of_the_package_and_of_python():
    for kind, call in ((ValueError, lambda: sextant.rotary(4, 3)), (TypeError, lambda: sextant.attention(1, 2, 3)), (ValueError, lambda: sextant.find_scheme("x"))):
        with pytest.raises(sextant.Error) as caught:
            call()
        assert isinstance(caught.value, kind) and type(caught.value).__module__ == "sextant"
    assert not issubclass(sextant.Error, (ValueError, TypeError))


def test_dir_is_what_users_may_use():
    assert dir(sextant) == sorted({*sextant.__all__, "torch"})
    for module in (sextant.plot, sextant.train):
        assert dir(module) == sorted(module.__all__)


def test_no_base_of_a_model_is_a_public_helper():
    for model in (sextant.Translator, sextant.LanguageModel, sextant.MaskedModel):
        public = [base.__name__ for base in model.__mro__ if not base.__name__.startswith("_") and base is not object]
        assert set(public) <= {"Translator", "LanguageModel", "MaskedModel", "TextModel", "Model"}
