"""Learned grids of positions in other sizes, by torch's and JAX's conventions, here and on the command line."""

from __future__ import annotations

import numpy as np
import pytest
import tiny

import sextant

RNG = np.random.default_rng(0)
CONVENTIONS = ["torch", "torch_antialias", "torch_corners", "jax"]
SIZES = [((4, 6), (7, 3)), ((5, 5), (2, 9)), ((3, 4), (1, 1)), ((1, 3), (4, 6)), ((14, 14), (16, 12))]


def jax_weights(size, new, method):
    """compute_weight_mat() of jax.image, with antialias=True."""
    scale = size / new
    at = (np.arange(new) + 0.5) * scale - 0.5
    x = np.abs(at[None] - np.arange(size)[:, None]) / max(scale, 1)
    if method == "bilinear":
        weights = np.maximum(0, 1 - x)
    else:
        near = ((1.5 * x - 2.5) * x) * x + 1
        far = ((-0.5 * x + 2.5) * x - 4) * x + 2
        weights = np.where(x >= 2, 0, np.where(x >= 1, far, near))
    return weights / weights.sum(0)


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("old", "new"), SIZES)
def test_it_is_that_of_jax(old, new, method):
    table = RNG.standard_normal((1 + old[0] * old[1], 5))
    grid = table[1:].reshape(*old, 5)
    rows, columns = (jax_weights(a, b, method) for a, b in zip(old, new))
    wanted = np.einsum("ijc,ia,jb->abc", grid, rows, columns).reshape(-1, 5)
    made = sextant.resize_grid(table, new, old_size=old, prefix=1, method=method, convention="jax")
    np.testing.assert_allclose(made[1:], wanted, atol=1e-13)
    np.testing.assert_array_equal(made[0], table[0])


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize("convention", CONVENTIONS[:3])
@pytest.mark.parametrize(("old", "new"), SIZES)
def test_it_is_that_of_torch(old, new, method, convention):
    torch = pytest.importorskip("torch")
    table = RNG.standard_normal((old[0] * old[1], 5))
    image = torch.tensor(table.reshape(1, *old, 5)).permute(0, 3, 1, 2)
    more = {"torch": {}, "torch_antialias": {"antialias": True}, "torch_corners": {"align_corners": True}}[convention]
    wanted = torch.nn.functional.interpolate(image, new, mode=method, **more).permute(0, 2, 3, 1).reshape(-1, 5)
    made = sextant.resize_grid(table, new, old_size=old, method=method, convention=convention)
    np.testing.assert_allclose(made, wanted.numpy(), atol=1e-12)
    tensor = sextant.resize_grid(torch.tensor(table, dtype=torch.float32), new, old_size=old, method=method, convention=convention)
    assert tensor.dtype == torch.float32 and isinstance(tensor, torch.Tensor)


def test_a_square_is_the_default_and_a_grid_of_the_same_size_stays():
    table = RNG.standard_normal((2 + 9, 4)).astype(np.float16)
    np.testing.assert_array_equal(sextant.resize_grid(table, 3, prefix=2), table)
    assert sextant.resize_grid(table, (2, 5), prefix=2).shape == (12, 4)
    np.testing.assert_array_equal(sextant.resize_grid(table, 4, prefix=2), sextant.resize_grid(table, (4, 4), old_size=(3, 3), prefix=2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_command_line_gives_the_same_bits(dtype, convention, tmp_path):
    table = RNG.standard_normal((1 + 6, 4)).astype(dtype)
    np.save(tmp_path / "table.npy", table)
    options = ["--new-size", "3x4", "--old-size", "2x3", "--prefix", "1", "--method", "bilinear", "--convention", convention]
    tiny.program("resize-grid", str(tmp_path / "table.npy"), *options, "-o", str(tmp_path / "new.npy"))
    made = sextant.resize_grid(table, (3, 4), old_size=(2, 3), prefix=1, method="bilinear", convention=convention)
    np.testing.assert_array_equal(np.load(tmp_path / "new.npy"), made)
    tiny.program("resize-grid", str(tmp_path / "table.npy"), *options, "-o", str(tmp_path / "table.npy"), fails=True)
    tiny.program("resize-grid", str(tmp_path / "table.npy"), "--new-size", "3x", "-o", str(tmp_path / "x.npy"), fails=True)
    tiny.program("resize-grid", str(tmp_path / "table.npy"), "--new-size", "3", "-o", str(tmp_path / "x.npy"), fails=True)


TABLE = np.zeros((9, 2))


@pytest.mark.parametrize(("call", "words"), [
    (lambda: sextant.resize_grid(TABLE, 2, prefix=1), r"\[resize_grid.old_size\] must be given for a table that is not square, got 8 patches"),
    (lambda: sextant.resize_grid(TABLE, 2, old_size=(2, 4)), r"\[resize_grid.table\] must be \[8, width\]"),
    (lambda: sextant.resize_grid(TABLE, 0), r"\[resize_grid.new_size\] must be"),
    (lambda: sextant.resize_grid(TABLE, (1, 2, 3)), r"\[resize_grid.new_size\] must be a side"),
    (lambda: sextant.resize_grid(TABLE, 2, prefix=-1), r"\[resize_grid.prefix\] must be"),
    (lambda: sextant.resize_grid(TABLE, 2, prefix=9), r"\[resize_grid.old_size\] must be given"),
    (lambda: sextant.resize_grid(TABLE, 2, method="nearest"), r"\[resize_grid.method\] must be one of bilinear, bicubic"),
    (lambda: sextant.resize_grid(TABLE, 2, convention="tf"), r"\[resize_grid.convention\] must be one of torch, torch_antialias, torch_corners, jax"),
    (lambda: sextant.resize_grid(TABLE[0], 2), r"\[resize_grid.table\] must be \[prefix"),
    (lambda: sextant.resize_grid(TABLE.astype(int), 2), r"\[resize_grid.table\] must be of float32"),
    (lambda: sextant.resize_grid(TABLE, 1 << 20), r"\[resize_grid.new_size\] must give at most 2\^31"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(call, words):
    with pytest.raises(sextant.Error, match=words):
        call()
