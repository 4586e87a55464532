"""sextant.torch.scaled_dot_product_attention beside torch's own."""

import inspect
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

import sextant  # noqa: E402
from sextant.torch import scaled_dot_product_attention as sdpa  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # torch says so of its own parts
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


def random(*shape, dtype=torch.float32, seed=0, order=None):
    """Normal numbers; `order`: the axes as they lie in memory."""
    order = list(order or range(len(shape)))
    made = torch.randn([shape[axis] for axis in order], generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=torch.float64)
    return made.to(dtype).permute([order.index(axis) for axis in range(len(shape))])


def unit(dtype):
    return torch.finfo(dtype).eps / 2


def bounds(q, k, v, mask=None):
    """How far out, dq, dk and dv (of a dout of at most 1) may be from exact ones, of inputs that are exact.

    u is the roundoff of the arithmetic, which is float32 for 16-bit inputs. A score of d products is off by (d + 2) u times the
    sum of their sizes; a weight by twice that, relatively; sums over keys by (keys + 2) u more. dS = P (dout v - delta) with
    both terms at most v_dim |v|. Results are rounded once to their own type.
    """
    keys, d, v_dim = k.shape[-2], q.shape[-1], v.shape[-1]
    u = unit(torch.float64 if q.dtype == torch.float64 else torch.float32)
    q, k, v = (x.abs().max().double().item() for x in (q, k, v))
    biggest = 0 if mask is None or mask.dtype == torch.bool else mask[mask.isfinite()].abs().max().item()
    score = d**0.5 * q * k * (d + 2) * u + biggest * u
    weight = 2 * score + (keys + 2) * u
    out = v * weight
    ds = 2 * v_dim * v * (weight + (v_dim + 2) * u)
    return out, ds * k / d**0.5 * 2, ds * q / d**0.5 * 2, weight * 2


def near(got, exact, bound, times=1):
    """Within the bound, and one rounding to the type of `got`."""
    assert got.shape == exact.shape
    difference = (got.double() - exact).abs()
    allowed = times * bound + unit(got.dtype) * exact.abs()
    assert (difference <= allowed).all(), f"{(difference - allowed).max().item()} too far"


def exact(q, k, v, mask=None, **options):
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.double()
    return F.scaled_dot_product_attention(q.double(), k.double(), v.double(), mask, **options)


def test_the_signature_begins_as_torchs():
    wanted = re.search(r"\(([^)]*)\)", F.scaled_dot_product_attention.__doc__)[1]
    ours = inspect.signature(sdpa).parameters
    names = [argument.split("=")[0].strip() for argument in wanted.split(",")]
    assert list(ours)[: len(names)] == names
    for argument in wanted.split(",")[3:]:
        name, default = argument.split("=")
        assert str(ours[name.strip()].default) == default
    assert set(ours) > {"causal", "window", "bias", "slopes", "softcap", "segments", "key_lengths", "sinks", "rotation"}
    assert "mask" not in ours


MASKS = {
    "none": lambda q_len, k_len: None,
    "bool": lambda q_len, k_len: torch.rand(q_len, k_len, generator=torch.Generator().manual_seed(1)) < 0.6,
    "padding": lambda q_len, k_len: torch.arange(k_len) < torch.tensor([k_len, max(1, k_len // 2)])[:, None, None, None],
    "float": lambda q_len, k_len: random(4, q_len, k_len, seed=2),
    "-inf": lambda q_len, k_len: random(2, 1, q_len, k_len).masked_fill(torch.ones(q_len, k_len).triu(2) > 0, -torch.inf),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (33, 70), (70, 33), (130, 129)])
def test_forward_and_gradients_are_torchs(dtype, mask, shape):
    q_len, k_len = shape
    q = random(2, 4, q_len, 24, dtype=dtype, order=(0, 2, 1, 3))
    k, v = random(2, 4, k_len, 24, dtype=dtype, seed=5, order=(0, 1, 3, 2)), random(2, 4, k_len, 17, dtype=dtype, seed=6)
    mask = MASKS[mask](q_len, k_len)
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(dtype)
    dout = random(2, 4, q_len, 17, dtype=dtype, seed=7).clamp(-1, 1)
    for is_causal in (False, True) if mask is None else (False,):
        ours = [x.detach().requires_grad_() for x in (q, k, v)]
        theirs = [x.detach().double().requires_grad_() for x in (q, k, v)]
        got, wanted = sdpa(*ours, mask, is_causal=is_causal), exact(*theirs, mask, is_causal=is_causal)
        limits = bounds(q, k, v, mask)
        near(got, wanted, limits[0])
        # What the backward pass reads of the forward's output, delta, was rounded to the type.
        rounded = 17 * 2 * unit(dtype) * v.abs().max().item() * 24**-0.5
        largest = [k.abs().max().item(), q.abs().max().item() * q_len, 0]
        gradients = torch.autograd.grad(got, ours, dout), torch.autograd.grad(wanted, theirs, dout.double())
        for name, a, b, limit, times, factor in zip("qkv", *gradients, limits[1:], [1, q_len, q_len], largest):
            assert a.dtype == dtype, name
            near(a, b, limit * times + rounded * factor)


@pytest.mark.parametrize("learned", ["mask", "row of a mask", "slopes", "sinks"])
def test_gradcheck_in_double_precision(learned):
    q, k, v = (random(2, 4, 5, 3, dtype=torch.float64, seed=s).requires_grad_() for s in range(3))
    k, v = k[:, :2].detach().requires_grad_(), v[:, :2].detach().requires_grad_()
    shapes = {"mask": (4, 5, 5), "row of a mask": (2, 1, 1, 5), "slopes": (4,), "sinks": (4,)}
    extra = random(*shapes[learned], dtype=torch.float64).requires_grad_()
    name = "attn_mask" if "mask" in learned else learned

    def call(q, k, v, extra):
        return sdpa(q, k, v, enable_gqa=True, causal="bottom_right", softcap=4.0, window=(3, 0), **{name: extra})

    assert torch.autograd.gradcheck(call, (q, k, v, extra))


def test_gradcheck_of_a_bias_by_distance():
    """Biases are kept in float32: numbers and steps are multiples of 2^-10 that float32 has, and the difference of a smooth
    function by steps of h is off by h^2 / 6 times its third derivative, at most about 1 here."""
    q, k, v = (random(1, 2, 6, 3, dtype=torch.float64, seed=s) for s in range(3))
    bias = (random(2, 11, dtype=torch.float64) * 1024).round() / 1024
    call = lambda bias: sdpa(q, k, v, causal="top_left", bias=bias)  # noqa: E731
    assert torch.autograd.gradcheck(call, bias.requires_grad_(), eps=2.0**-10, atol=2.0**-20)
    shared = bias[:1].detach().float().requires_grad_()
    gradient = torch.autograd.grad(call(shared).sum(), shared)[0]
    assert (gradient.shape, gradient.dtype) == (shared.shape, torch.float32)


def test_a_second_derivative_is_refused():
    q = random(1, 2, 5, 4).requires_grad_()
    (first,) = torch.autograd.grad(sdpa(q, q, q).sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        torch.autograd.grad(first.sum(), q)


def test_only_what_is_asked_for_is_computed(monkeypatch):
    from sextant import _core

    asked, real = [], _core.attention_backward
    monkeypatch.setattr(_core, "attention_backward", lambda *args: asked.append(args[-1]) or real(*args))
    q, k = random(1, 2, 5, 4).requires_grad_(), random(1, 2, 5, 4)
    sdpa(q, k, k, attn_mask=random(5, 5)).sum().backward()
    assert asked == [frozenset({"dq"})]
    with torch.no_grad():
        assert not sdpa(q, k, k).requires_grad
    assert not sdpa(k, k, k).requires_grad


@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
@pytest.mark.parametrize("kind", [bool, float])
def test_a_row_that_sees_nothing_is_torchs(dtype, kind):
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    mask[2] = False
    if kind is float:
        mask = torch.zeros(5, 5, dtype=dtype).masked_fill(~mask, -torch.inf)
    q, k, v = (random(1, 2, 5, 8, dtype=dtype, seed=s).requires_grad_() for s in range(3))
    outs, gradients = [], []
    for function in (sdpa, F.scaled_dot_product_attention):
        outs.append(function(q, k, v, mask))
        gradients.append(torch.autograd.grad(outs[-1].sum(), q)[0])
    for pair in (outs, gradients):
        assert (pair[0][:, :, 2] == 0).all() and (pair[1][:, :, 2] == 0).all()
        assert not pair[0].isnan().any()


@pytest.mark.parametrize(
    ("q", "k", "v", "options"),
    [
        ((5, 8), (7, 8), (7, 6), {}),
        ((4, 5, 8), (4, 7, 8), (4, 7, 6), {}),
        ((3, 2, 4, 5, 8), (3, 2, 4, 7, 8), (3, 2, 4, 7, 6), {}),
        ((3, 2, 4, 5, 8), (2, 4, 7, 8), (4, 7, 6), {}),
        ((2, 4, 5, 8), (1, 4, 7, 8), (2, 1, 7, 6), {}),
        ((2, 4, 5, 8), (2, 2, 7, 8), (2, 2, 7, 6), {"enable_gqa": True}),
        ((2, 4, 5, 8), (1, 2, 7, 8), (2, 1, 7, 6), {"enable_gqa": True}),
        ((4, 5, 8), (2, 7, 8), (2, 7, 6), {"enable_gqa": True}),
        ((3, 1, 4, 5, 8), (1, 2, 2, 7, 8), (3, 2, 2, 7, 6), {"enable_gqa": True}),
        ((2, 4, 0, 8), (2, 4, 7, 8), (2, 4, 7, 6), {}),
        ((2, 4, 5, 8), (2, 4, 0, 8), (2, 4, 0, 6), {}),
    ],
)
def test_axes_broadcast_as_torchs(q, k, v, options):
    tensors = [random(*shape).requires_grad_() for shape in (q, k, v)]
    got, wanted = sdpa(*tensors, **options), F.scaled_dot_product_attention(*tensors, **options)
    torch.testing.assert_close(got, wanted)
    if got.numel():
        for a, b in zip(torch.autograd.grad(got.sum(), tensors), torch.autograd.grad(wanted.sum(), tensors)):
            torch.testing.assert_close(a, b)


def test_a_mask_of_five_axes():
    q, mask = random(3, 2, 4, 5, 8), random(3, 1, 4, 5, 5).requires_grad_()
    got, wanted = sdpa(q, q, q, mask), F.scaled_dot_product_attention(q, q, q, mask)
    torch.testing.assert_close(got, wanted)
    torch.testing.assert_close(torch.autograd.grad(got.sum(), mask), torch.autograd.grad(wanted.sum(), mask))
    with pytest.raises(ValueError, match=r"attn_mask\] must broadcast to \[3, 2, 4, 5, 5\]"):
        sdpa(q, q, q, random(2, 2, 4, 5, 5))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_autocast_gives_torchs_type(dtype):
    q = random(1, 2, 5, 8, dtype=dtype)
    with torch.autocast("cpu", torch.bfloat16):
        assert sdpa(q, q, q, random(5, 5, dtype=dtype)).dtype == F.scaled_dot_product_attention(q, q, q).dtype


def test_nothing_is_copied():
    # 256 GiB of keys, all the same row: no machine that runs this has room for a copy.
    wide = random(1, 1, 1, 64).expand(1, 1, 1 << 30, 64)
    out = sdpa(wide[:, :, :8], wide, wide, causal="at_offsets", query_offsets=[1 << 29], window=(3, 0))
    torch.testing.assert_close(out, wide[:, :, :8].contiguous())


def test_options_are_the_operators():
    q, k, v = (random(2, 4, 12, 8, seed=s) for s in range(3))
    table = sextant.rotary(12, 8)
    options = {
        "causal": "bottom_right",
        "window": (5, 0),
        "slopes": torch.tensor([0.1, 0.2, 0.3, 0.4]),
        "bias": [torch.randn(4, 23), sextant.chunk_mask(12, 4, chunk=5)],
        "softcap": 20.0,
        "segments": torch.tensor([0, 5, 12]),
        "sinks": torch.zeros(4),
        "rotation": table,
        "positions": torch.arange(12),
        "threads": 1,
    }
    wanted = sextant.attention(q, k, v, **options)
    assert torch.equal(sdpa(q, k, v, **options), wanted)
    learned = sdpa(q, k, v, **{**options, "slopes": options["slopes"].clone().requires_grad_()})
    assert torch.equal(learned, wanted)
    short = {"key_lengths": torch.tensor([3, 12]), "query_offsets": torch.tensor([2, 0]), "causal": "at_offsets"}
    assert torch.equal(sdpa(q, k, v, **short), sextant.attention(q, k, v, **short))


def test_gradients_with_a_rotation_are_those_of_rotating_before():
    q, k, v = (random(2, 4, 12, 8, dtype=torch.float32, seed=s).requires_grad_() for s in range(3))
    table = sextant.rotary(12, 8)
    cos, sin = (torch.from_numpy(np.concatenate([x, x], -1)) for x in (table.cos, table.sin))

    def rotated(x):
        return x * cos + torch.cat([-x[..., 4:], x[..., :4]], -1) * sin

    got = torch.autograd.grad(sdpa(q, k, v, is_causal=True, rotation=table).square().sum(), (q, k, v))
    before = F.scaled_dot_product_attention(rotated(q), rotated(k), v, is_causal=True)
    for a, b in zip(got, torch.autograd.grad(before.square().sum(), (q, k, v))):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


def test_dropout_is_drawn_from_torchs_generator():
    q, k, v = random(2, 4, 70, 8), random(2, 2, 90, 8), random(2, 2, 90, 5)
    torch.manual_seed(5)
    seed = int(torch.randint(2**63 - 1, ()))
    torch.manual_seed(5)
    out = sdpa(q, k, v, dropout_p=0.3, enable_gqa=True)
    wanted = sextant.attention(q.numpy(), k.numpy(), v.numpy(), dropout=0.3, dropout_seed=seed)
    np.testing.assert_array_equal(out.numpy(), wanted)
    assert not torch.equal(sdpa(q, k, v, dropout_p=0.3, enable_gqa=True), out)
    ones = torch.ones_like(v)
    assert sdpa(q, k, ones, dropout_p=0.3, enable_gqa=True).mean() == pytest.approx(1, abs=0.02)


def test_all_weights_may_be_dropped():
    q, k, v = (torch.randn(1, 2, 5, 8, requires_grad=True) for _ in range(3))
    out, wanted = sdpa(q, k, v, dropout_p=1.0), torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=1.0)
    assert torch.equal(out, wanted) and not out.any()
    assert not any(gradient.any() for gradient in torch.autograd.grad(out.sum(), (q, k, v)))


def test_dropout_has_gradients_and_survives_checkpoints():
    q, k, v = (random(1, 2, 6, 4).double().requires_grad_() for _ in range(3))

    def drop(q, k, v):
        torch.manual_seed(3)
        return sdpa(q, k, v, dropout_p=0.4, is_causal=True)

    assert torch.autograd.gradcheck(drop, (q, k, v))
    gradients = []
    for run in (sdpa, lambda *a, **o: torch.utils.checkpoint.checkpoint(sdpa, *a, **o, use_reentrant=False)):
        torch.manual_seed(7)
        gradients.append(torch.autograd.grad(run(q, k, v, dropout_p=0.4).square().sum(), (q, k, v)))
    for one, two in zip(*gradients):
        assert torch.equal(one, two)


def test_other_ways_of_torch_to_derive():
    q = random(1, 2, 5, 8)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, q)
        with pytest.raises(NotImplementedError, match="forward mode"):
            sdpa(dual, dual, dual)
    for derive in (torch.func.jvp, lambda f, x, t: torch.func.hessian(f)(*x)):
        with pytest.raises(NotImplementedError, match="forward mode"):
            derive(lambda q: sdpa(q, q, q), (q,), (q,))


Q = torch.zeros(1, 2, 3, 4)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"dropout_p": 1.5}, ValueError, r"dropout_p\] must be in 0 .. 1, and less than 1, got 1.5"),
        ({"is_causal": True, "causal": "top_left"}, ValueError, r"causal\] must not be given together with is_causal"),
        ({"mask": Q}, TypeError, "got an unexpected keyword argument 'mask'"),
        ({"query": Q.numpy()}, TypeError, r"query\] must be a tensor, got ndarray"),
        ({"query": Q.to("meta")}, ValueError, r"query\] must be in the memory of the CPU, got a tensor on meta"),
        ({"query": Q[0, 0, 0]}, ValueError, r"query\] must be \[..., length, head_dim\], got the shape \[4\]"),
        ({"query": Q.int()}, TypeError, r"query\] must be of float32, bfloat16, float16 or float64, got int32"),
        ({"value": Q.double()}, TypeError, r"value\] must be of float32, as query, got float64"),
        ({"key": Q[:, :, :, :3]}, ValueError, r"key\] must be \[1, 2, 3, 4\]"),
        ({"query": Q.repeat(1, 2, 1, 1)}, ValueError, r"key\].*need enable_gqa=True"),
        ({"query": Q[0, 0], "key": Q[0, 0], "value": Q[0, 0], "enable_gqa": True}, ValueError, r"enable_gqa\] needs tensors"),
        ({"key": Q[:, :1].repeat(1, 3, 1, 1), "enable_gqa": True}, ValueError, r"value\] must have the heads of key, 3, got 2"),
        ({"query": Q.repeat(1, 2, 1, 1)[:, :3], "enable_gqa": True}, ValueError, r"key\] must have a number of heads that divides 3"),
        ({"attn_mask": np.ones(3)}, TypeError, r"attn_mask\] must be a tensor"),
        ({"attn_mask": torch.ones(3, 3).int()}, TypeError, r"attn_mask\] must be of bool or float32, as query, got int32"),
        ({"attn_mask": torch.ones(2, 2).bool()}, ValueError, r"attn_mask\] must broadcast to \[1, 2, 3, 3\]"),
        ({"window": 3}, TypeError, r"window\] must be \(left, right\)"),
        ({"foo": 3}, TypeError, "got an unexpected keyword argument 'foo'"),
    ],
)
def test_errors_name_torchs_arguments(options, error, text):
    with pytest.raises(error, match=r"scaled_dot_product_attention.*" + text if "foo" not in options else text):
        sdpa(**{"query": Q, "key": Q, "value": Q, **options})
