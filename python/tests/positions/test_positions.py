"""sextant.positions: ids of packed, padded and cached sequences, images and prompts, by their definitions, here and on the command line."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
import tiny

import sextant
from sextant import positions

MASK = np.array([[0, 0, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 1, 0, 1]])


def test_packed_ids_begin_again():
    np.testing.assert_array_equal(positions.packed([0, 2, 2, 5]), [0, 1, 0, 1, 2])
    np.testing.assert_array_equal(positions.packed(np.array([0, 3], np.int32)), [0, 1, 2])


@pytest.mark.parametrize("dtype", [bool, np.int64, np.uint8])
def test_padded_ids_count_the_tokens_before_on_either_side(dtype):
    mask = MASK.astype(dtype)
    counted = np.where(MASK, MASK.cumsum(1) - 1, 7)
    np.testing.assert_array_equal(positions.padded(mask, 7), counted)
    np.testing.assert_array_equal(positions.padded(mask[0]), [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(positions.padded(np.asfortranarray(mask)), np.where(MASK, MASK.cumsum(1) - 1, 0))
    np.testing.assert_array_equal(positions.fairseq(mask, 3), np.where(MASK, MASK.cumsum(1) + 3, 3))


def test_cached_shifted_and_random_ids():
    np.testing.assert_array_equal(positions.cached([3, 0], 2), [[3, 4], [0, 1]])
    shifted = positions.shifted(4, 9, seed=3)
    assert (np.diff(shifted) == 1).all() and 0 <= shifted[0] <= 9
    drawn = positions.random(5, 40, seed=3)
    assert len(set(drawn)) == 5 and (np.diff(drawn) > 0).all() and drawn.max() < 40
    np.testing.assert_array_equal(drawn, positions.random(5, 40, seed=3))


def test_images_and_videos():
    np.testing.assert_array_equal(positions.grid(2, 3), np.argwhere(np.ones((2, 3))))
    np.testing.assert_array_equal(positions.patches(32, 48), positions.grid(2, 3))
    np.testing.assert_array_equal(positions.patches(32, 48, (8, 16)), positions.grid(4, 3))
    np.testing.assert_array_equal(positions.video(2, 1, 3), np.argwhere(np.ones((2, 1, 3))))


def test_prompts_with_images_are_those_of_qwen2_vl():
    made = positions.mrope([("padding", 1), ("text", 2), ("image", 2, 3), ("text", 1), ("video", 2, 1, 1, 2.5), ["text", 1]], pad_id=9)
    image = np.argwhere(np.ones((1, 2, 3))) + 2
    wanted = [[9] * 3, [0] * 3, [1] * 3, *image.tolist(), [5] * 3, [6, 6, 6], [8, 6, 6], [9] * 3]
    np.testing.assert_array_equal(made.ids, wanted)
    assert made.next == 10 and made.delta == 10 - len(wanted)
    sextant.rotary_sections(made.ids, 8)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: positions.packed([1, 3]), r"\[packed.segments\] must begin with 0"),
    (lambda: positions.packed([0, 3, 2]), r"\[packed.segments\] must never fall"),
    (lambda: positions.padded(np.zeros((2, 2))), r"\[padded.mask\] must be an array of bool or integers"),
    (lambda: positions.padded(np.zeros((2, 2, 2), bool)), r"\[padded.mask\] must be \[batch, length\]"),
    (lambda: positions.padded(MASK, -1), r"\[padded.pad_id\] must be 0 .. 2\^53"),
    (lambda: positions.fairseq(MASK, -1), r"\[fairseq.padding_idx\] must be 0"),
    (lambda: positions.cached([-1], 2), r"\[cached.past\] must be 0 or more"),
    (lambda: positions.grid(0, 2), r"\[grid.rows\] must be 1"),
    (lambda: positions.grid(1 << 20, 1 << 20), r"\[grid.rows\] must make 0 .. 2\^30 ids"),
    (lambda: positions.patches(33, 48), r"\[patches.height\] must be a multiple of the patch's 16, got 33"),
    (lambda: positions.patches(32, 48, 0), r"\[patches.patch\] must be 1 or more"),
    (lambda: positions.mrope([("word", 2)]), r'\[mrope.segments\] must be tuples \("text", length\)'),
    (lambda: positions.mrope("text"), r"\[mrope.segments\] must be a list of segments"),
    (lambda: positions.random(4, 3), r"\[random.max_length\] must be at least the length"),
    (lambda: positions.shifted(4, -1), r"\[shifted.max_shift\] must be 0 or more"),
])  # fmt: skip
def test_what_makes_no_ids_is_refused_by_name(call, words):
    with pytest.raises(sextant.Error, match=words):
        call()


RULES = {
    "packed:0,2,5": lambda: positions.packed([0, 2, 5]),
    "grid:2x3": lambda: positions.grid(2, 3),
    "patches:32x48/16": lambda: positions.patches(32, 48),
    "video:2x1x3": lambda: positions.video(2, 1, 3),
    "mrope:text=2,image=1x2,padding=1": lambda: positions.mrope([("text", 2), ("image", 1, 2), ("padding", 1)]).ids,
}


@pytest.mark.parametrize("rule", RULES)
def test_the_command_line_makes_the_same_ids(rule):
    ids = RULES[rule]()
    scheme = {1: "sinusoidal --width 4", 2: "sincos_2d --width 8", 3: "sincos_3d --width 12"}[1 if ids.ndim == 1 else ids.shape[1]]
    made = json.loads(tiny.program("encode", "--scheme", *scheme.split(), "--ids", rule, "--format", "json"))
    np.testing.assert_array_equal(made["positions"], ids)


@pytest.mark.parametrize("name", ["padded", "fairseq"])
def test_the_command_line_reads_a_mask(name, tmp_path):
    for number, mask in enumerate((MASK, MASK.astype(bool), MASK[1])):
        path = tmp_path / f"{number}.npy"
        np.save(path, mask)
        made = json.loads(tiny.program("encode", "--width", "4", "--ids", f"{name}:{path}", "--format", "json"))
        np.testing.assert_array_equal(made["positions"], getattr(positions, name)(mask).ravel())
    np.save(tmp_path / "floats.npy", MASK * 0.5)
    tiny.program("encode", "--width", "4", "--ids", f"{name}:{tmp_path}/floats.npy", fails=True)
    tiny.program("encode", "--width", "4", "--ids", f"{name}:{tmp_path}/0.npy", "-o", f"{tmp_path}/0.npy", fails=True)


@pytest.mark.parametrize("rule", ["packed:1,2", "packed:", "grid:2", "grid:0x2", "patches:33x48/16", "patches:32x48", "nothing:1", "2", "mrope:word=2", "mrope:text=-1"])
def test_the_command_line_refuses_other_rules(rule):
    tiny.program("encode", "--width", "4", "--ids", rule, fails=True)


def test_the_first_argument_of_every_scheme_is_positions():
    for scheme in sextant.schemes():
        assert next(iter(inspect.signature(scheme.function).parameters)) == "positions"
    rows = sextant.rotary(positions=range(3, 6), head_dim=4)
    assert rows == sextant.rotary([3, 4, 5], 4)
    with pytest.raises(TypeError, match=r"\[rotary.positions\] must be how many positions there are, or their ids, got float"):
        sextant.rotary(8.0, 16)
    with pytest.raises(ValueError, match=r"\[alibi.positions\] must leave heads x"):
        sextant.alibi(1 << 22, 1 << 10)
    table = sextant.rotary_dynamic_ntk(8, 4, length=9)
    assert len(table) == 8
