"""Tensors of torch as arrays of sextant's own functions, which have no gradients and see the memory alone."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import sextant  # noqa: E402

Q = torch.linspace(-1, 1, 80, dtype=torch.float32).reshape(1, 2, 5, 8)
LEARNED = torch.ones(2, dtype=torch.float64, requires_grad=True)
ROTATION = sextant.rotary(5, 8)


def learned(x):
    return x.clone().requires_grad_()


@pytest.mark.parametrize(
    ("where", "call"),
    [
        ("attention.q", lambda: sextant.attention(learned(Q) * 2, Q, Q)),
        ("attention.out", lambda: sextant.attention(Q, Q, Q, out=learned(Q))),
        ("attention.mask", lambda: sextant.attention(Q, Q, Q, mask=learned(torch.zeros(5, 5)))),
        ("attention.bias", lambda: sextant.attention(Q, Q, Q, bias=learned(torch.zeros(2, 9)))),
        ("attention.slopes", lambda: sextant.attention(Q, Q, Q, slopes=LEARNED)),
        ("attention.sinks", lambda: sextant.attention(Q, Q, Q, sinks=list(LEARNED))),
        ("attention.scale", lambda: sextant.attention(Q, Q, Q, scale=LEARNED[0])),
        ("rotate.x", lambda: sextant.rotate(learned(Q), ROTATION)),
        ("add_positions.table", lambda: sextant.add_positions(Q, learned(Q[0, 0]))),
        ("KvCache.append.v", lambda: sextant.KvCache(1, 2, 8).append(Q, learned(Q))),
        ("learned.table", lambda: sextant.learned(5, 8, weights={"table": learned(Q[0, 0])})),
    ],
)
def test_a_gradient_is_not_lost(where, call):
    with pytest.raises(ValueError, match=rf"\[{where}\] must not require a gradient, which would be lost: sextant.torch computes"):
        call()


def test_where_torch_records_no_gradients_none_is_lost():
    wanted = sextant.attention(Q, Q, Q)
    with torch.no_grad():
        assert torch.equal(sextant.attention(learned(Q), Q, Q), wanted)
    assert torch.equal(sextant.attention(learned(Q).detach(), Q, Q), wanted)


def test_lazily_negated_and_conjugated_tensors_are_refused():
    negated = torch.complex(Q, Q).conj().imag
    assert negated.is_neg()
    with pytest.raises(ValueError, match=r"\[attention.k\] must have its neg bit resolved: resolve_neg\(\)"):
        sextant.attention(Q, negated, Q)
    assert torch.equal(sextant.attention(negated.resolve_neg(), Q, Q), sextant.attention(-Q, Q, Q))
    with pytest.raises(ValueError, match=r"\[attention.q\] must have its conj bit resolved"):
        sextant.attention(torch.complex(Q, Q).conj(), Q, Q)


def test_what_has_no_gradient_takes_weights_of_models():
    table = torch.nn.Parameter(torch.from_numpy(sextant.sinusoidal(60, 16)))
    assert sextant.identify(table).scheme == "sinusoidal"
    assert sextant.plot.heatmap(table).svg == sextant.plot.heatmap(table.detach()).svg
    angles = torch.outer(torch.arange(40.0), 10000.0 ** (-torch.arange(8.0) / 8))
    assert sextant.identify(torch.polar(torch.ones_like(angles), -angles).conj()).scheme == "rotary"


def test_tensors_give_the_numbers_of_arrays():
    x = Q.numpy()
    np.testing.assert_array_equal(sextant.attention(Q, Q, Q).numpy(), sextant.attention(x, x, x))
