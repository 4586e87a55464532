"""sextant.torch.flex_attention against a dense computation, which torch's equals, and what runs natively.

torch's own has no gradients on the CPU, so that they are those of the dense computation."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn.attention.flex_attention import AuxRequest, BlockMask, and_masks, create_block_mask, or_masks  # noqa: E402
from torch.nn.attention.flex_attention import flex_attention as torchs  # noqa: E402

import sextant  # noqa: E402
from sextant.torch import flex_attention  # noqa: E402
from sextant.torch._flex_call import Call, read  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.filterwarnings("ignore::FutureWarning"),
              pytest.mark.filterwarnings("ignore::UserWarning")]  # fmt: skip  # of torch, about itself

BATCH, HEADS, LENGTH, WIDTH = 2, 4, 37, 8


def random(*shape, seed=0, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=dtype)


def inputs(q_len=LENGTH, k_len=LENGTH, dtype=torch.float32, kv_heads=HEADS):
    q, k, v = random(BATCH, HEADS, q_len, WIDTH), random(BATCH, kv_heads, k_len, WIDTH, seed=1), random(BATCH, kv_heads, k_len, WIDTH, seed=2)
    return [each.to(dtype).requires_grad_() for each in (q, k, v)]


def on_pairs(function, lead, sizes):
    """function(*lead, batch, head, query, key) on all of them, as torch's does: each sees single numbers."""
    own = (0,) * len(lead)
    for places in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
        function = torch.vmap(function, in_dims=(*own, *places))
    return function(*lead, *(torch.arange(size, dtype=torch.int32) for size in sizes))


def theirs(q, k, v, score_mod=None, mask=None, scale=None, return_lse=False):
    k, v = (each.repeat_interleave(q.shape[1] // each.shape[1], 1) for each in (k, v))
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if score_mod is not None:
        scores = on_pairs(score_mod, (scores,), scores.shape)
    if mask is not None:
        scores = torch.where(on_pairs(mask, (), scores.shape), scores, -math.inf)
    seen = (scores > -math.inf).any(-1, keepdim=True)
    out = torch.where(seen, torch.softmax(torch.where(seen, scores, 0), -1), 0).to(v.dtype) @ v
    return (out, torch.logsumexp(scores, -1)) if return_lse else out


DOCUMENTS = torch.tensor([0] * 9 + [1] * 5 + [2] * (LENGTH - 14))
LENGTHS = torch.tensor([20, LENGTH])
SLOPES = torch.exp2(-(torch.arange(HEADS) + 1.0))
TABLE = random(HEADS, 2 * LENGTH - 1, seed=3)
FULL = random(HEADS, LENGTH, LENGTH, seed=4)


def causal(b, h, q, k):
    return q >= k


def window(b, h, q, k):
    return (q - k <= 5) & (q - k >= -2)


def documents(b, h, q, k):
    return DOCUMENTS[q] == DOCUMENTS[k]


def prefix(b, h, q, k):
    return (k < 7) | (q >= k)


MASKS = {
    "none": (None, []),
    "causal": (causal, ["causal"]),
    "window": (window, ["window"]),
    "sliding window": (and_masks(causal, lambda b, h, q, k: q - k <= 4), ["causal", "window"]),
    "documents": (documents, ["segments"]),
    "causal documents": (and_masks(causal, documents), ["causal", "segments"]),
    "window in documents": (and_masks(window, documents), ["window", "segments"]),
    "prefix": (prefix, ["bias"]),
    "everything": (lambda b, h, q, k: q >= q, []),
    "dilated": (lambda b, h, q, k: (q - k) % 3 == 0, ["table"]),
    "past alone": (lambda b, h, q, k: q > k, ["table"]),
    "by head": (lambda b, h, q, k: (q - k).abs() <= h, ["table"]),
    "chunks": (lambda b, h, q, k: q // 8 == k // 8, ["segments"]),
    "chunks and sinks": (or_masks(lambda b, h, q, k: q // 8 == k // 8, lambda b, h, q, k: k < 2), ["bias"]),
    "padding": (lambda b, h, q, k: k < LENGTHS[b], ["bias"]),
    "heads that differ": (lambda b, h, q, k: (q >= k) | (k % (h + 1) == 0), ["bias"]),
    "nothing seen": (lambda b, h, q, k: (q < 3) & (k < 3), ["bias"]),
}  # fmt: skip

SCORES = {
    "none": None,
    "factor": lambda s, b, h, q, k: -0.5 * s,
    "softcap": lambda s, b, h, q, k: 2 * torch.tanh(s / 2),
    "another softcap": lambda s, b, h, q, k: torch.tanh(s * 0.3) * -1.5 + 0.25,
    "alibi": lambda s, b, h, q, k: s - SLOPES[h] * (q - k).abs(),
    "relative": lambda s, b, h, q, k: s + TABLE[h, q - k + LENGTH - 1],
    "causal": lambda s, b, h, q, k: torch.where(q >= k, s, -float("inf")),
    "capped alibi": lambda s, b, h, q, k: (3 * torch.tanh(s / 3)).masked_fill(q < k, -torch.inf) + SLOPES[h] * (k - q),
    "bias of all pairs": lambda s, b, h, q, k: s + FULL[h, q, k],
    "by key": lambda s, b, h, q, k: s + torch.sin(k.float()) + 0.1 * b,
    "the score twice": lambda s, b, h, q, k: s + torch.where(h < 2, s, -math.inf) - s,
}


def compare(got, wanted, given, weights=(), tolerance=2e-5):
    torch.testing.assert_close(got, wanted, atol=tolerance, rtol=tolerance)
    dout = random(*wanted.shape, seed=9).to(wanted.dtype)
    pairs = zip(torch.autograd.grad(got, (*given, *weights), dout), torch.autograd.grad(wanted, (*given, *weights), dout, retain_graph=True))
    for one, other in pairs:
        torch.testing.assert_close(one, other, atol=5 * tolerance, rtol=5 * tolerance)


@pytest.mark.parametrize("name", MASKS)
def test_masks_are_torchs_and_run_natively_where_they_are_known(name):
    mask, native = MASKS[name]
    given = inputs()
    blocks = None if mask is None else create_block_mask(mask, BATCH, HEADS, LENGTH, LENGTH, device="cpu")
    wanted = theirs(*given, mask=mask)
    compare(flex_attention(*given, block_mask=blocks), wanted, given)
    compare(flex_attention(*given, block_mask=mask), wanted, given)
    call = Call(given[0], given[1], None, blocks)
    assert sorted(call.mask_options(0)) == sorted(native)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("mask", ["none", "causal", "dilated", "prefix"])
def test_scores_are_torchs(name, mask):
    given = inputs(dtype=torch.float64)
    mask = MASKS[mask][0]
    blocks = None if mask is None else create_block_mask(mask, None, None, LENGTH, LENGTH, device="cpu")
    compare(flex_attention(*given, SCORES[name], blocks), theirs(*given, SCORES[name], mask), given, tolerance=1e-6)


@pytest.mark.parametrize(("score", "mask"), [("none", "causal documents"), ("alibi", "prefix"), ("another softcap", "by head"), ("bias of all pairs", "padding")])
def test_the_dense_computation_is_torchs(score, mask):
    given = [each.detach() for each in inputs()]
    blocks = create_block_mask(MASKS[mask][0], BATCH, HEADS, LENGTH, LENGTH, device="cpu")
    wanted = torchs(*given, SCORES[score], blocks)
    torch.testing.assert_close(theirs(*given, SCORES[score], MASKS[mask][0]), wanted, atol=2e-6, rtol=2e-6)
    torch.testing.assert_close(flex_attention(*given, SCORES[score], blocks), wanted, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("score", "mask"), [("none", "none"), ("alibi", "causal"), ("bias of all pairs", "padding"), ("another softcap", "dilated")])
def test_the_log_sum_exp_and_its_gradients(score, mask, dtype):
    given = inputs(dtype=dtype)
    exact = [each.detach().double().requires_grad_() for each in given]
    score, mask = SCORES[score], MASKS[mask][0]
    got, wanted = flex_attention(*given, score, mask, return_lse=True), theirs(*exact, score, mask, return_lse=True)
    assert got[1].dtype == torch.float32 and got[1].shape == (BATCH, HEADS, LENGTH)
    tolerance = 5e-2 if dtype == torch.bfloat16 else 2e-5
    torch.testing.assert_close(got[1].double(), wanted[1], atol=2e-5, rtol=2e-5)
    dlse = 3 * random(*wanted[1].shape, seed=5, dtype=torch.float64)
    for read_by in (lambda out, lse: (lse * dlse).sum(), lambda out, lse: (lse * dlse).sum() + out.double().square().sum()):
        sides = ((got, given), (wanted, exact))
        for one, other in zip(*(torch.autograd.grad(read_by(*both), of, retain_graph=True, materialize_grads=True) for both, of in sides)):
            torch.testing.assert_close(one.double(), other, atol=5 * tolerance, rtol=tolerance)


def test_the_gradient_of_a_log_sum_exp_keeps_16_bits_in_bfloat16():
    """In one channel of bfloat16 alone 1 + 2^-9 would be 1."""
    q, k, v = inputs(dtype=torch.bfloat16)
    more, one = (torch.autograd.grad((flex_attention(q, k, v, return_lse=True)[1] * factor).sum(), q)[0] for factor in (1 + 2**-9, 1.0))
    assert not torch.equal(more, one)


def test_auxiliary_outputs_are_torchs():
    given = [each.detach() for each in inputs()]
    blocks = create_block_mask(MASKS["nothing seen"][0], None, None, LENGTH, LENGTH, device="cpu")
    both = (function(*given, SCORES["alibi"], blocks, return_aux=AuxRequest(lse=True)) for function in (flex_attention, torchs))
    (got, aux), (wanted, theirs_aux) = both
    torch.testing.assert_close(aux.lse, theirs_aux.lse, atol=2e-5, rtol=2e-5)
    torch.testing.assert_close(got, wanted, atol=2e-5, rtol=2e-5)
    assert aux.lse[0, 0, 3] == -math.inf and aux.max_scores is None
    assert flex_attention(*given, return_aux=AuxRequest())[1] == (None, None)
    q, k, v = given
    assert flex_attention(q[:, :, :0], k, v, return_lse=True)[1].shape == (BATCH, HEADS, 0)
    assert torch.equal(flex_attention(q, k[:, :, :0], v[:, :, :0], return_lse=True)[1], torch.full((BATCH, HEADS, LENGTH), -math.inf))


@pytest.mark.parametrize(("score", "mask"), [("alibi", "causal"), ("by key", "padding")])
def test_transforms_of_functions(score, mask):
    q, k, v = (each.detach() for each in inputs())
    many = torch.stack([q, 2 * q, q - 1])

    def loss_of(function):
        def loss(*given):
            out, lse = function(*given, SCORES[score], MASKS[mask][0], return_lse=True)
            return out.square().sum() + lse.cos().sum()

        return loss

    for transform in (
        lambda loss: torch.func.grad(loss, (0, 1, 2))(q, k, v),
        lambda loss: [torch.func.vmap(loss, (0, None, None))(many, k, v)],
        lambda loss: torch.func.vmap(torch.func.grad(loss, (0, 2)), (0, None, None))(many, k, v),
    ):
        for got, wanted in zip(transform(loss_of(flex_attention)), transform(loss_of(theirs))):
            torch.testing.assert_close(got, wanted, atol=2e-4, rtol=2e-4)


def test_gradients_inside_a_later_vmap_reach_both_outputs():
    given = inputs()
    both = flex_attention(*given, SCORES["alibi"], return_lse=True)
    douts = [random(3, *each.shape, seed=i) for i, each in enumerate(both)]
    together = torch.func.vmap(lambda *douts: torch.autograd.grad(both, given, douts, retain_graph=True))(*douts)
    for i in range(3):
        for one, all_of_them in zip(torch.autograd.grad(both, given, [each[i] for each in douts], retain_graph=True), together):
            torch.testing.assert_close(one, all_of_them[i])


def test_what_a_function_reads_stays_outside_of_transforms():
    q, k, v = (each.detach() for each in inputs())
    slopes, full = SLOPES.clone().requires_grad_(), FULL.clone().requires_grad_()
    relative = lambda s, b, h, q, k: s + slopes[h] * (q - k)  # noqa: E731
    losses = [torch.func.vmap(lambda q: function(q, k, v, relative).square().sum())(q[None]).sum() for function in (flex_attention, theirs)]
    torch.testing.assert_close(*(torch.autograd.grad(loss, slopes)[0] for loss in losses), atol=1e-3, rtol=1e-4)
    with pytest.raises(NotImplementedError, match=r"score_mod\] must not read a tensor that torch.func"):
        torch.func.grad(lambda slopes: flex_attention(q, k, v, lambda s, b, h, q, k: s + slopes[h] * (q - k)).sum())(SLOPES)
    with pytest.raises(NotImplementedError, match=r"score_mod\] must not read tensors that require gradients, other than by query - key"):
        torch.func.grad(lambda q: flex_attention(q, k, v, lambda s, b, h, q, k: s + full[h, q, k]).sum())(q)


def test_a_compiled_graph_breaks_and_one_graph_is_refused():
    q, k, v = (each.detach() for each in inputs())
    blocks = create_block_mask(causal, None, None, LENGTH, LENGTH, device="cpu")

    def layer(q, k, v):
        return flex_attention(2 * q, k, v, SCORES["alibi"], blocks).square()

    class Layer(torch.nn.Module):
        def forward(self, q, k, v):
            return layer(q, k, v)

    words = "compile without fullgraph=True, where the graph breaks here"
    with pytest.raises(torch._dynamo.exc.Unsupported, match=words):
        torch.compile(layer, backend="aot_eager", fullgraph=True)(q, k, v)
    torch._dynamo.reset()
    assert torch.equal(torch.compile(layer, backend="aot_eager")(q, k, v), layer(q, k, v))
    with pytest.raises(NotImplementedError, match=words):
        torch.export.export(Layer(), (q, k, v), strict=False)
    with pytest.raises(NotImplementedError, match=words):
        layer(*(each.to("meta") for each in (q, k, v)))


def test_conversions_keep_the_score_and_the_distance():
    reads, _ = read("score_mod", lambda s, b, h, q, k: s.to(torch.bfloat16).float() + (q.to(torch.float64) - k.double()) / 9, torch.float32)
    assert reads.score.factor == 1 and reads.distance and reads.positions and not reads.head and not reads.batch
    given = inputs()
    score = lambda s, b, h, q, k: s.clone().to(torch.float32) + (q.long() + 3 - k).float() / 9  # noqa: E731
    compare(flex_attention(*given, score), theirs(*given, score), given)


@pytest.mark.parametrize("lengths", [(5, 30), (30, 5), (1, 30), (300, 300), (130, 400)])
def test_other_lengths(lengths):
    given = inputs(*lengths)
    offset = lengths[1] - lengths[0]
    for mask in (causal, lambda b, h, q, k: q + offset >= k, lambda b, h, q, k: (q + offset >= k) & (q + offset - k < 4), lambda b, h, q, k: (q * k) % 3 < 2):
        blocks = create_block_mask(mask, None, None, *lengths, device="cpu")
        score = lambda s, b, h, q, k: s + SLOPES[h] * (k - q)  # noqa: E731
        compare(flex_attention(*given, score, blocks, 0.3), theirs(*given, score, mask, 0.3), given, tolerance=5e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_dtypes_and_grouped_heads(dtype):
    given = inputs(dtype=dtype, kv_heads=2)
    blocks = create_block_mask(causal, None, None, LENGTH, LENGTH, device="cpu")
    wanted = theirs(*[each.double() for each in given], SCORES["alibi"], causal)
    got = flex_attention(*given, SCORES["alibi"], blocks, enable_gqa=True)
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), wanted, atol=1e-6 if dtype == torch.float64 else 3e-2, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_of_what_a_function_reads(dtype):
    given = inputs(dtype=dtype)
    table, full, per_head = (each.to(dtype).requires_grad_() for each in (TABLE.clone(), FULL.clone(), SLOPES.clone()))
    functions = {
        "by distance": (lambda s, b, h, q, k: s + per_head.exp()[h] * (q - k).abs() + table[h, q - k + LENGTH - 1], [table, per_head]),
        "by pair": (lambda s, b, h, q, k: torch.where(q >= k, s + 0.5 * full[h, q, k] * per_head[h], -math.inf), [full, per_head]),
        "by batch": (lambda s, b, h, q, k: s + full[h, q, k] * (b + 1), [full]),
    }
    for name, (function, weights) in functions.items():
        tolerance = 2e-5 if dtype == torch.float32 else 1e-6
        compare(flex_attention(*given, function), theirs(*given, function), given, weights, tolerance)


def test_a_block_mask_is_read_once():
    calls = []
    mask = lambda b, h, q, k: (calls.append(1), DOCUMENTS[q] == DOCUMENTS[k])[1]  # noqa: E731
    blocks = create_block_mask(mask, None, None, LENGTH, LENGTH, device="cpu")
    given = inputs()
    first = flex_attention(*given, block_mask=blocks)
    before = len(calls)
    assert torch.equal(flex_attention(*given, block_mask=blocks), first) and len(calls) == before
    flex_attention(*given, block_mask=mask)  # a function alone is read again
    assert len(calls) > before


def test_blocks_without_a_function_are_those_of_the_mask():
    blocks = create_block_mask(causal, None, None, 384, 384, device="cpu")
    bare = BlockMask.from_kv_blocks(blocks.kv_num_blocks, blocks.kv_indices, blocks.full_kv_num_blocks, blocks.full_kv_indices)
    no_blocks = BlockMask.from_kv_blocks(torch.ones(1, 1, 1).int(), torch.zeros(1, 1, 1, 1).int(), BLOCK_SIZE=1 << 30, seq_lengths=(1, 1))
    given = inputs(384, 384)
    assert torch.equal(flex_attention(*given, block_mask=no_blocks), flex_attention(*given))  # torch's own for calls without a mask
    seen = lambda b, h, q, k: q // 128 >= k // 128  # noqa: E731
    assert torch.equal(flex_attention(*given, block_mask=bare), flex_attention(*given, block_mask=seen))


def test_results_do_not_depend_on_threads():
    given = inputs(200, 200)
    mask = lambda b, h, q, k: (q * k) % 5 < 3  # noqa: E731
    outs = [flex_attention(*given, lambda s, b, h, q, k: s + torch.sin(q * 0.1 + k), mask, threads=threads) for threads in (1, 2, 0)]
    assert torch.equal(outs[0], outs[1]) and torch.equal(outs[0], outs[2])


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (lambda s, b, h, q, k: s * SLOPES[h], "factors of the score that depend on indices"),
        (lambda s, b, h, q, k: torch.where((q - k).abs() == 1, s * 0.5, s), "factors of the score that depend on indices"),
        (lambda s, b, h, q, k: torch.where(q >= k, s, -1e9), "a number other than -inf"),
        (lambda s, b, h, q, k: torch.exp(s), "'exp' of the score"),
        (lambda s, b, h, q, k: torch.tanh(s + q), "'tanh' of the score"),
        (lambda s, b, h, q, k: s if q >= k else s - 1, "'__bool__' of an index or a score"),
        (lambda s, b, h, q, k: s + int(q), "'__int__' of an index or a score"),
        (lambda s, b, h, q, k: s.add_(1), "'add_', which changes a number in place"),
        (lambda s, b, h, q, k: torch.where(s > 0, s, s), "'gt' of the score"),
        (lambda s, b, h, q, k: s * torch.ones((), requires_grad=True), "or have gradients"),
        (lambda s, b, h, q, k: torch.add(s, q, alpha=2), "'add' of the score with alpha"),
    ],
)
def test_scores_that_the_operator_has_not_are_refused(score, words):
    with pytest.raises(NotImplementedError, match=rf"\[flex_attention.score_mod\] must give a factor times the score.*{words}"):
        flex_attention(*inputs(), score)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        (dict(score_mod=3), TypeError, r"score_mod\] must be a function, got int"),
        (dict(block_mask=3), TypeError, r"block_mask\] must be a BlockMask or a function, got int"),
        (dict(score_mod=lambda s, b, h, q, k: 1.0), TypeError, r"score_mod\] must give a tensor, got float"),
        (dict(score_mod=lambda s, b, h, q, k: q * 1.0), ValueError, r"score_mod\] must give a number that depends on the score"),
        (dict(block_mask=lambda b, h, q, k: q - k), TypeError, r"block_mask\] must give a bool, got int32"),
        (dict(return_lse=True, return_aux=AuxRequest()), ValueError, r"return_lse\] must not be given together with return_aux"),
        (dict(return_aux=True), TypeError, r"return_aux\] must be an AuxRequest of torch.nn.attention.flex_attention, got bool"),
        (dict(return_aux=AuxRequest(max_scores=True)), NotImplementedError, r"return_aux\] must not ask for max_scores"),
        (dict(block_mask=create_block_mask(causal, None, None, 64, LENGTH, device="cpu")), ValueError, r"block_mask\] must be of q_len 37 and k_len 37, got 64 and 37"),
        (dict(threads=-1), ValueError, "threads"),
    ],
)  # fmt: skip
def test_mistakes_name_the_argument(options, kind, words):
    with pytest.raises(kind, match=words):
        flex_attention(*inputs(), **options)


def test_mistakes_of_tensors():
    q, k, v = inputs()
    with pytest.raises(ValueError, match=r"\[flex_attention.key\] must be \[batch, heads, length, head_dim\]"):
        flex_attention(q, k[0], v)
    with pytest.raises(TypeError, match=r"\[flex_attention.value\] must be a tensor, got list"):
        flex_attention(q, k, [1])
    with pytest.raises(KeyError, match="of the function"):
        flex_attention(q, k, v, lambda s, b, h, q, k: {}["of the function"])
    empty = flex_attention(q[:, :, :0], k, v, SCORES["alibi"])
    assert empty.shape == (BATCH, HEADS, 0, WIDTH)
    np.testing.assert_array_equal(sextant.torch.flex_attention(q, k, v).detach(), sextant.torch.scaled_dot_product_attention(q, k, v).detach())
