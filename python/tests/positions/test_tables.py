"""rotate() and add_positions()."""

import ml_dtypes
import numpy as np
import pytest

import sextant


def random(*shape, dtype=np.float32):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("layout", ["half_split", "interleaved"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rotate_is_the_formula(layout, dtype):
    x = random(2, 3, 5, 8, dtype=dtype)
    table = sextant.rotary(5, 8, layout=layout, dtype=dtype)
    got = sextant.rotate(x, table)
    first, second = (x[..., :4], x[..., 4:]) if layout == "half_split" else (x[..., ::2], x[..., 1::2])
    y1, y2 = first * table.cos - second * table.sin, first * table.sin + second * table.cos
    wanted = np.concatenate([y1, y2], -1) if layout == "half_split" else np.stack([y1, y2], -1).reshape(x.shape)
    np.testing.assert_allclose(got, wanted, atol=1e-6 if dtype == np.float32 else 1e-14)
    np.testing.assert_allclose(sextant.rotate(got, table, inverse=True), x, atol=1e-6 if dtype == np.float32 else 1e-14)


def test_rotate_in_place_and_into_views():
    x = random(1, 2, 5, 8)
    table = sextant.rotary(5, 8)
    wanted = sextant.rotate(x, table)
    strided = np.zeros((1, 5, 2, 8), np.float32).swapaxes(1, 2)
    assert sextant.rotate(x, table, out=strided) is strided
    np.testing.assert_array_equal(strided, wanted)
    assert sextant.rotate(x, table, out=x) is x
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bits_take_tables_of_float32_or_their_own(dtype):
    x = random(1, 1, 5, 8, dtype=np.float16 if dtype == "float16" else ml_dtypes.bfloat16)
    exact = sextant.rotate(x.astype(np.float64), sextant.rotary(5, 8, dtype="float64"))
    for of in ("float32", dtype):
        got = sextant.rotate(x, sextant.rotary(5, 8, dtype=of))
        assert got.dtype == x.dtype
        np.testing.assert_allclose(got.astype(np.float64), exact, atol=0.03)
    with pytest.raises(TypeError, match=rf"\[rotate.table\] must be of {dtype} or float32, as x"):
        sextant.rotate(x, sextant.rotary(5, 8, dtype="float64"))


def test_a_table_from_arrays():
    made = sextant.rotary(5, 8, layout="interleaved")
    table = sextant.RotationTable(made.cos, made.sin, layout="interleaved")
    x = random(1, 1, 5, 8)
    np.testing.assert_array_equal(sextant.rotate(x, table), sextant.rotate(x, made))
    with pytest.raises(ValueError, match=r"\[RotationTable.sin\] must be of the shape of cos"):
        sextant.RotationTable(made.cos, made.sin[:4])
    with pytest.raises(ValueError, match=r"\[RotationTable.layout\] must be one of"):
        sextant.RotationTable(made.cos, made.sin, layout="other")
    with pytest.raises(TypeError, match=r"\[RotationTable.keys\] must be a RotationTable"):
        sextant.RotationTable(made.cos, made.sin, keys=3)


def test_a_bias_from_arrays():
    values = random(2, 7)
    bias = sextant.DistanceBias(values, slopes=[0.5, 0.25])
    np.testing.assert_array_equal(bias.values, values)
    assert bias.origin == 3
    assert bias.slopes == (0.5, 0.25)
    assert sextant.DistanceBias(slopes=[1]).values is None
    with pytest.raises(ValueError, match=r"\[DistanceBias.values\] must be \[heads or 1, distances\]"):
        sextant.DistanceBias(values[0])


@pytest.mark.parametrize("shape", [(5, 6), (3, 5, 6), (2, 3, 5, 6)])
def test_add_positions(shape):
    x = random(*shape)
    table = sextant.sinusoidal(5, 6)
    np.testing.assert_array_equal(sextant.add_positions(x, table), x + table)
    assert sextant.add_positions(x, table, out=x) is x
    with pytest.raises(ValueError, match=r"\[add_positions.table\] must be \[length, width\] of x, \[5, 6\], got \[4, 6\]"):
        sextant.add_positions(x, table[:4])
    with pytest.raises(TypeError, match=r"\[add_positions.table\] must be of float32, as x"):
        sextant.add_positions(x, table.astype(np.float64))


def test_none_is_no_table():
    q = np.zeros((1, 1, 2, 4), np.float32)
    with pytest.raises(TypeError, match=r"\[rotate.table\] must be a RotationTable, got NoneType"):
        sextant.rotate(q, None)
    with pytest.raises(TypeError, match=r"\[attention.bias\] must be an array"):
        sextant.attention(q, q, q, bias=[None])
    for rows, slopes in ((4, 2), (2, 4)):
        with pytest.raises(ValueError, match=rf"\[DistanceBias.slopes\] must be one for each head of values, {rows}, got {slopes}"):
            sextant.DistanceBias(np.zeros((rows, 3)), slopes=[0.5] * slopes)


def test_flags_may_be_numpys():
    q = np.zeros((1, 1, 2, 4), np.float32)
    sextant.rotate(q, sextant.rotary(2, 4), inverse=np.bool_(True))
    with pytest.raises(TypeError, match=r"\[rotate.inverse\] must be True or False, got int"):
        sextant.rotate(q, sextant.rotary(2, 4), inverse=1)


def test_rotation_tables_know_the_positions_of_their_rows() -> None:
    assert sextant.rotary(4, 8).positions.tolist() == [0, 1, 2, 3]
    for ids in ([1000000, 1000001, 1000002], [-3, 5, 5], np.array([7, 2, 9])):
        table = sextant.rotary(ids, 8)
        assert table.positions.tolist() == list(ids)
        mine = sextant.RotationTable(table.cos, table.sin, positions=list(ids))
        q = np.random.default_rng(1).standard_normal((1, 2, 3, 8)).astype(np.float32)
        by_index = sextant.attention(q, q, q, rotation=table)
        where = np.array(ids)[None]
        for of in (table, mine):
            np.testing.assert_array_equal(sextant.attention(q, q, q, positions=(where, where), rotation=of), by_index)
        with pytest.raises(ValueError, match=r"\[attention\.rotation\] must have a row for each"):
            sextant.attention(q, q, q, positions=(where + 1, where), rotation=table)
    assert sextant.RotationTable(table.cos, table.sin, positions=12).positions.tolist() == [12, 13, 14]
    with pytest.raises(ValueError, match=r"\[RotationTable\.positions\] must be one id for each of the 3 rows, got 2"):
        sextant.RotationTable(table.cos, table.sin, positions=[1, 2])


def test_rotary_positions_may_be_real_numbers() -> None:
    times = np.array([0.5, -2.25])
    angle = times[:, None] * 10000.0 ** (-np.arange(4) / 4)
    np.testing.assert_allclose(sextant.rotary(times, 8, dtype="float64").sin, np.sin(angle), rtol=0, atol=2**-50)
    pixels = sextant.rotary_sections(np.array([[0.5, 1.5], [2.5, 0.5]]), 8, sections=[2, 2], dtype="float64")
    np.testing.assert_allclose(pixels.cos[0], np.cos(np.array([0.5, 0.5, 1.5, 1.5]) * 10000.0 ** (-np.arange(4) / 4)), rtol=0, atol=2**-50)
    with pytest.raises(TypeError, match=r"\[rotary_axial.positions\] must be a whole number or an array of whole numbers"):
        sextant.rotary_axial(times, 8)
