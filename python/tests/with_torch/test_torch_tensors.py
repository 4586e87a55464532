"""sextant.torch with every kind of tensor that torch has: read as it is meant, or refused by name."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.nn.attention.bias import causal_lower_right, causal_upper_left  # noqa: E402

import sextant  # noqa: E402
from sextant.torch import nn, scaled_dot_product_attention as sdpa  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit.* is deprecated"),  # torch says so of its own parts
    pytest.mark.filterwarnings("ignore::UserWarning"),  # of sparse, nested and traced tensors, that they are new
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def random(*shape, seed=0, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=dtype)


def negative(*shape, seed=0):
    """Numbers whose sign is a bit of the tensor."""
    made = torch.complex(random(*shape, seed=seed), random(*shape, seed=seed + 9)).conj().imag
    assert made.is_neg()
    return made


Q = random(1, 2, 6, 8)


@pytest.mark.parametrize("name", ["query", "key", "value", "attn_mask", "bias", "slopes", "sinks"])
def test_the_negative_bit_is_a_sign(name):
    shapes = {"attn_mask": (6, 6), "bias": (2, 11), "slopes": (2,), "sinks": (2,)}
    given = negative(*shapes.get(name, Q.shape))
    inputs = {"query": Q, "key": Q, "value": Q}
    assert torch.equal(sdpa(**{**inputs, name: given}), sdpa(**{**inputs, name: given.resolve_neg()}))
    gradients = []
    for tensor in (given, given.resolve_neg()):
        tensor = tensor.detach().requires_grad_()
        gradients.append(torch.autograd.grad(sdpa(**{**inputs, name: tensor}).square().sum(), tensor)[0])
    assert torch.equal(*gradients)


def test_the_negative_bit_of_a_gradient_is_a_sign():
    rotary, bias = nn.PositionalLayer("rotary", head_dim=8), nn.PositionalLayer("kerple_log", heads=2)
    q, dout = Q.clone().requires_grad_(), negative(1, 2, 6, 8, seed=3)
    for out, inputs in ((sdpa(q, Q, Q), q), (rotary.rotate(q, q)[0], q), (bias(6), bias.p)):
        given = dout if out.ndim == 4 else negative(*out.shape)
        pair = [torch.autograd.grad(out, inputs, d, retain_graph=True)[0] for d in (given, given.resolve_neg())]
        assert torch.equal(*pair)
    x = negative(1, 2, 6, 8)
    assert torch.equal(rotary.rotate(x, x)[0], rotary.rotate(x.resolve_neg(), x.resolve_neg())[0])


def test_a_tensor_of_zeros_without_memory():
    zeros = torch._efficientzerotensor(Q.shape)
    assert torch.equal(sdpa(zeros, Q, Q), sdpa(torch.zeros_like(Q), Q, Q))


class Named(torch.Tensor):
    """Adds nothing to a tensor."""


class Meaning(torch.Tensor):
    @classmethod
    def __torch_function__(cls, *arguments, **options):
        return super().__torch_function__(*arguments, **options)


def fake(tensor):
    with FakeTensorMode() as mode:
        return mode.from_tensor(tensor)


KINDS = {
    "sparse": (lambda x: x.to_sparse(), "one of the layout sparse_coo"),
    "sparse rows": (lambda x: x.to_sparse_csr(), "one of the layout sparse_csr"),
    "mkldnn": (lambda x: x.to_mkldnn(), "one of the layout mkldnn"),
    "nested": (lambda x: torch.nested.as_nested_tensor(list(x)), "a nested tensor"),
    "jagged": (lambda x: torch.nested.as_nested_tensor(list(x), layout=torch.jagged), "NestedTensor"),
    "fake": (fake, "FakeTensor"),
    "of a class": (lambda x: x.as_subclass(Meaning), "Meaning"),
}


@pytest.mark.parametrize("name", ["query", "key", "value", "attn_mask", "bias", "slopes", "sinks", "positions"])
@pytest.mark.parametrize("kind", KINDS)
def test_tensors_without_numbers_in_memory_are_refused_by_name(kind, name):
    make, words = KINDS[kind]
    if kind == "sparse rows" and name in ("slopes", "sinks", "positions"):
        pytest.skip("has two axes at least")
    shapes = {"query": Q, "key": Q, "value": Q, "attn_mask": Q[0, :, :, :6], "bias": random(2, 11), "positions": torch.arange(6)}
    plain = shapes.get(name, random(2))
    try:
        given = make(plain)
    except RuntimeError as error:
        pytest.skip(f"torch cannot make it: {error}")
    options = {"rotation": sextant.rotary(6, 8)} if name == "positions" else {}
    with pytest.raises(TypeError, match=rf"\[scaled_dot_product_attention\.{name}\] must be a tensor whose numbers are in memory, got .*{words}"):
        sdpa(**{"query": Q, "key": Q, "value": Q, **options, name: given})


def test_modules_refuse_the_same_tensors():
    layer = nn.PositionalLayer("rotary", head_dim=8)
    for make, words in KINDS.values():
        try:
            given = make(Q)
        except RuntimeError:
            continue
        with pytest.raises(TypeError, match=rf"\[PositionalLayer.q\] must be a tensor whose numbers are in memory, got .*{words}"):
            layer.rotate(given, Q)


def test_classes_that_add_nothing_are_tensors():
    given = [Q.as_subclass(Named), torch.nn.Parameter(Q), torch.nn.Buffer(Q)]
    for query in given:
        assert torch.equal(sdpa(query, Q, Q), sdpa(Q, Q, Q))
    with torch.inference_mode():
        assert torch.equal(sdpa(Q.clone(), Q, Q), sdpa(Q, Q, Q))


@pytest.mark.parametrize("sizes", [(6, 6), (6, 9), (9, 6)])
@pytest.mark.parametrize("bias", [causal_upper_left, causal_lower_right], ids=lambda bias: bias.__name__)
def test_a_causal_bias_is_the_option_causal(bias, sizes):
    q, kv = random(2, 4, sizes[0], 8).requires_grad_(), random(2, 2, sizes[1], 8)
    mask = bias(*sizes)
    got = sdpa(q, kv, kv, attn_mask=mask, enable_gqa=True)
    assert torch.equal(got, sdpa(q, kv, kv, causal="top_left" if bias is causal_upper_left else "bottom_right", enable_gqa=True))
    seen = torch.ones(sizes).tril(0 if bias is causal_upper_left else sizes[1] - sizes[0]).bool()
    wanted = F.scaled_dot_product_attention(q, kv, kv, seen, enable_gqa=True)
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(*(torch.autograd.grad(out.square().sum(), q)[0] for out in (got, wanted)))
    with torch.autocast("cpu", torch.bfloat16):
        assert sdpa(q, kv, kv, attn_mask=mask, enable_gqa=True).dtype == torch.bfloat16


def test_a_causal_bias_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"attn_mask\] must be a CausalBias of \[6, 6\], got \[6, 7\]"):
        sdpa(Q, Q, Q, attn_mask=causal_lower_right(6, 7))
    for options in ({"is_causal": True}, {"causal": "bottom_right"}):
        with pytest.raises(ValueError, match=r"attn_mask\] must not be a CausalBias together with"):
            sdpa(Q, Q, Q, attn_mask=causal_upper_left(6, 6), **options)


NOT_INSIDE = r"must not be inside torch.func \(vmap, grad, ...\) or gradients of a batch"


def test_gradients_of_a_batch_are_refused_by_name():
    q = Q.clone().requires_grad_()
    rotary, learned = nn.PositionalLayer("rotary", head_dim=8), nn.PositionalLayer("learned", 6, width=8)
    for out, inputs in ((sdpa(q, Q, Q), q), (rotary.rotate(q, q)[0], q), (learned(6), learned.table)):
        with pytest.raises(NotImplementedError, match=NOT_INSIDE):
            torch.autograd.grad(out, inputs, torch.ones(3, *out.shape), is_grads_batched=True)


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("gradients", [False, True])
def test_what_would_record_a_graph_without_numbers_is_refused(gradients):
    rotary, learned = nn.PositionalLayer("rotary", head_dim=8), nn.PositionalLayer("learned", 6, width=8)
    sinusoidal = nn.SinusoidalPositionalEmbedding(4, 8)
    q = Q.clone().requires_grad_(gradients)
    for call, name in (
        (lambda x: rotary.rotate(x, x)[0], "PositionalLayer"),
        (lambda x: x + learned(6), "PositionalLayer"),
        (lambda x: x + nn.PositionalLayer("sinusoidal", width=8)(6), "PositionalLayer"),
        (lambda x: x + sinusoidal(6), "sinusoidal"),
        (lambda x: x + nn.RotaryEmbedding(8)(x, torch.arange(6))[0], "RotaryEmbedding"),
    ):
        with pytest.raises(NotImplementedError, match=rf"\[{name}\] cannot be traced: torch.jit.trace"):
            torch.jit.trace(call, q, check_trace=False)


def test_ids_and_lists_may_change_before_the_backward_pass():
    table = sextant.rotary(9, 8)
    for make, slope in ((torch.arange, np.array), (np.arange, list)):
        gradients = []
        for change in (False, True):
            q, ids, slopes, bias = Q.clone().requires_grad_(), make(6), slope([0.5, 0.25]), np.linspace(0, 5, 22, dtype=np.float32).reshape(2, 11)
            out = sdpa(q, Q, Q, positions=(ids, ids), rotation=table, slopes=slopes, bias=bias, key_lengths=[4], is_causal=True)
            if change:
                ids[2] = 0
                slopes[:], bias[:] = [1, 1], 1
            gradients.append(torch.autograd.grad(out.square().sum(), q)[0])
        assert torch.equal(*gradients)


def test_ids_of_a_layer_may_change_before_the_backward_pass():
    for scheme, sizes in (("learned", {"width": 8}), ("rotary_mixed", {"heads": 2, "head_dim": 8}),
                          ("fope", {"heads": 2, "head_dim": 8})):
        gradients = []
        for change in (False, True):
            layer, ids = nn.PositionalLayer(scheme, 9, **sizes), torch.arange(6)
            out = layer(ids)
            loss = (out[0] if isinstance(out, tuple) else out).square().sum()
            if change:
                ids += 1
            gradients.append(torch.autograd.grad(loss, list(layer.parameters()))[0])
        assert torch.equal(*gradients)


@pytest.mark.parametrize("name", ["query", "key", "value", "attn_mask", "bias", "slopes", "sinks", "out"])
def test_a_tensor_that_changed_before_the_backward_pass_is_an_error(name):
    given = {"query": Q.clone(), "key": Q.clone(), "value": Q.clone(), "attn_mask": random(6, 6), "bias": random(2, 11), "slopes": random(2), "sinks": random(2)}
    given["query"].requires_grad_(name != "query")
    given["key"].requires_grad_(name == "query")
    out = sdpa(**given)
    with torch.no_grad():
        (out if name == "out" else given[name]).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_a_bias_of_weights_that_changed_is_an_error():
    layer = nn.PositionalLayer("shaw", heads=2, head_dim=8, max_distance=3)
    bias = layer(6)
    assert torch.equal(sdpa(Q, Q, Q, bias=bias), sdpa(Q, Q, Q, bias=layer(6)))
    with torch.no_grad():
        next(layer.parameters()).add_(1)
    with pytest.raises(ValueError, match=r"\[scaled_dot_product_attention.bias\] must be made again: its weights have changed"):
        sdpa(Q, Q, Q, bias=bias)


def test_the_output_lies_in_memory_as_the_query():
    for query in (Q, Q.expand(2, 2, 6, 8).contiguous(), random(2, 6, 4, 8).transpose(1, 2), random(2, 4, 8, 6).transpose(2, 3), Q[0]):
        for given in (query, query.detach().requires_grad_()):
            assert sdpa(given, query, query).stride() == F.scaled_dot_product_attention(given, query, query).stride()


def test_heads_without_channels_give_the_mean_of_the_values():
    q, v = torch.zeros(1, 2, 6, 0), random(1, 2, 6, 8)
    for options in ({}, {"is_causal": True}, {"attn_mask": random(6, 6)}, {"scale": 3.0}):
        torch.testing.assert_close(sdpa(q, q, v, **options), F.scaled_dot_product_attention(q, q, v, **options))
    inputs = [q.clone().requires_grad_(), q.clone().requires_grad_(), v.clone().requires_grad_()]
    gradients = torch.autograd.grad(sdpa(*inputs).sum(), inputs)
    assert [g.shape for g in gradients] == [q.shape, q.shape, v.shape]
    torch.testing.assert_close(gradients[2], torch.ones_like(v))


def test_modules_are_made_where_models_are_built_without_memory():
    with torch.device("meta"):
        made = [nn.ALiBi(4), nn.RotaryEmbedding(8), nn.T5RelativeBias(2), nn.PositionalLayer("t5", heads=2), nn.PositionalLayer("sinusoidal", width=8),
                nn.SinusoidalPositionalEmbedding(6, 8), nn.SinusoidalPositionalEmbedding(6, 8, persistent=False)]
    alibi, rotary, _, t5, sines, embedding, _ = made
    assert torch.equal(alibi.head_slopes, nn.ALiBi(4).head_slopes)
    assert torch.equal(alibi(5), nn.ALiBi(4)(5))
    assert torch.equal(t5(5), nn.PositionalLayer("t5", heads=2)(5))
    assert torch.equal(sines(5), nn.PositionalLayer("sinusoidal", width=8)(5))
    assert torch.equal(embedding(6), nn.SinusoidalPositionalEmbedding(6, 8)(6))
    for a, b in zip(rotary(Q, torch.arange(6)), nn.RotaryEmbedding(8)(Q, torch.arange(6))):
        assert torch.equal(a, b)
