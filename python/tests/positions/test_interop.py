"""Tables, configs and weights of other libraries."""

import inspect
import json
import types

import numpy as np
import pytest

import sextant


def test_identify_a_table():
    found = sextant.identify(sextant.sinusoidal(60, 16, base=500.0, layout="half_split"))
    assert found.scheme == "sinusoidal"
    assert found.parameters == {"base": "500", "layout": "half_split"}
    assert found.confidence > 0.9
    assert "500" in found.explanation
    remade = sextant.sinusoidal(60, 16, **sextant.find_scheme(found.scheme).read(found.parameters))
    np.testing.assert_array_equal(remade, sextant.sinusoidal(60, 16, base=500.0, layout="half_split"))


def test_identify_slopes_and_noise():
    slopes = 2.0 ** -np.arange(1, 9)
    assert sextant.identify(slopes).scheme == "alibi"
    assert sextant.identify(np.random.default_rng(0).standard_normal((30, 8))).scheme == "unknown"
    with pytest.raises(TypeError, match=r"\[identify.array\] must be an array"):
        sextant.identify("table.npy")
    with pytest.raises(ValueError, match="identify"):
        sextant.identify(np.full((4, 4), np.nan))


def test_identify_takes_the_tables_of_the_module():
    found = sextant.identify(sextant.rotary(64, 32, base=500000.0, layout="interleaved"))
    assert (found.scheme, found.parameters) == ("rotary", {"base": "500000", "layout": "interleaved"})
    assert sextant.identify(sextant.rotary_linear(64, 32, factor=4.0)).scheme == "rotary_linear"
    for bias in (sextant.alibi(64, 8), sextant.alibi(64, 8, direction="causal")):
        assert (sextant.identify(bias).scheme, sextant.identify(bias).heads) == ("alibi", 8)
    assert sextant.identify(sextant.prefix_mask(8, 2)).scheme == "unknown"
    with pytest.raises(TypeError, match=r"\[identify.array\]"):
        sextant.identify(sextant.shaw(8, 2, 4))


def test_identify_complex_numbers_and_frequencies():
    inv_freq = 500000.0 ** (-np.arange(0, 32, 2) / 32)
    angles = np.outer(np.arange(100), inv_freq)
    for cis, dtype in ((np.exp(1j * angles), None), (np.exp(1j * angles).astype(np.complex64), "float32")):
        found = sextant.identify(cis, dtype=dtype)
        assert (found.scheme, found.parameters["base"], found.mistake) == ("rotary", "500000", "")
        assert found.form == "[position, pair, cosine and sine]"
    found = sextant.identify(inv_freq.astype(np.float32))
    assert (found.scheme, found.parameters, found.form) == ("rotary", {"base": "500000"}, "frequencies (inv_freq)")


def test_identify_names_what_was_rounded():
    inv_freq = 10000.0 ** (-np.arange(0, 32, 2) / 32)
    rounded = np.arange(2500).astype(np.float16).astype(np.float64)
    cache = np.cos(np.outer(rounded, inv_freq)).astype(np.float32)
    assert sextant.identify(cache).mistake == "positions_rounded_to_float16"
    cache = np.cos(np.outer(np.arange(200), inv_freq)).astype(np.float16).astype(np.float32)
    assert sextant.identify(cache).mistake == "values_rounded_to_float16"
    assert sextant.identify(cache, dtype="float16").mistake == ""


LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 1e4}


def test_numbers_of_numpy_in_a_dict_are_numbers():
    scaling = {"rope_type": "linear", "factor": 4.0}
    wanted = sextant.from_config({**LLAMA, "rope_scaling": scaling})
    for real, whole in ((np.float32, np.int64), (np.float64, np.uint8), (lambda x: np.array(x), np.int32)):
        config = {name: whole(value) if isinstance(value, int) else value for name, value in LLAMA.items()}
        config.update(rope_theta=real(1e4), tie_word_embeddings=np.bool_(False), rope_scaling=types.MappingProxyType({**scaling, "factor": real(4)}))
        assert sextant.from_config(config) == wanted
    longrope = {"rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [2.0] * 8, "factor": 2.0, "original_max_position_embeddings": 64}
    arrays = {**longrope, "short_factor": np.ones(8, np.float32), "long_factor": np.full(8, 2.0)}
    assert sextant.from_config({**LLAMA, "rope_scaling": arrays}) == sextant.from_config({**LLAMA, "rope_scaling": longrope})


def test_what_json_cannot_hold_is_refused():
    itself = dict(LLAMA)
    itself["rope_scaling"] = itself
    deep = nested = {}
    for _ in range(100000):
        nested["rope_scaling"] = nested = {}
    for config, error in ((itself, ValueError), ({**LLAMA, "rope_scaling": deep}, ValueError), ({**LLAMA, "head_dim": object()}, TypeError),
                          ({**LLAMA, (1, 2): 3}, TypeError), (3, TypeError), (b"config.json", TypeError)):
        with pytest.raises(error, match=r"^\[from_config.config\] must"):
            sextant.from_config(config)


def test_a_layer_s_length_is_told():
    """The scheme's own parameter `length` is not hidden by the argument of the layer."""
    layer = sextant.from_config({"model_type": "llama", "rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}})
    pinned = layer([0, 1], length=16384)
    np.testing.assert_array_equal(pinned.cos, layer(16384).cos[:2])
    assert not np.array_equal(pinned.cos, layer([0, 1]).cos)


def test_no_argument_of_a_wrapper_hides_a_parameter():
    for scheme in sextant.schemes():
        names = {parameter.name for parameter in scheme.parameters}
        for wrapper in (sextant.LayerPositions.__call__, sextant.Scheme.__call__):
            kinds = inspect.signature(wrapper).parameters.values()
            assert not names & {argument.name for argument in kinds if argument.kind in (argument.KEYWORD_ONLY, argument.POSITIONAL_OR_KEYWORD)}


def test_a_config_as_dict_and_file(tmp_path):
    config = {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "rope_theta": 500000.0,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    layer = sextant.from_config(path, layer=3)
    assert layer == sextant.from_config(config)
    assert (layer.scheme, layer.kv_heads, layer.head_dim) == ("rotary_llama3", 8, 128)
    assert layer.parameters["base"] == 500000.0
    table = layer(100)
    wanted = sextant.rotary_llama3(100, 128, base=500000.0, factor=8.0, original_length=8192)
    np.testing.assert_array_equal(table.cos, wanted.cos)
    with pytest.raises(ValueError, match="layer"):
        sextant.from_config(config, layer=32)
    with pytest.raises(ValueError, match="model_type"):
        sextant.from_config({"model_type": "no such model"})
    with pytest.raises(ValueError, match="missing.json"):
        sextant.from_config(tmp_path / "missing.json")


def test_from_config_tells_softcap_and_sinks():
    gemma = sextant.from_config({"model_type": "gemma2"})
    assert (gemma.softcap, gemma.sinks) == (50.0, False)
    gpt_oss = sextant.from_config({"model_type": "gpt_oss"})
    assert (gpt_oss.softcap, gpt_oss.sinks) == (0.0, True)
    with pytest.raises(ValueError, match="sink_size is about positions"):
        sextant.from_config({"model_type": "llama", "sink_size": 4})


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_convert_rotary_there_and_back(dtype):
    weights = np.arange(3 * 8 * 5).reshape(24, 5).astype(dtype)
    halves = sextant.convert_rotary(weights, 8, "half_split")
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    np.testing.assert_array_equal(halves[:8], weights[order])
    np.testing.assert_array_equal(sextant.convert_rotary(halves, 8, "interleaved"), weights)
    assert sextant.convert_rotary(weights, 8, "half_split", out=weights) is weights
    np.testing.assert_array_equal(weights, halves)


def test_convert_rotary_keeps_scores():
    rng = np.random.default_rng(0)
    x, wq, wk = rng.standard_normal((5, 16)), rng.standard_normal((16, 16)), rng.standard_normal((16, 16))

    def scores(wq, wk, layout):
        table = sextant.rotary(5, 8, layout=layout, dtype="float64")
        q, k = ((x @ w.T).reshape(1, 5, 2, 8).swapaxes(1, 2) for w in (wq, wk))
        return sextant.rotate(q, table) @ sextant.rotate(k, table).swapaxes(2, 3)

    converted = [sextant.convert_rotary(w, 8, "half_split") for w in (wq, wk)]
    np.testing.assert_allclose(scores(wq, wk, "interleaved"), scores(*converted, "half_split"), atol=1e-12)
    with pytest.raises(ValueError, match="head"):
        sextant.convert_rotary(wq, 7, "half_split")
    with pytest.raises(ValueError, match=r"\[convert_rotary.to\] must be one of interleaved, half_split"):
        sextant.convert_rotary(wq, 8, "halves")
