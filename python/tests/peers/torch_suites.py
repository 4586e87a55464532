"""What torch ships: samples of its OpInfos and of its modules with attention, their outputs and their gradients."""

import copy
from functools import partial
from unittest import SkipTest, mock

import torch
import torch.nn.functional as F

from sextant.torch import flex_attention, scaled_dot_product_attention

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
DRAWN = "drops other weights than torch, the same ones for the same torch.manual_seed"


def near(got, theirs, exact):
    """As near to float64 as eight times the error of torch's own, whose sums have as many roundings in another order, or as 32 roundings of
    the largest value, where that error happens to be small: the largest of hundreds of quotients of two such errors is above four."""
    for one, other, wanted in zip(got, theirs, exact, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape, (one.dtype, one.shape, other.dtype, other.shape)
        error, allowed = ((each.double() - wanted).abs().max().item() for each in (one, other))
        allowed = 8 * allowed + 32 * torch.finfo(one.dtype).eps * wanted.abs().max().item()
        assert error <= allowed, f"off by {error:.3g}, allowed {allowed:.3g}"


def in_double(value):
    return value.detach().double().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def results(function, double, arguments, options, others=()):
    """The outputs, and the gradients of what requires them."""
    if double:
        arguments, options = [in_double(each) for each in arguments], {name: in_double(option) for name, option in options.items()}
    made = function(*arguments, **options)
    outs = [out for out in (made if isinstance(made, tuple) else (made,)) if out is not None]
    inputs = [each for each in (*arguments, *options.values(), *others) if isinstance(each, torch.Tensor) and each.requires_grad]
    douts = [torch.linspace(-1, 1, out.numel(), dtype=torch.float64).view(out.shape).to(out.dtype) for out in outs]
    return outs + ([*torch.autograd.grad(outs, inputs, douts)] if inputs else [])


def smaller(value):
    """A ninth: torch's samples are -9 .. 9, where softmax is 0 or 1 and gradients are what rounding leaves of it."""
    return (value.detach() / 9).requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def check_dropout(ours, given):
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        runs.append(results(ours, False, *given))
    assert all(map(torch.equal, runs[0], runs[1])) and all(each.isfinite().all() for each in runs[0])
    assert not all(map(torch.equal, runs[0], runs[2])), "drops the same weights for two seeds"
    raise SkipTest(DRAWN)


def compare(ours, theirs, sample):
    given = [smaller(each) for each in (sample.input, *sample.args)], {name: smaller(option) for name, option in sample.kwargs.items()}
    if given[1].get("dropout_p"):
        check_dropout(ours, given)
    near(results(ours, False, *given), results(theirs, False, *given), results(theirs, True, *given))


def samples(database, name, requires_grad, ours, theirs):
    for op in (op for op in database if op.name == name):
        for dtype in DTYPES:
            for i, sample in enumerate(op.sample_inputs_func(op, "cpu", dtype, requires_grad)):
                yield f"{dtype}, sample {i}", partial(compare, ours, theirs, sample)


def of_operator():
    from torch.testing._internal.common_methods_invocations import op_db

    return samples(op_db, "nn.functional.scaled_dot_product_attention", True, scaled_dot_product_attention, F.scaled_dot_product_attention)


def of_flex():
    from torch.nn.attention.flex_attention import flex_attention as torchs
    from torch.testing._internal.hop_db import hop_db

    return samples(hop_db, "flex_attention", False, flex_attention, torchs)


def compare_module(make, sample, training):
    torch.manual_seed(0)
    module = make(*sample.constructor_input.args, **sample.constructor_input.kwargs).train(training)
    # With need_weights torch computes attention by products of its own.
    options = {**sample.forward_input.kwargs, **({"need_weights": False} if make is torch.nn.MultiheadAttention else {})}
    given, exact, ours = (sample.forward_input.args, options), copy.deepcopy(module).double(), mock.Mock(wraps=scaled_dot_product_attention)
    with mock.patch.object(F, "scaled_dot_product_attention", ours):
        got = results(module, False, *given, module.parameters())
    if not ours.called:
        raise SkipTest("computed by another function")
    if any(call.kwargs.get("dropout_p", (*call.args, 0, 0, 0, 0, 0)[4]) for call in ours.call_args_list):
        raise SkipTest(DRAWN)
    near(got, results(module, False, *given, module.parameters()), results(exact, True, *given, exact.parameters()))


def of_modules():
    from torch.testing._internal.common_modules import module_db

    for info in (info for info in module_db if "Transformer" in info.name or "MultiheadAttention" in info.name):
        for training in (True, False):
            made = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=training)
            for i, sample in enumerate(made):
                yield f"{info.name}, training {training}, sample {i}", partial(compare_module, info.module_cls, sample, training)


SUITES = {
    "torch, OpInfo of scaled_dot_product_attention": ("expecttest", of_operator),
    "torch, OpInfo of flex_attention": ("expecttest", of_flex),
    "torch, MultiheadAttention and Transformer": ("expecttest", of_modules),
}
