"""Arrays go in and out without copies: pointers, strides, DLPack, the buffer protocol, bfloat16."""

import array
import ctypes
import gc
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from calls import CALLS, arrays_of, results_of

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


CHANGES = {
    "reversed": lambda x: x[::-1],
    "every other": lambda x: x[..., ::2],
    "part": lambda x: x[..., 1:-1],
    "Fortran": np.asfortranarray,
    "swapped": lambda x: x.swapaxes(0, -1),
    "repeated": lambda x: np.broadcast_to(x[:1], x.shape),
}


def strided(x, change):
    """x's numbers at the strides that `change` makes of a larger array; writable but for repeated rows."""
    if change == "repeated":
        return CHANGES[change](x)
    room = np.zeros([2 * size + 6 for size in x.shape], x.dtype)
    view = CHANGES[change](room)
    if change == "swapped":
        view = CHANGES[change](room.T.copy().T)
    view = view[tuple(slice(size) for size in x.shape)]
    view[...] = x
    return view


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("change", CHANGES)
def test_strided_views(name, change):
    call = CALLS[name]
    views = {key: strided(x, change) for key, x in arrays_of(call).items()}
    wanted = results_of(call, call.run(**{key: np.ascontiguousarray(x) for key, x in views.items()}))
    for seen, expected in zip(results_of(call, call.run(**views)), wanted):
        np.testing.assert_array_equal(seen, expected)
    if call.out and change != "repeated":
        out = strided(np.zeros(call.shapes[call.out], np.float32), change)
        base, outside = out.base, out.base.sum(dtype=np.float64)
        assert outside == 0
        assert call.run(**views, out=out) is out
        np.testing.assert_array_equal(out, wanted[0])
        out[...] = 0
        assert not base.any()  # nothing beside the view was written


@pytest.mark.parametrize("name", CALLS)
def test_out_of_another_library_gets_the_numbers(name):
    """DLPack in and out for each function: what it is given, and what it writes to, are the same memory."""
    call = CALLS[name]
    arrays = arrays_of(call)
    wanted = results_of(call, call.run(**arrays))
    foreign = {key: OnlyDLPack(x) for key, x in arrays.items()}
    for seen, expected in zip(results_of(call, call.run(**foreign)), wanted):
        np.testing.assert_array_equal(seen, expected)
    if call.out:
        room = np.zeros(call.shapes[call.out], np.float32)
        alias = OnlyDLPack(room)
        assert call.run(**foreign, out=alias) is alias
        np.testing.assert_array_equal(room, wanted[0])
        refused = ((np.zeros(room.shape), TypeError), (room.astype(np.int32), TypeError), (room[..., 1:].copy(), ValueError), ("out", TypeError))
        for wrong, kind in refused:
            with pytest.raises(kind, match=r"\.out\] must be"):
                call.run(**arrays, out=wrong)
        frozen = room.copy()
        frozen.flags.writeable = False
        with pytest.raises((TypeError, ValueError), match=r"\.out\] must be"):
            call.run(**arrays, out=frozen)


@pytest.mark.parametrize("name", CALLS)
def test_results_go_out_by_dlpack_without_a_copy(name):
    call = CALLS[name]
    for result in results_of(call, call.run(**arrays_of(call))):
        again = np.from_dlpack(result)
        assert again.ctypes.data == result.ctypes.data and again.strides == result.strides


@pytest.mark.parametrize("name", CALLS)
def test_a_mask_of_numpy_ma_is_not_passed_over(name):
    """DLPack shows the numbers of a MaskedArray without its mask."""
    call = CALLS[name]
    arrays = arrays_of(call)
    for key, x in arrays.items():
        masked = np.ma.MaskedArray(x, mask=np.zeros(x.shape, bool))
        with pytest.raises(TypeError, match=rf"{key}\] must be an array without a mask, as filled\(\) gives"):
            call.run(**{**arrays, key: masked})
    if call.out:
        with pytest.raises(TypeError, match="out. must be an array without a mask"):
            call.run(**arrays, out=np.ma.zeros(call.shapes[call.out], np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_strided_views_of_every_dtype(dtype):
    x = random(2, 4, 6, 8, dtype=dtype)[:, ::-1, :, ::2]
    np.testing.assert_array_equal(sextant.attention(x, x, x), sextant.attention(*[np.ascontiguousarray(x)] * 3))


MEMORY = """
import resource, sys
import numpy as np
import sextant
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
x = np.ones((1, 8, 32768, 64), np.float32)  # 64 MiB
out, one = np.empty_like(x), x[:, :, :1]
table = x[0, 0]
rotation = sextant.rotary(32768, 64)
near = dict(causal="at_offsets", window=(63, 0), query_offsets=[32767])
calls = {
    "attention": (lambda: sextant.attention(one, x, x, **near), 0),
    "attention out": (lambda: sextant.attention(x, x, x, out=out, causal="top_left", window=(63, 0), threads=1), 0),
    "attention_weights": (lambda: sextant.attention_weights(one, x, **near), 8 * 32768 * 4),
    "attention_statistics": (lambda: sextant.attention_statistics(one, x, **near), 8 * 32768 * 4),
    "rotate": (lambda: sextant.rotate(x, rotation, out=out), 0),
    "rotate new": (lambda: sextant.rotate(x, rotation), x.nbytes),
    "add_positions": (lambda: sextant.add_positions(x, table, out=out), 0),
    "sinusoidal": (lambda: sextant.sinusoidal(262144, 64, out=out.reshape(-1, 64)), 0),
    "backward": (lambda: sextant.attention_backward(one, one, x, x, threads=1, **near), 2 * x.nbytes),
}
out[...] = 0
call, made = calls[sys.argv[1]]
tiny = np.ones((1, 8, 64, 64), np.float32)
sextant.attention(tiny, tiny, tiny)
before = peak()
call()
print(peak() - before - made)
"""


@pytest.mark.parametrize(
    "name",
    ["attention", "attention out", "attention_weights", "attention_statistics", "rotate", "rotate new", "add_positions", "sinusoidal",
     "backward"],
)  # fmt: skip
def test_memory_is_that_of_the_result(name):
    """A copy of an argument would be 64 MiB; scratch of blocks and tasks is a few."""
    run = subprocess.run([sys.executable, "-c", MEMORY, name], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 48 << 20


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


@pytest.mark.parametrize("value", [None, 3, "q", [1.0], {}, np.array(["a"]), np.zeros(3, complex), np.zeros((1,) * 9), np.datetime64("2020")])
def test_refuses_what_is_no_array(value):
    with pytest.raises((TypeError, ValueError), match=r"\[attention.q\] must be"):
        sextant.attention(value, np.zeros((1, 1, 1, 1), np.float32), np.zeros((1, 1, 1, 1), np.float32))


class OnlyNull:
    """An array of DLPack's with 2 x 3 elements of float32 and no memory."""

    def __dlpack__(self, **options):
        if options:
            raise TypeError("the oldest form only")
        shape, self.strides = (ctypes.c_int64 * 2)(2, 3), (ctypes.c_int64 * 2)(3, 1)
        self.kept = (ctypes.c_int64 * 12)()  # DLManagedTensor: data, device, ndim and dtype, shape, strides, offset, owner, deleter
        self.kept[1], self.kept[2] = 1, 2 | 2 << 32 | 32 << 40 | 1 << 48
        self.kept[3], self.kept[4], self.shape = ctypes.addressof(shape), ctypes.addressof(self.strides), shape
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.kept), b"dltensor", None)

    def __dlpack_device__(self):
        return (1, 0)


def test_refuses_arrays_without_memory():
    for call in (sextant.identify, lambda x: sextant.add_positions(x, np.zeros((2, 3), np.float32))):
        with pytest.raises(ValueError, match=r"\] must have memory for its elements, got a null pointer"):
            call(OnlyNull())


def test_refuses_rows_of_no_ids():
    for scheme in (lambda ids: sextant.sinusoidal(ids, 8), lambda ids: sextant.rotary(ids, 8), lambda ids: sextant.sincos_2d(ids, 8)):
        with pytest.raises(ValueError, match="must have one id or more per row, got the shape \\[5, 0\\]"):
            scheme(np.zeros((5, 0), np.int64))


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
