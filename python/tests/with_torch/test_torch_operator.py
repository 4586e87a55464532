"""sextant.torch where something else than eager torch looks at it: compiled, exported, transformed, counted."""

import io

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import library  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

import sextant  # noqa: E402
from sextant.torch import nn, scaled_dot_product_attention as sdpa  # noqa: E402
from sextant.torch._operator import in_words_of_operator  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.filterwarnings("ignore::FutureWarning"),
              pytest.mark.filterwarnings("ignore::UserWarning")]  # fmt: skip  # of torch, about itself


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


Q = random(2, 4, 6, 8)
OPTIONS = {
    "nothing": {},
    "causal": {"is_causal": True},
    "mask": {"attn_mask": random(6, 6), "softcap": 3.0},
    "lists": {"segments": [0, 2, 6], "slopes": [0.1, 0.2, 0.3, 0.4], "window": (3, 0), "causal": "bottom_right", "scale": 0.5},
    "lengths": {"key_lengths": [3, 6], "sinks": torch.zeros(4)},
    "tables": {"bias": [sextant.alibi(12, 4), sextant.chunk_mask(12, 4, chunk=5)], "rotation": sextant.rotary(12, 8), "positions": torch.arange(6)},
}


def derive(call, x, *more):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(call(x).square().sum(), (x, *more))


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_compiled_without_a_break_it_has_the_same_bits(options):
    call = lambda q: sdpa(q * 2, q, q, **options)  # noqa: E731
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(Q), call(Q))
    assert torch.equal(derive(compiled, Q)[0], derive(call, Q)[0])


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_transforms_of_functions(options):
    call = lambda q: sdpa(q, q, q, **options)  # noqa: E731
    loss = lambda q: call(q).square().sum()  # noqa: E731
    many = random(3, 2, 4, 6, 8)
    assert torch.equal(torch.func.vmap(call)(many), torch.stack([call(q) for q in many]))
    torch.testing.assert_close(torch.func.grad(loss)(Q), derive(call, Q)[0])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(many), torch.stack([derive(call, q)[0] for q in many]))


def test_dropout_is_drawn_anew_in_graphs_and_batches():
    call = lambda q: sdpa(q, q, q, dropout_p=0.4)  # noqa: E731
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    torch.manual_seed(1)
    first, second = compiled(Q), compiled(Q)
    assert not torch.equal(first, second)
    assert torch.isfinite(derive(compiled, Q)[0]).all()
    torch.manual_seed(1)
    assert torch.equal(compiled(Q), first)
    many = random(3, 2, 4, 6, 8)
    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(call)(many)
    torch.manual_seed(1)
    same = torch.func.vmap(call, randomness="same")(Q.expand(3, *Q.shape))
    assert torch.equal(same[0], same[1]) and torch.equal(same[0], same[2])
    different = torch.func.vmap(call, randomness="different")(Q.expand(3, *Q.shape))
    assert not torch.equal(different[0], different[1])


def test_dropout_has_gradients_of_a_batch():
    q = Q.clone().requires_grad_()
    out = sdpa(q, q, q, dropout_p=0.4)
    douts = random(3, *out.shape)
    together = torch.func.vmap(lambda dout: torch.autograd.grad(out, q, dout, retain_graph=True)[0])(douts)
    for dout, gradient in zip(douts, together):
        assert torch.equal(torch.autograd.grad(out, q, dout, retain_graph=True)[0], gradient)


def test_vmap_of_masks_biases_and_of_axes_that_are_not_first():
    masks, biases = random(3, 6, 6), random(3, 4, 11)
    loss = lambda mask, bias: sdpa(Q, Q, Q, mask, bias=bias).square().sum()  # noqa: E731
    got = torch.func.vmap(torch.func.grad(loss, (0, 1)))(masks, biases)
    for i in range(3):
        for each, wanted in zip(got, torch.func.grad(loss, (0, 1))(masks[i], biases[i])):
            torch.testing.assert_close(each[i], wanted)
    seen = torch.rand(2, 1, 1, 6, generator=torch.Generator().manual_seed(1)) < 0.7
    many = random(2, 4, 3, 6, 8)
    got = torch.func.vmap(lambda q: sdpa(q, q, Q, seen), in_dims=2, out_dims=2)(many)
    assert torch.equal(got, torch.stack([sdpa(q, q, Q, seen) for q in many.unbind(2)], 2))


def test_gradients_inside_a_later_vmap():
    q = Q.clone().requires_grad_()
    out, many = sdpa(q, q, q, **OPTIONS["tables"]), random(3, *Q.shape)
    gradient = lambda dout: torch.autograd.grad(out, q, dout, retain_graph=True)[0]  # noqa: E731
    torch.testing.assert_close(torch.func.vmap(gradient)(many), torch.stack([gradient(dout) for dout in many]))


def test_torchs_own_check_of_operators():
    inputs = [random(2, 4, 6, 8, seed=s).requires_grad_() for s in range(3)]
    bshd = [random(2, 6, 4, 8, seed=s).transpose(1, 2).requires_grad_() for s in range(3)]
    for tensors in (inputs, bshd):
        library.opcheck(torch.ops.sextant.attention, (*tensors, *in_words_of_operator({})))
    recipe = nn.PositionalLayer("t5", heads=2)
    library.opcheck(torch.ops.sextant.table, ([recipe.table], None, 5, recipe.recipe_text, "float32", False))
    rotary = nn.PositionalLayer("rotary", head_dim=8).recipe_text
    library.opcheck(torch.ops.sextant.rotate, (inputs[0], torch.arange(6), 6, rotary, False, False))


def test_the_flop_counter_counts_what_torch_counts():
    q, k, v = random(2, 4, 6, 8).requires_grad_(), random(2, 4, 9, 8), random(2, 4, 9, 5)
    counts = []
    for call in (sdpa, lambda *x: torch.ops.aten._scaled_dot_product_attention_math(*x)[0]):
        with FlopCounterMode(display=False) as counter:
            call(q, k, v)
        counts.append(counter.get_total_flops())
    assert counts[0] == counts[1] > 0
    with FlopCounterMode(display=False) as counter:
        sdpa(q, q, q).sum().backward()
    assert counter.get_total_flops() == 7 * 2 * 2 * 4 * 6 * 6 * 8


def test_shapes_without_numbers():
    meta = Q.to("meta")
    assert sdpa(meta, meta, meta, is_causal=True).shape == Q.shape
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(Q)
        assert sdpa(fake, fake, fake).stride() == Q.stride()
    for scheme, sizes in (("alibi", {"heads": 4}), ("t5", {"heads": 4}), ("learned", {"width": 8}), ("rotary", {"head_dim": 8})):
        layer = nn.PositionalLayer(scheme, 9, **sizes)
        wanted, got = layer(5), layer.to("meta")(5)
        for a, b in zip(*(made if isinstance(made, tuple) else (made,) for made in (wanted, got))):
            assert (a.shape, a.dtype, b.device.type) == (b.shape, b.dtype, "meta")
    alibi = nn.ALiBi(4).to("meta")
    assert (alibi.head_slopes.shape, alibi(3).shape) == ((4,), (4, 5))


class Layer(torch.nn.Module):
    def __init__(self, scheme):
        super().__init__()
        self.inputs, self.outputs = torch.nn.Linear(16, 48), torch.nn.Linear(16, 16)
        self.positions = nn.PositionalLayer(scheme, head_dim=4, **({"heads": 4} if scheme in ("fope", "rotary_mixed") else {}))
        self.bias, self.alibi = nn.PositionalLayer("t5", heads=4), nn.ALiBi(4)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, 4)).transpose(1, 2) for part in self.inputs(x).chunk(3, -1))
        q, k = self.positions.rotate(q, k)
        out = sdpa(q, k, v, is_causal=True, bias=self.bias(q.shape[2]), slopes=self.alibi.head_slopes)
        return x + self.outputs(out.transpose(1, 2).flatten(2))


def decoder(scheme):
    torch.manual_seed(0)
    return torch.nn.Sequential(Layer(scheme), Layer(scheme))


@pytest.mark.parametrize("scheme", ["rotary", "rotary_mixed", "fope"])
def test_a_decoder_is_one_graph(scheme):
    model, x = decoder(scheme), random(2, 6, 16)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=True)
    for each in (x, random(3, 9, 16), random(1, 1, 16)):
        assert torch.equal(compiled(each), model(each))
    for a, b in zip(derive(compiled, x, *model.parameters()), derive(model, x, *model.parameters())):
        torch.testing.assert_close(a, b)


def test_a_decoder_is_exported_and_opened_again():
    model, x = decoder("rotary"), random(2, 6, 16)
    exported, file = torch.export.export(model, (x,), dynamic_shapes=({0: torch.export.Dim("batch")},)), io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    more = random(5, 6, 16)
    assert torch.equal(torch.export.load(file).module()(more), model(more))


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")  # shapes are compared
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_traced_call_is_saved_and_opened_again(options):
    call = lambda q: sdpa(q, q, q, **options)  # noqa: E731
    if "rotation" in options:
        for name in ("rotation", "bias"):
            with pytest.raises(NotImplementedError, match=rf"{name}\] must not be a table inside torch.jit.trace"):
                torch.jit.trace(lambda q: sdpa(q, q, q, **{name: options[name]}), Q, check_trace=False)
        return
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(call, Q), file)
    file.seek(0)
    opened, more = torch.jit.load(file), random(2, 4, 6, 8, seed=1)
    assert torch.equal(opened(more), call(more))
    assert torch.equal(derive(opened, more)[0], derive(call, more)[0])


@pytest.mark.parametrize("scheme", ["rotary", "rotary_mixed", "fope"])
def test_a_decoder_has_gradients_of_each_text(scheme):
    model, x = decoder(scheme), random(2, 6, 16)
    loss = lambda weights, text: torch.func.functional_call(model, weights, (text[None],)).square().sum()  # noqa: E731
    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(dict(model.named_parameters()), x)
    for got, wanted in zip(each.values(), derive(model, x, *model.parameters())[1:]):
        torch.testing.assert_close(got.sum(0), wanted)


def test_modules_of_hugging_face_are_in_graphs():
    rotary, ids = nn.RotaryEmbedding(8), torch.arange(5)[None]
    x = random(2, 5, 8)
    compiled = torch.compile(lambda x, ids: rotary(x, ids), fullgraph=True, backend="aot_eager")
    assert all(torch.equal(a, b) for a, b in zip(compiled(x, ids), rotary(x, ids)))
    sines, learned, bias = nn.SinusoidalPositionalEmbedding(9, 8), nn.LearnedPositionalEmbedding(9, 8), nn.T5RelativeBias(2)
    call = lambda ids: (sines(ids) + learned(ids) + sines(5) + learned(5), bias(5))  # noqa: E731
    for a, b in zip(torch.compile(call, fullgraph=True, backend="aot_eager")(ids[0]), call(ids[0])):
        assert torch.equal(a, b)
    with pytest.raises(sextant.Error, match=r"SinusoidalPositionalEmbedding.positions\] must be up to 9 where it is compiled, got 10"):
        sines.to("meta")(10)


def test_what_a_graph_cannot_have_is_refused_by_name():
    term = nn.PositionalLayer("shaw", heads=4, head_dim=8, max_distance=3)
    with pytest.raises(sextant.UnsupportedError, match=r"bias\] with weights"):
        torch.func.vmap(lambda q, b=term(6): sdpa(q, q, q, bias=b))(Q[None])
    with pytest.raises(sextant.UnsupportedError, match=r"shaw cannot be compiled"):
        torch.func.vmap(lambda q: sdpa(q, q, q, bias=term(6)))(Q[None])
    with pytest.raises(sextant.ArgumentError, match=r"\[scaled_dot_product_attention.key\] must have the channels of query, 8, got 4"):
        sdpa(Q.to("meta"), Q.to("meta")[..., :4], Q.to("meta"))
    with pytest.raises(sextant.UnsupportedError, match="first derivatives only"):
        torch.func.grad(lambda q: torch.func.grad(lambda q: sdpa(q, q, q).square().sum())(q).sum())(Q)


def test_checkpoints_and_autocast_stay():
    q = Q.clone().requires_grad_()
    plain, kept = (torch.autograd.grad(call(lambda x: sdpa(x, x, x)).sum(), q)[0] for call in (lambda f: f(q), lambda f: checkpoint(f, q, use_reentrant=False)))
    assert torch.equal(plain, kept)
    with torch.autocast("cpu", torch.bfloat16):
        compiled = torch.compile(lambda q: sdpa(q, q, q), fullgraph=True, backend="aot_eager")
        assert torch.equal(compiled(Q), sdpa(Q, Q, Q))
        assert compiled(Q).dtype == F.scaled_dot_product_attention(Q, Q, Q).dtype
