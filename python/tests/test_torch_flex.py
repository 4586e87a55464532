"""sextant.torch.flex_attention against a dense computation, which torch's equals, and what runs natively.

torch's own has no gradients on the CPU, so that they are those of the dense computation."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn.attention.flex_attention import BlockMask, and_masks, create_block_mask, or_masks  # noqa: E402
from torch.nn.attention.flex_attention import flex_attention as torchs  # noqa: E402

import sextant  # noqa: E402
from sextant.torch import _flex, flex_attention  # noqa: E402

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


def theirs(q, k, v, score_mod=None, mask=None, scale=None):
    k, v = (each.repeat_interleave(q.shape[1] // each.shape[1], 1) for each in (k, v))
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if score_mod is not None:
        scores = on_pairs(score_mod, (scores,), scores.shape)
    if mask is not None:
        scores = torch.where(on_pairs(mask, (), scores.shape), scores, -math.inf)
    seen = (scores > -math.inf).any(-1, keepdim=True)
    return torch.where(seen, torch.softmax(torch.where(seen, scores, 0), -1), 0).to(v.dtype) @ v


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
    call = _flex.Call(given[0], given[1], None, blocks)
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


def test_conversions_keep_the_score_and_the_distance():
    reads, _ = _flex.read("score_mod", lambda s, b, h, q, k: s.to(torch.bfloat16).float() + (q.to(torch.float64) - k.double()) / 9, torch.float32)
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
    given = inputs(384, 384)
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
        (dict(return_lse=True), ValueError, r"return_lse\] must not be asked for"),
        (dict(return_aux=object()), ValueError, r"return_aux\] must not be asked for"),
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
    with pytest.raises(NotImplementedError, match="cannot be compiled"):
        torch.func.grad(lambda q: flex_attention(q, k, v).sum())(q)
    with pytest.raises(KeyError, match="of the function"):
        flex_attention(q, k, v, lambda s, b, h, q, k: {}["of the function"])
    empty = flex_attention(q[:, :, :0], k, v, SCORES["alibi"])
    assert empty.shape == (BATCH, HEADS, 0, WIDTH)
    np.testing.assert_array_equal(sextant.torch.flex_attention(q, k, v).detach(), sextant.torch.scaled_dot_product_attention(q, k, v).detach())
