"""Arrays go in and out without copies: pointers, strides, DLPack, the buffer protocol, bfloat16."""

import array
import gc

import ml_dtypes
import numpy as np
import pytest

import sextant


class OnlyDLPack:
    """An array of a library that is not NumPy's."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OnGpu(OnlyDLPack):
    def __dlpack_device__(self):
        return (2, 0)


def random(*shape, dtype=np.float32):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def test_nothing_is_copied_on_the_way_in():
    # 256 GiB of keys and of values, whose rows are all the same memory: a copy would fit into no machine that runs this.
    row = random(1, 1, 1, 64)
    wide = np.broadcast_to(row, (1, 1, 1 << 30, 64))
    q = np.broadcast_to(row, (1, 1, 64, 64))
    seen = sextant.attention(q, wide, wide, causal="at_offsets", window=(3, 0), query_offsets=[1 << 29])
    np.testing.assert_allclose(seen, q, atol=1e-6)


def test_out_is_the_callers_memory():
    out = np.zeros((1, 1, 1, 64), np.float32)
    row = random(1, 1, 1, 64)
    alias = OnlyDLPack(out)
    assert sextant.attention(row, row, row, out=alias) is alias
    np.testing.assert_allclose(out, row, atol=1e-6)


def test_results_go_where_out_points():
    q = random(2, 3, 5, 8)
    room = np.zeros((2, 5, 3, 16), np.float32)
    view = room.transpose(0, 2, 1, 3)[..., 4:12]
    before = room.ctypes.data
    assert sextant.attention(q, q, q, out=view) is view
    assert room.ctypes.data == before
    np.testing.assert_array_equal(view, sextant.attention(q, q, q))
    assert not room[..., :4].any() and not room[..., 12:].any()


def test_new_results_are_aligned_and_own_their_memory():
    q = random(1, 1, 3, 8)
    out = sextant.attention(q, q, q)
    assert out.ctypes.data % 64 == 0
    assert out.flags.writeable
    kept = out.copy()
    del q
    gc.collect()
    for _ in range(50):
        sextant.sinusoidal(3, 8)
    np.testing.assert_array_equal(out, kept)


def test_views_of_tables_are_the_tables_memory():
    table = sextant.rotary(50, 64)
    assert table.cos.ctypes.data == table.cos.ctypes.data
    cos = table.cos
    kept = cos.copy()
    del table
    gc.collect()
    sextant.rotary(50, 64, base=3.0)
    np.testing.assert_array_equal(cos, kept)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x[:, ::-1],
        lambda x: x[..., ::2],
        lambda x: x[:, :, 1:4],
        lambda x: np.asfortranarray(x),
        lambda x: x.swapaxes(1, 2),
        lambda x: np.broadcast_to(x[:, :1], x.shape),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_strided_views(change, dtype):
    x = change(random(2, 4, 6, 8, dtype=dtype))
    np.testing.assert_array_equal(sextant.attention(x, x, x), sextant.attention(*[np.ascontiguousarray(x)] * 3))


def test_dlpack_and_buffers():
    q = random(1, 2, 3, 4)
    wanted = sextant.attention(q, q, q)
    other = OnlyDLPack(q)
    np.testing.assert_array_equal(sextant.attention(other, other, other), wanted)
    out = np.zeros_like(q)
    sextant.attention(q, q, q, out=OnlyDLPack(out))
    np.testing.assert_array_equal(out, wanted)
    flat = array.array("f", q.reshape(-1))
    view = memoryview(flat).cast("B").cast("f", shape=q.shape)
    np.testing.assert_array_equal(sextant.attention(view, view, view), wanted)
    frozen = q.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(sextant.attention(frozen, frozen, frozen), wanted)


def test_bfloat16_of_ml_dtypes_in_and_out():
    q = random(1, 2, 3, 4, dtype=ml_dtypes.bfloat16)
    out = sextant.attention(q, q, q)
    assert out.dtype == ml_dtypes.bfloat16
    room = np.zeros_like(q)
    assert sextant.attention(q, q, q, out=room) is room
    np.testing.assert_array_equal(room.view(np.uint16), out.view(np.uint16))


@pytest.mark.parametrize("value", [None, 3, "q", [1.0], {}, np.array(["a"]), np.zeros(3, complex), np.zeros((1,) * 9)])
def test_refuses_what_is_no_array(value):
    with pytest.raises((TypeError, ValueError), match=r"\[attention.q\] must be"):
        sextant.attention(value, np.zeros((1, 1, 1, 1), np.float32), np.zeros((1, 1, 1, 1), np.float32))


def test_refuses_byte_orders_and_odd_strides():
    swapped = random(1, 1, 2, 2).astype(">f4")
    packed = np.zeros((1, 1, 2), dtype=[("pad", "i1"), ("x", "f4", (2,))])["x"]
    for x in (swapped, packed):
        with pytest.raises(TypeError, match=r"\[attention.q\] must be an array of numbers"):
            sextant.attention(x, x, x)


def test_overlap_of_out_is_refused():
    q = random(1, 1, 4, 8)
    with pytest.raises(ValueError, match=r"attention.out"):
        sextant.attention(q, q, q, out=q)
