"""Arrays of .safetensors files: borrowed, and what is refused."""

import gc
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import sextant

TYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8,
    "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}


def write(path, tensors, metadata=None, pad=0):
    """tensors: name -> (dtype of the format, shape, bytes)."""
    header, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * ((8 - len(text) % 8) % 8 + pad)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors.values()))
    return path


def stored(array):
    return next(name for name, dtype in TYPES.items() if dtype == array.dtype), array.shape, array.tobytes()


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("pad", [0, 1])  # 1: not aligned
def test_arrays_are_those_of_the_file(tmp_path, name, pad):
    array = np.arange(6).reshape(2, 3).astype(TYPES[name])
    file = sextant.TensorFile(write(tmp_path / "t", {"a": stored(array), "none": (name, (0, 2), b""), "one": stored(array[0, 1])}, pad=pad))
    assert set(file) == {"none", "a", "one"}
    assert len(file) == 3 and "a" in file and "b" not in file and 3 not in file
    assert file["a"].dtype == array.dtype and not file["a"].flags.writeable
    np.testing.assert_array_equal(file["a"], array)
    assert file["none"].shape == (0, 2) and file["one"].shape == () and file["one"] == array[0, 1]
    with pytest.raises(KeyError):
        file["b"]


def test_bfloat16_is_that_of_ml_dtypes(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    file = sextant.TensorFile(write(tmp_path / "t", {"a": ("BF16", (2,), array.tobytes())}))
    assert file["a"].dtype == ml_dtypes.bfloat16 and not file["a"].flags.writeable
    np.testing.assert_array_equal(file["a"], array)


def test_bools_are_0_or_1(tmp_path):
    file = sextant.TensorFile(write(tmp_path / "t", {"a": ("BOOL", (3,), bytes([0, 1, 7]))}))
    assert file["a"].view(np.uint8).tolist() == [0, 1, 1]


def test_arrays_keep_the_file(tmp_path):
    path = write(tmp_path / "t", {"a": stored(np.arange(1000.0))}, {"k": "v"})
    file = sextant.TensorFile(str(path))
    assert file.metadata == {"k": "v"} and file.path == str(path) and file.files == [str(path)]
    assert "1 tensors" in repr(file)
    array, again = file["a"], file["a"]
    assert np.shares_memory(array, again)
    del file, again
    gc.collect()
    os.remove(path)
    np.testing.assert_array_equal(array, np.arange(1000.0))


def test_of_an_index(tmp_path):
    write(tmp_path / "1.safetensors", {"a": stored(np.arange(3))})
    write(tmp_path / "2.safetensors", {"b": stored(np.arange(4))})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}}))
    for path in (tmp_path, index):
        assert {name: array.size for name, array in sextant.TensorFile(path).items()} == {"a": 3, "b": 4}
    index.write_text(json.dumps({"weight_map": {"a": "../1.safetensors"}}))
    with pytest.raises(ValueError, match="must name files in its own folder, got '../1.safetensors' for tensor 'a'"):
        sextant.TensorFile(tmp_path)


def test_refused(tmp_path):
    (tmp_path / "t").write_bytes(b"PK")
    with pytest.raises(ValueError, match="is not a .safetensors file"):
        sextant.TensorFile(tmp_path / "t")
    with pytest.raises(ValueError, match="cannot be opened"):
        sextant.TensorFile(tmp_path / "none")
    for path in (3, None, ""):
        with pytest.raises((TypeError, ValueError), match=r"\[tensor_file.path\] must be a path"):
            sextant.TensorFile(path)


MEMORY = """
import resource, sys
import numpy
import sextant
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
sextant.TensorFile(sys.argv[1])["a"].sum()
before = peak()
file = sextant.TensorFile(sys.argv[2])
assert file["a"][-1] == 1
print(peak() - before)
"""


def test_looking_at_one_number_takes_no_memory(tmp_path):
    small, large = tmp_path / "small", tmp_path / "large"
    write(small, {"a": stored(np.ones(2, np.float32))})
    write(large, {"a": stored(np.ones(16 << 20, np.float32))})
    run = subprocess.run([sys.executable, "-c", MEMORY, small, large], check=True, capture_output=True, text=True)
    assert int(run.stdout) < 8 << 20
