"""Arrays of MLX and JAX, where they are installed (`make test-libraries`), and of a library whose import copies, which the tests bring:
a result is handed over when it is written, so it does not matter who copies."""

import importlib.util
import sys
import types

import ml_dtypes
import numpy as np
import pytest
from calls import CALLS, arrays_of, results_of

import sextant


class Copied:
    """An array of a library that copies whatever it is given, as mlx.core.array() does."""

    def __init__(self, values):
        self.values = np.array(values, copy=True)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


Copied.__module__ = "mlx.core"


@pytest.fixture
def copying(monkeypatch):
    if importlib.util.find_spec("mlx") is not None:
        pytest.skip("MLX itself is here, and nanobind keeps the function that it has found")
    monkeypatch.setitem(sys.modules, "mlx", types.ModuleType("mlx"))
    module = types.ModuleType("mlx.core")
    module.array = Copied
    monkeypatch.setitem(sys.modules, "mlx.core", module)
    return Copied


def library(name):
    """What makes an array of an installed library."""
    pytest.importorskip("mlx.core" if name == "mlx" else name)
    if name == "mlx":
        return importlib.import_module("mlx.core").array
    return importlib.import_module("jax.numpy").asarray


def check(make, call, dtype=np.float32):
    """Each result is of the library, with the numbers that NumPy's arrays give."""
    arrays = arrays_of(call, dtype)
    wanted = results_of(call, call.run(**arrays))
    given = {key: make(x) for key, x in arrays.items()}
    for seen, expected in zip(results_of(call, call.run(**given)), wanted):
        assert type(seen).__module__.split(".")[0] == type(next(iter(given.values()))).__module__.split(".")[0]
        np.testing.assert_array_equal(np.array(seen), expected)


@pytest.mark.parametrize("name", CALLS)
def test_a_library_that_copies_gets_what_was_computed(copying, name):
    check(copying, CALLS[name])


def test_out_of_a_library_that_copies_is_written_to(copying):
    q = copying(np.ones((1, 1, 4, 8), np.float32))
    out = copying(np.zeros((1, 1, 4, 8), np.float32))
    assert sextant.attention(q, q, q, out=out) is out
    assert (out.values == 1).all()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("of", ["mlx", "jax"])
def test_results_are_of_the_first_argument_s_library(of, name):
    make = library(of)
    for _ in range(3):  # a damaged heap shows later
        check(make, CALLS[name])


@pytest.mark.parametrize("of", ["mlx", "jax"])
def test_sixteen_bits(of):
    make, x = library(of), np.random.default_rng(0).standard_normal((1, 2, 5, 8))
    wanted = sextant.attention(*[x.astype(np.float16)] * 3)
    np.testing.assert_array_equal(np.array(sextant.attention(*[make(x.astype(np.float16))] * 3)), wanted)
    if of == "mlx":
        core = importlib.import_module("mlx.core")
        q = make(x.astype(np.float32)).astype(core.bfloat16)
        seen = np.array(sextant.attention(q, q, q).astype(core.float32))
    else:
        q = make(x.astype(ml_dtypes.bfloat16))
        seen = np.array(sextant.attention(q, q, q)).astype(np.float32)
    narrow = x.astype(np.float32).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(seen, sextant.attention(narrow, narrow, narrow).astype(np.float32))


def test_jax_arrays_of_any_size():
    """JAX copies memory that is not aligned as it likes, and shares the rest."""
    make = library("jax")
    for length in range(1, 40):
        x = np.random.default_rng(length).standard_normal((1, 1, length, 3)).astype(np.float32)
        np.testing.assert_array_equal(np.array(sextant.attention(*[make(x)] * 3)), sextant.attention(x, x, x))
