"""PyTorch: scaled_dot_product_attention, compiled FlexAttention, autograd, rotation."""

import warnings

import numpy
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

import common

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def inputs(case):
    return [torch.from_numpy(x).to(DTYPES[case["dtype"]]) for x in common.arrays(case)]


def measure(rows, peer, threads, call, check=None):
    """With each number of threads; `check` picks what is compared out of what the call returns."""
    def use():
        for count in threads:
            torch.set_num_threads(count)
            rows.measure(peer, count, call, lambda: (check or (lambda x: x))(call()).detach().float().numpy())
    rows.attempt(peer, use)


def sdpa_options(case):
    """Causal by name where that is all; anything else as the tensor the function wants."""
    if case["bias"] or case["window"]:
        mask = torch.from_numpy(common.score_bias(case))[None]
        return {"attn_mask": mask if case["bias"] else mask > -1}
    return {"is_causal": case["causal"]}


def sdpa(case, threads, rows):
    q, k, v = inputs(case)
    options = {"enable_gqa": True} if case["heads"] != case["kv_heads"] else sdpa_options(case)
    with torch.no_grad():
        measure(rows, "torch SDPA", threads, lambda: scaled_dot_product_attention(q, k, v, **options))


def flex(case, threads, rows):
    q, k, v = inputs(case)
    n, cap, window = case["queries"], case["softcap"], case["window"]
    slopes = torch.tensor(common.slopes_of(case["heads"]), dtype=torch.float32)
    table = torch.from_numpy(common.uniform((case["heads"], 2 * n - 1), common.SEED_BIAS))

    def score(value, batch, head, query, key):
        if cap:
            value = cap * torch.tanh(value / cap)
        if case["bias"] == "slopes":
            value = value - slopes[head] * (query - key).abs()
        if case["bias"] == "distance":
            value = value + table[head, key - query + n - 1]
        return value

    def visible(batch, head, query, key):
        return (query >= key) & (query - key < window) if window else query >= key

    def use():
        torch._dynamo.reset()
        blocks = create_block_mask(visible, None, None, n, n, device="cpu") if case["causal"] else None
        compiled = torch.compile(flex_attention, dynamic=False)
        score_mod = score if cap or case["bias"] else None
        with torch.no_grad():
            measure(rows, "torch Flex", threads,
                    lambda: compiled(q, k, v, score_mod=score_mod, block_mask=blocks))
    rows.attempt("torch Flex", use)


def backward(case, threads, rows):
    q, k, v = (x.requires_grad_() for x in inputs(case))
    gradient = torch.from_numpy(common.uniform(tuple(q.shape), common.SEED_OUT_GRADIENT))
    options, wanted = sdpa_options(case), [q, k, v]
    if case["bias"]:  # the gradient of every score, not yet summed up by distance
        wanted.append(options["attn_mask"].requires_grad_())
    out = scaled_dot_product_attention(q, k, v, **options)
    measure(rows, "torch autograd", threads,
            lambda: torch.autograd.grad(out, wanted, gradient, retain_graph=True), lambda grads: grads[0])


def rotate(case, threads, rows):
    q, k, _ = inputs(case)
    width, n = case["head_dim"], case["queries"]
    angles = numpy.outer(numpy.arange(n), 10000.0 ** (-numpy.arange(0, width, 2) / width))
    cos, sin = (torch.from_numpy(f(angles).astype(numpy.float32)) for f in (numpy.cos, numpy.sin))

    def rotate_interleaved(x):
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)

    def rotate_half_split(x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)

    turn = rotate_interleaved if case["layout"] == "interleaved" else rotate_half_split

    def both():
        if case["in_place"]:
            return q.copy_(turn(q)), k.copy_(turn(k))
        return turn(q), turn(k)

    check = None if case["in_place"] else (lambda pair: pair[0])
    with torch.no_grad():
        for peer, make in (("torch eager", lambda: both), ("torch compiled", lambda: torch.compile(both, dynamic=False))):
            torch._dynamo.reset()
            measure(rows, peer, threads, make(), check or (lambda pair: torch.zeros(1)))
    if check is None:
        for row in rows.rows:
            del row["check"]


def measure_case(case, threads, rows):
    kind = case["kind"]
    if case["dtype"] not in DTYPES:
        return rows.skip("torch", f"has no attention for {case['dtype']} on processors")
    if kind == "backward":
        backward(case, threads, rows)
    elif kind == "rotate":
        rotate(case, threads, rows)
    else:
        if not case["softcap"]:
            rows.attempt("torch SDPA", lambda: sdpa(case, threads, rows))
        if kind == "forward":
            flex(case, threads, rows)


warnings.filterwarnings("ignore")
common.serve({"torch": torch.__version__}, measure_case)
