"""sextant.torch.record() and output_attentions of Hugging Face's models."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tiny_models import FAMILIES, tiny  # noqa: E402

import sextant.torch  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.filterwarnings("ignore::FutureWarning")]
IDS = torch.randint(2, 97, (2, 12), generator=torch.Generator().manual_seed(0))
SEEN = torch.ones_like(IDS)
SEEN[0, :4] = 0


def inputs_of(family):
    made = {"input_ids": IDS, "attention_mask": SEEN}
    return {**made, "decoder_input_ids": IDS[:, :5]} if family == "t5" else made


def weights_of(outputs):
    return outputs["attentions" if "attentions" in outputs else "decoder_attentions"]


@pytest.mark.parametrize("family", FAMILIES)
def test_output_attentions_are_those_of_eager(family):
    ours, eager = (weights_of(tiny(family, name)(**inputs_of(family), output_attentions=True)) for name in ("sextant", "eager"))
    assert len(ours) == len(eager) > 0
    for a, b in zip(ours, eager):
        if a.shape[2] == IDS.shape[1]:  # rows of padding are zeros here
            a, b = (each.transpose(1, 2)[SEEN.bool()] for each in (a, b))
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


def test_a_record_has_the_layers_heads_and_rows_that_were_asked_for():
    model = tiny("llama", "sextant")
    whole = weights_of(model(IDS, output_attentions=True))
    with sextant.torch.record(model, layers=[1], heads=[2, 0], rows=[3, 11]) as maps:
        model(IDS)
    model(IDS[:, :3])  # is not recorded
    assert list(maps) == [1] and len(maps) == 1
    assert torch.equal(maps[1], whole[1][:, [2, 0]][:, :, [3, 11]])
    with sextant.torch.record(model) as maps:
        model(IDS)
    assert list(maps) == [0, 1, 2]
    picture = sextant.plot.attention(maps[2][0], [str(i) for i in range(12)])
    assert "12 queries by 12 keys in 4 heads" in picture.description
    with pytest.raises(KeyError, match="no map of layer 7; there is 0, 1, 2"):
        maps[7]


def test_modules_of_an_encoder_and_a_decoder_have_names():
    model, name = tiny("t5", "sextant"), "decoder.block.1.layer.1.EncDecAttention"
    with sextant.torch.record(model, layers=name) as maps:
        model(**inputs_of("t5"))
    assert maps[name].shape == (2, 4, 5, 12)
    with pytest.raises(sextant.Error, match=r"\[record.layers\] must be names of modules in a model of an encoder and a decoder"):
        sextant.torch.record(model, layers=[1])


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"layers": [9]}, ValueError, r"layers\] must be layers of the model, got 9"),
        ({"layers": ["x"]}, ValueError, r"layers\] must be modules of the model, got 'x'"),
        ({"layers": [1.5]}, TypeError, r"layers\] must be numbers of layers or names of modules, got 1.5"),
        ({"heads": [4]}, ValueError, r"heads\] must be 0 .. 3, got 4"),
        ({"heads": []}, ValueError, r"heads\] must not be empty"),
        ({"rows": [-1]}, TypeError, r"rows\] must be whole numbers from 0, got -1"),
        ({"rows": 12}, ValueError, r"rows\] must be 0 .. 11, got 12"),
        ({"max_bytes": 5000}, ValueError, r"max_bytes\] must be 9216 or more for the maps of 2 layers, got 5000: choose fewer"),
    ],
)
def test_what_cannot_be_recorded_is_refused_by_name(options, kind, words):
    model = tiny("llama", "sextant")
    with pytest.raises(kind, match=r"\[record\." + words):
        with sextant.torch.record(model, **options):
            model(IDS)
    assert not sextant.torch._record.active


def test_other_models_are_refused():
    with pytest.raises(ValueError, match=r"\[record.model\] must run with attn_implementation=\"sextant\", got 'eager'"):
        sextant.torch.record(tiny("llama"))
    with pytest.raises(TypeError, match=r"\[record.model\] must be a model of transformers, got Linear"):
        sextant.torch.record(torch.nn.Linear(2, 2))


def test_generation_keeps_the_last_call():
    model = tiny("llama", "sextant")
    with sextant.torch.record(model, layers=0) as maps:
        model.generate(IDS, max_new_tokens=3, do_sample=False)
    assert maps[0].shape == (2, 4, 1, 14)


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma2", "t5"])
def test_a_compiled_model_is_one_graph(family):
    torch._dynamo.reset()
    model, inputs = tiny(family, "sextant"), {**inputs_of(family), "use_cache": False}
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(**inputs).logits, model(**inputs).logits)
