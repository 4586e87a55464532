"""Schemes are functions that the registry generates: their signatures, their numbers, their errors."""

import inspect
import math

import numpy as np
import pytest

import sextant

SIZES = {"added": [8], "rotated": [8], "distance_bias": [4], "indexed_bias": [4], "content": [4, 8], "none": []}
ALL = sextant.schemes()


@pytest.mark.parametrize("scheme", ALL, ids=lambda s: s.name)
def test_signature_is_the_registry(scheme):
    signature = inspect.signature(getattr(sextant, scheme.name))
    names = list(signature.parameters)
    assert names[0] == "positions"
    for parameter in scheme.parameters:
        shown = signature.parameters[parameter.name]
        assert shown.kind is inspect.Parameter.KEYWORD_ONLY
        if parameter.required:
            assert shown.default is inspect.Parameter.empty
        else:
            assert shown.default == parameter.default
    assert ("weights" in names) == bool(scheme.weights)


@pytest.mark.parametrize("scheme", ALL, ids=lambda s: s.name)
def test_help_says_idea_ranges_formula_and_source(scheme):
    text = " ".join(getattr(sextant, scheme.name).__doc__.split())
    assert scheme.idea in text
    assert scheme.paper in text
    for parameter in scheme.parameters:
        assert f"{parameter.name} (" in text
        assert parameter.meaning in text
    for word in ("Args:", "Returns:", "Raises:", "Source:"):
        assert word in text


@pytest.mark.parametrize("scheme", ALL, ids=lambda s: s.name)
def test_makes_what_its_kind_says(scheme):
    kinds = {
        "added": np.ndarray,
        "rotated": sextant.RotationTable,
        "distance_bias": sextant.DistanceBias,
        "indexed_bias": sextant.ScoreTerm,
        "content": sextant.ScoreTerm,
        "none": type(None),
    }
    extra = {"width": 8} if scheme.name == "transformer_xl" else {}
    assert isinstance(scheme(6, *SIZES[scheme.kind], **extra), kinds[scheme.kind])


@pytest.mark.parametrize("scheme", ALL, ids=lambda s: s.name)
def test_refuses_other_types_by_name(scheme):
    for parameter in scheme.parameters:
        with pytest.raises((TypeError, ValueError), match=rf"\[{scheme.name}\.{parameter.name}\]"):
            scheme(6, *SIZES[scheme.kind], **{parameter.name: object()})


def test_sinusoidal_is_the_formula():
    table = sextant.sinusoidal(50, 16, base=100.0, dtype="float64")
    angles = np.arange(50)[:, None] * 100.0 ** (-np.arange(0, 16, 2) / 16)
    np.testing.assert_allclose(table[:, 0::2], np.sin(angles), atol=1e-14)
    np.testing.assert_allclose(table[:, 1::2], np.cos(angles), atol=1e-14)


def test_sinusoidal_form_of_the_issue():
    parameters = inspect.signature(sextant.sinusoidal).parameters
    assert list(parameters)[:2] == ["positions", "width"]
    assert parameters["base"].default == 10000.0
    assert parameters["layout"].default == "interleaved"
    assert parameters["dtype"].default == "float32"


def test_float32_is_the_double_rounded_once():
    exact = sextant.sinusoidal([2**30, 10**9 + 7, 12345], 64, dtype="float64")
    assert sextant.sinusoidal([2**30, 10**9 + 7, 12345], 64).dtype == np.float32
    np.testing.assert_array_equal(sextant.sinusoidal([2**30, 10**9 + 7, 12345], 64), exact.astype(np.float32))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", np.float32, np.dtype("float16")])
def test_dtypes_of_numpy(dtype):
    assert sextant.sinusoidal(4, 4, dtype=dtype).dtype == np.dtype(dtype)


def test_bfloat16_is_that_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    table = sextant.sinusoidal(9, 8, dtype="bfloat16")
    assert table.dtype == ml_dtypes.bfloat16
    exact = sextant.sinusoidal(9, 8, dtype="float64")
    np.testing.assert_array_equal(table.astype(np.float64), exact.astype(ml_dtypes.bfloat16).astype(np.float64))


def test_ids_instead_of_a_length():
    whole = sextant.sinusoidal(20, 8)
    for ids in ([3, 7, 19], (3, 7, 19), np.array([3, 7, 19]), np.array([3, 7, 19], np.int32), range(3, 20, 1)):
        rows = list(ids)
        np.testing.assert_array_equal(sextant.sinusoidal(np.asarray(ids), 8), whole[rows])
    real = sextant.sinusoidal(np.array([0.5, 2.25]), 2, dtype="float64")
    np.testing.assert_allclose(real, [[math.sin(0.5), math.cos(0.5)], [math.sin(2.25), math.cos(2.25)]], atol=1e-15)
    with pytest.raises(TypeError, match=r"\[alibi.positions\] must be a whole number"):
        sextant.alibi(np.array([0.5]), 8)


def test_two_axes():
    grid = np.stack(np.meshgrid(np.arange(3), np.arange(4), indexing="ij"), -1).reshape(-1, 2)
    table = sextant.sincos_2d(grid, 16)
    assert table.shape == (12, 16)
    with pytest.raises(ValueError, match="sincos_2d"):
        sextant.sincos_2d(grid[:, :1], 15)


def test_out():
    out = np.full((5, 6), 9, np.float32)
    assert sextant.sinusoidal(5, 6, out=out) is out
    np.testing.assert_array_equal(out, sextant.sinusoidal(5, 6))
    wide = np.zeros((5, 12), np.float32)
    sextant.sinusoidal(5, 6, out=wide[:, :6])
    np.testing.assert_array_equal(wide[:, :6], out)
    assert not wide[:, 6:].any()
    with pytest.raises(ValueError, match=r"\[sinusoidal.out\] must be of shape \[5, 6\], got \[6, 5\]"):
        sextant.sinusoidal(5, 6, out=np.zeros((6, 5), np.float32))
    with pytest.raises(TypeError, match=r"\[sinusoidal.out\] must be of float32, got float64"):
        sextant.sinusoidal(5, 6, out=np.zeros((5, 6)))
    frozen = np.zeros((5, 6), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match=r"\[sinusoidal.out\] must be an array of numbers that can be written"):
        sextant.sinusoidal(5, 6, out=frozen)


def test_rotary_is_the_formula():
    table = sextant.rotary(7, 8, base=100.0, dtype="float64")
    angles = np.arange(7)[:, None] * 100.0 ** (-np.arange(0, 8, 2) / 8)
    np.testing.assert_allclose(table.cos, np.cos(angles), atol=1e-15)
    np.testing.assert_allclose(table.sin, np.sin(angles), atol=1e-15)
    assert table.layout == "half_split"
    assert table.first_channel == 0
    assert not table.cos.flags.writeable
    keys = sextant.xpos(7, 8).keys
    assert not np.array_equal(keys.cos, sextant.xpos(7, 8).cos)


def test_alibi_is_the_formula():
    bias = sextant.alibi(5, 8)
    distance = np.arange(-4, 5)
    np.testing.assert_array_equal(bias.values, [-(2.0 ** -(h + 1)) * abs(distance) for h in range(8)])
    assert bias.origin == 4


def test_given_weights():
    table = np.arange(6.0).reshape(3, 2)
    rows = sextant.learned(3, 2, weights={"table": table}, dtype="float64")
    np.testing.assert_array_equal(rows, table)
    with pytest.raises(ValueError, match="learned.*table"):
        sextant.learned(3, 2, weights={"other": table})
    with pytest.raises(TypeError, match=r"\[learned.weights\] must be a dict"):
        sextant.learned(3, 2, weights=table)


def test_indexed_bias_as_an_array():
    seen = np.isfinite(sextant.chunk_mask(6, 1, chunk=3).array())[0]
    expected = np.tril(np.ones((6, 6), bool)) & (np.arange(6)[:, None] // 3 == np.arange(6) // 3)
    np.testing.assert_array_equal(seen, expected)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sextant.alibi(4, 2, direction="sideways"), ValueError, r"\[alibi.direction\] must be one of symmetric, causal"),
        (lambda: sextant.alibi(4, 2, max_bias="8"), TypeError, r"\[alibi.max_bias\] must be a number, got str"),
        (lambda: sextant.alibi(4, 2, max_bias=2000), ValueError, r"\[alibi.max_bias\] must be 0 .. 1000, got 2000"),
        (lambda: sextant.alibi(-1, 2), ValueError, r"\[alibi.positions\] must be 0 .. 2\^30, got -1"),
        (lambda: sextant.alibi(2.5, 2), TypeError, r"\[alibi.positions\] must be"),
        (lambda: sextant.alibi(4, "2"), TypeError, r"\[alibi.heads\] must be a whole number, got str"),
        (lambda: sextant.rotary(4, 7), ValueError, r"\[rotary.*\].*even"),
        (lambda: sextant.rotary(4, 8, base=-1), ValueError, r"\[rotary.base\] must be finite and above 0"),
        (lambda: sextant.sinusoidal(4, 4, dtype="int32"), ValueError, r"\[sinusoidal.dtype\] must be one of float32"),
        (lambda: sextant.sinusoidal(4, 4, bass=3), TypeError, "unexpected keyword argument 'bass'"),
        (lambda: sextant.rotary_yarn(4, 8, truncate=1), TypeError, r"\[rotary_yarn.truncate\] must be True or False, got int"),
        (lambda: sextant.find_scheme("rotory"), ValueError, r"\[find_scheme.name\] must be .*, got 'rotory'; did you mean 'rotary'\?"),
        (lambda: sextant.sinusoidal(2**70, 4), ValueError, r"\[sinusoidal.positions\] must fit in 64 bits"),
    ],
)
def test_errors_name_the_argument(call, error, text):
    with pytest.raises(error, match=text):
        call()
