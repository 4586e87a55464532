"""sextant.torch.nn: every scheme as a module of torch, its weights, its gradients, its errors."""

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import sextant  # noqa: E402
from sextant.torch import nn, scaled_dot_product_attention as sdpa  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # torch says so of its own parts
SIZES = {
    "none": {},
    "added": {"width": 8},
    "rotated": {"head_dim": 8},
    "distance_bias": {"heads": 2},
    "indexed_bias": {"heads": 2},
    "content": {"heads": 2, "head_dim": 8},
}
PARAMETERS = {"swin": {"rows": 2, "columns": 3}, "swin_v2": {"rows": 2, "columns": 3, "hidden": 6}, "transformer_xl": {"width": 8},
              "fire": {"hidden": 4}, "deberta": {"position_buckets": 4, "max_position": 8}, "cope": {"npos": 4}, "shaw": {"max_distance": 3}}
LENGTH = 6
ALL = [scheme for scheme in sextant.schemes() if scheme.name != "forgetting"]
LEARNED = [scheme for scheme in ALL if scheme.weights]


def layer_of(scheme, dtype=torch.float32):
    sizes = {**SIZES[scheme.kind], **({"heads": 2} if scheme.name in ("fope", "rotary_mixed") else {})}
    return nn.PositionalLayer(scheme.name, LENGTH, **sizes, dtype=dtype, **PARAMETERS.get(scheme.name, {}))


def random(*shape, dtype=torch.float64, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=torch.float64).to(dtype)


def names(schemes):
    return {"argnames": "scheme", "argvalues": schemes, "ids": lambda scheme: scheme.name}


@pytest.mark.parametrize(**names(ALL))
def test_a_layer_gives_what_the_function_makes(scheme):
    layer = layer_of(scheme)
    sizes = {**SIZES[scheme.kind], **({"heads": 2} if scheme.name in ("fope", "rotary_mixed") else {})}
    weights = {"weights": {name: tensor.detach() for name, tensor in layer.named_parameters()}} if scheme.weights else {}
    made = scheme(LENGTH, **{**sizes, **PARAMETERS.get(scheme.name, {}), **weights})
    got = layer(LENGTH) if scheme.name not in ("xpos", "temperature") else None
    if scheme.kind == "none":
        assert got is None
    elif scheme.kind == "added":
        np.testing.assert_array_equal(got.detach().numpy(), made)
    elif scheme.kind == "distance_bias":
        np.testing.assert_array_equal(got.detach().numpy(), made.values)
    elif scheme.kind == "rotated":
        q, k = (random(1, 2, LENGTH, 8, dtype=torch.float32, seed=seed) for seed in (1, 2))
        rotated = layer.rotate(q, k)
        for x, table, ours in zip((q, k), (made, made.keys), rotated):
            torch.testing.assert_close(ours, torch.from_numpy(sextant.rotate(x.numpy(), table)), rtol=0, atol=2e-6)
        if got is not None:
            pairs = (made.cos, made.sin)
            for channels, pair in zip(got, pairs):
                at = slice(0, pair.shape[-1]) if made.layout == "half_split" else slice(0, None, 2)
                np.testing.assert_array_equal(channels.detach().numpy()[..., at], pair)
                assert channels.shape[-1] == 2 * pair.shape[-1]
        np.testing.assert_array_equal(layer.rotation(LENGTH).cos, made.cos)
    else:
        q = random(1, 2, LENGTH, 8, dtype=torch.float32)
        torch.testing.assert_close(sdpa(q, q, q, bias=got, is_causal=True), sextant.attention(q, q, q, bias=made, causal="top_left"))


@pytest.mark.parametrize(**names(ALL))
def test_weights_are_parameters_by_the_names_of_the_registry(scheme):
    layer = layer_of(scheme)
    assert list(layer.state_dict()) == [name for name, _ in layer.named_parameters()] == [weight.name for weight in scheme.weights]
    initial = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(1)
    other = layer_of(scheme)
    other.load_state_dict(layer.state_dict())
    layer.reset_parameters()
    for name, tensor in initial.items():
        assert torch.equal(getattr(layer, name), tensor)
        assert torch.equal(getattr(other, name), tensor + 1)


@pytest.mark.parametrize(**names([scheme for scheme in LEARNED if scheme.kind in ("added", "rotated")]))
def test_gradcheck_of_learned_tables(scheme):
    layer = layer_of(scheme, torch.float64)
    weights = [p.detach().requires_grad_() for p in layer.parameters()]
    keys = [name for name, _ in layer.named_parameters()]
    assert torch.autograd.gradcheck(lambda *w: torch.func.functional_call(layer, dict(zip(keys, w)), LENGTH), weights)
    if scheme.kind == "rotated":
        q, k = (random(1, 2, LENGTH, 8, seed=seed).requires_grad_() for seed in (1, 2))
        names = ["layer." + name for name in keys]
        call = lambda q, k, *w: torch.func.functional_call(Turn(layer), dict(zip(names, w)), (q, k))  # noqa: E731
        assert torch.autograd.gradcheck(call, (q, k, *weights))


class Turn(torch.nn.Module):
    """rotate() as forward(), which torch.func.functional_call() calls."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, q, k):
        return self.layer.rotate(q, k)


@pytest.mark.parametrize(**names([scheme for scheme in LEARNED if scheme.kind not in ("added", "rotated")]))
def test_gradcheck_through_attention(scheme):
    """From the output of attention to the scheme's weights. Tables of biases are of float32: with a step of h = 2^-9 their rounding,
    2^-24 of numbers up to 4, becomes 2^-14 for each of 21 keys that are seen, and a third derivative of up to 1000 adds h^2 / 6 of it."""
    layer = layer_of(scheme, torch.float64)
    keys = [name for name, _ in layer.named_parameters()]
    # Away from kinks, which are at weights and hidden units of 0, and with scores for which the softmax has a slope.
    weights = [((0.5 + 0.1 * random(*p.shape, seed=7)) / p.shape[-1] ** 0.5).requires_grad_() for p in layer.parameters()]
    q, k, v = (random(1, 2, LENGTH, 8, seed=seed) for seed in (1, 2, 3))

    def call(*weights):
        bias = torch.func.functional_call(layer, dict(zip(keys, weights)), LENGTH)
        return sdpa(q, k, v, bias=bias, is_causal=True)

    out = call(*weights)
    dout = random(*out.shape, seed=9)
    gradients = torch.autograd.grad(out, weights, dout)
    assert any(gradient.abs().max() > 1e-3 for gradient in gradients)
    step = 2.0**-9
    for number, (weight, gradient) in enumerate(zip(weights, gradients)):
        assert (gradient.shape, gradient.dtype) == (weight.shape, torch.float64)
        for place in random_places(weight.shape):
            losses = []
            for sign in (1, -1):
                moved = [w.detach().clone() for w in weights]
                moved[number][place] += sign * step
                losses.append((call(*moved) * dout).sum())
            assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(gradient[place].item(), abs=1e-3, rel=1e-3), (keys[number], place)


def random_places(shape):
    generator = np.random.default_rng(5)
    return {tuple(int(generator.integers(size)) for size in shape) for _ in range(6)}


@pytest.mark.parametrize("layout", ["half_split", "interleaved"])
def test_gradcheck_of_a_rotation(layout):
    layer = nn.PositionalLayer("rotary", head_dim=8, rotary_dim=4, span="last", layout=layout)
    q, k = random(1, 4, LENGTH, 8).requires_grad_(), random(1, 2, LENGTH, 8, seed=3).requires_grad_()
    assert torch.autograd.gradcheck(lambda q, k: layer.rotate(q, k, [5, 3, 0, 9, 9, 100]), (q, k))
    assert torch.autograd.gradgradcheck(lambda q: layer.rotate(q, q)[0], q)


@pytest.mark.parametrize("layout", ["half_split", "interleaved"])
def test_learned_rotations_turn_the_channels_that_fixed_ones_turn(layout):
    parameters = {"head_dim": 8, "rotary_dim": 4, "span": "last", "layout": layout}
    learned = nn.PositionalLayer("rotary_mixed", heads=2, dtype=torch.float64, **parameters)
    fixed = nn.PositionalLayer("rotary", base=100.0, **parameters)
    with torch.no_grad():
        learned.frequencies.copy_(torch.tensor([1.0, 0.1], dtype=torch.float64))
    q = random(1, 2, LENGTH, 8)
    torch.testing.assert_close(learned.rotate(q, q)[0], fixed.rotate(q, q)[0], rtol=0, atol=1e-14)


def test_a_weight_learns():
    """Gradient steps make T5's bias that of another one."""
    torch.manual_seed(0)
    teacher, pupil = (nn.PositionalLayer("t5", heads=2, num_buckets=8, max_distance=16, seed=seed) for seed in (1, 2))
    q = random(1, 2, 24, 8, dtype=torch.float32)
    with torch.no_grad():
        wanted = sdpa(q, q, q, bias=teacher(24))
    optimizer = torch.optim.Adam(pupil.parameters(), lr=0.05)
    losses = []
    for _ in range(60):
        loss = (sdpa(q, q, q, bias=pupil(24)) - wanted).square().mean()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[-1] < losses[0] / 20


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_dtypes_follow_the_module(dtype):
    sines = nn.PositionalLayer("sinusoidal", width=8).to(dtype)(5)
    assert torch.equal(sines, torch.from_numpy(sextant.sinusoidal(5, 8, dtype="float64")).to(dtype))
    learned = nn.PositionalLayer("learned", 5, width=8).to(dtype)
    learned(5).sum().backward()
    assert (learned(5).dtype, learned.table.grad.dtype) == (dtype, dtype)
    bias = nn.PositionalLayer("kerple_log", heads=2).to(dtype)
    bias(5).sum().backward()
    assert (bias(5).dtype, bias.p.grad.dtype) == (torch.float32, dtype)
    assert nn.PositionalLayer("rotary", head_dim=8, dtype=dtype)(3)[0].dtype == dtype


def test_layers_are_copied_and_pickled():
    layer = nn.PositionalLayer("kerple_power", heads=2, seed=4)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(other(7), layer(7))
        assert repr(other) == repr(layer) == "PositionalLayer('kerple_power', heads=2, seed=4)"


def test_ids_instead_of_a_length():
    layer = nn.PositionalLayer("learned", 9, width=8)
    ids = torch.tensor([7, 0, 8])
    assert torch.equal(layer(ids), layer.table[ids])
    grid = torch.cartesian_prod(torch.arange(3), torch.arange(4))
    assert torch.equal(nn.PositionalLayer("sincos_2d", grid, width=8, rows=3, columns=4)(grid),
                       torch.from_numpy(sextant.sincos_2d(grid, 8, rows=3, columns=4)))
    assert nn.PositionalLayer("rotary_mixed", grid, heads=2, head_dim=8).frequencies.shape == (2, 2, 4)


def test_a_rotary_embedding_does_not_depend_on_calls_before():
    """A table is kept between calls: of what was asked for, and of that dtype."""
    calls = [([5], torch.float32), ([0, 1, 2], torch.float32), ([7, 3], torch.float64), ([900], torch.bfloat16), ([6], torch.float32),
             ([1 << 20, 3], torch.float32), ([-2, 3], torch.float32), ([], torch.float32)]
    embedding = nn.RotaryEmbedding(8)
    for ids, dtype in calls:
        table = sextant.rotary(ids, 8, dtype="float64" if dtype == torch.float64 else "float32")
        for got, pairs in zip(embedding(torch.zeros(1, dtype=dtype), torch.tensor([ids], dtype=torch.int64)), (table.cos, table.sin)):
            assert torch.equal(got, torch.from_numpy(np.concatenate([pairs, pairs], -1)).to(dtype)[None])
    assert len(embedding.kept[0]) == 8


def test_a_second_derivative_is_refused():
    layer = nn.PositionalLayer("fourier", width=8)
    (first,) = torch.autograd.grad(layer(4).square().sum(), layer.frequencies, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


Q = torch.zeros(1, 2, 3, 8)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.PositionalLayer("rotory"), ValueError, r"\[PositionalLayer.scheme\] must be one of the names .* did you mean 'rotary'"),
        (lambda: nn.PositionalLayer("alibi"), TypeError, r"\[PositionalLayer.heads\] is needed by alibi"),
        (lambda: nn.PositionalLayer("alibi", heads=2, width=8), TypeError, r"\[PositionalLayer.width\] is not needed by alibi, got 8"),
        (lambda: nn.PositionalLayer("alibi", heads=2, base=3), TypeError, r"\[PositionalLayer.base\] must be one of direction, max_bias"),
        (lambda: nn.PositionalLayer("alibi", heads=2, max_bias=2000), ValueError, r"\[alibi.max_bias\] must be 0 .. 1000, got 2000"),
        (lambda: nn.PositionalLayer("forgetting", heads=2, head_dim=8), ValueError, r"\[PositionalLayer.scheme\] must not be forgetting"),
        (lambda: nn.PositionalLayer("t5", heads=2, dtype=torch.int32), TypeError, r"\[PositionalLayer.dtype\] must be of float32, .*, got int32"),
        (lambda: nn.PositionalLayer("rotary", head_dim=8)(torch.zeros(3, device="meta", dtype=int)), ValueError, r"positions\] must be in the memory"),
        (lambda: nn.PositionalLayer("rotary", head_dim=8)(torch.zeros(3)), TypeError, r"positions\] must be whole numbers, got float32"),
        (lambda: nn.PositionalLayer("alibi", heads=2)(-1), ValueError, r"\[alibi.positions\] must be"),
        (lambda: nn.PositionalLayer("learned", 3, width=8)(4), ValueError, r"\[learned.positions\] must be 0 .. 2"),
        (lambda: nn.PositionalLayer("alibi", heads=2).rotate(Q, Q), TypeError, r"\[PositionalLayer.scheme\] must be a rotation, got alibi"),
        (lambda: nn.PositionalLayer("alibi", heads=2).rotation(3), TypeError, r"\[PositionalLayer.scheme\] must be a rotation, got alibi"),
        (lambda: nn.PositionalLayer("xpos", head_dim=8)(3), ValueError, r"xpos has other tables for keys than for queries: use rotate"),
        (lambda: nn.PositionalLayer("rotary", head_dim=8).rotate(Q.int(), Q), TypeError, r"\[PositionalLayer.q\] must be of float32"),
        (lambda: nn.PositionalLayer("rotary", head_dim=8).rotate(Q, Q.to("meta")), ValueError, r"\[PositionalLayer.k\] must be in the memory"),
        (lambda: nn.RotaryEmbedding(8, "alibi"), ValueError, r"\[RotaryEmbedding.scheme\] must be a rotation without weights, got alibi"),
        (lambda: nn.RotaryEmbedding(8, "xpos"), ValueError, r"\[RotaryEmbedding.scheme\] must turn keys and not scale them, got xpos"),
        (lambda: nn.RotaryEmbedding(8)(Q, torch.zeros(3)), TypeError, r"\[RotaryEmbedding.position_ids\] must be whole numbers"),
        (lambda: nn.RotaryEmbedding(8)(Q, 3), ValueError, r"\[RotaryEmbedding.position_ids\] must be a tensor \[length\]"),
        (lambda: nn.RotaryEmbedding(8)(Q.to("meta"), torch.arange(3)), ValueError, r"\[RotaryEmbedding.x\] must be in the memory of the CPU"),
        (lambda: nn.LearnedPositionalEmbedding(4, 8, offset=-1), ValueError, r"\[LearnedPositionalEmbedding.offset\] must be 0 or more, got -1"),
        (lambda: nn.LearnedPositionalEmbedding(4, 8)(5), ValueError, r"\[LearnedPositionalEmbedding.positions\] must be 0 .. 3, got 4"),
        (lambda: nn.LearnedPositionalEmbedding(4, 8, offset=2)(torch.tensor([-3])), ValueError, r"must be -2 .. 3, got -3"),
        (lambda: nn.SinusoidalPositionalEmbedding(4, 8)(torch.tensor([-1])), ValueError, r"\[SinusoidalPositionalEmbedding.positions\] must be 0 or more, got -1"),
        (lambda: nn.SinusoidalPositionalEmbedding(4, 8, bass=2), TypeError, r"bass\] must be one of base, layout"),
    ],
)
def test_errors_name_the_argument(call, error, text):
    with pytest.raises(error, match=text):
        call()
