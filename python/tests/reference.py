"""Attention in NumPy and float64, from the definition: slow and obvious. Each number comes with the bound of the error that the
operator may make, counted from what it computes.

The operator (docs/attention-kernel.md) computes float32 and 16-bit arrays in float32 and float64 in float64, in this order. The
formula below has at least its roundings; where the operator has more, they are named there as `more` or `.rounded(n)`:

    q, k rotated           two products and a sum for each number
    s = scale <q, k>       scale log2(e) and q are multiplied and rounded first: each term has 2 roundings more than a sum of
                           head_dim products
    softcap                its rate and cap are rounded: 3 in the argument, 2 in the product
    b, the biases          up to four terms are added up, converted to log2 and rounded: at most 6 for each
    p = 2^(s + b - m)      m is one float32 of the row, which cancels, within 24 log2 units of the row's maximum M, so that the
                           difference is rounded by u (|s + b - M| + 24 ln 2), and the exponential by its own error.
                           Where m rises, at most once for a block of 64 keys and each of its three pieces, sums are
                           multiplied by such an exponential once more. float64 has the maximum of the row from the start
    l = sum p              with the sink as one more term
    w = p / l              1 / l is rounded before it is multiplied
    out = sum w v          rounded once more where it is stored in 16 bits

Gradients compute p again from log(l) + m as float32, |log(l)| <= 32 or else l is summed again: u |log(l)| in every weight and 2
roundings of the factor that corrects it. Then dP = <dout, v>, delta = <out, dout> with the stored `out`, dS = w (dP - delta), and
sums of dS, over queries, keys and the heads of a group in any order. Gradients of biases are summed along a diagonal in
float32 and then in float64.

u is 2^-24 or 2^-53, times 2 for float64, whose reference is computed in float64 too. rounding.py has the rules.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from places import Places
from rounding import FLOAT32, FLOAT64, Rounded, stored

BLOCK = 64
SLACK = 24 * math.log(2)


def rotated(x: Rounded, table: Any, rows: Any, sign: int = 1) -> Rounded:
    """x [batch, heads, length, head_dim] turned by rows [batch, length] of a table."""
    cos, sin = (np.asarray(values, np.float64)[rows][:, None] for values in (table.cos, table.sin))
    pairs, first = cos.shape[-1], table.first_channel
    step = 2 if table.layout == "interleaved" else 1
    a = slice(first, first + step * pairs, step)
    b = slice(a.start + (1 if step == 2 else pairs), a.stop + (1 if step == 2 else pairs), step)
    one, two = x.each(lambda y: y[..., a]), x.each(lambda y: y[..., b])
    value, error = x.value.copy(), x.error.copy()
    for part, turned in ((a, one * cos - two * (sign * sin)), (b, one * (sign * sin) + two * cos)):
        value[..., part], error[..., part] = turned.value, turned.error
    return Rounded(value, x.arithmetic, error)


class Attention:
    """One call: the stages of its scores [batch, heads, q_len, k_len], its weights, its output, its gradients."""

    def __init__(
        self, q, k, *, mask=None, bias=None, slopes=None, scale=None, softcap=0.0, sinks=None, rotation=None, threads=0, **alignment
    ):
        self.dtype = np.dtype(q.dtype)
        self.arithmetic = FLOAT64 if self.dtype == np.float64 else FLOAT32
        self.shape = (*q.shape[:3], k.shape[2])
        self.places = Places(q.shape[0], q.shape[2], k.shape[2], **alignment)
        self.group = q.shape[1] // k.shape[1]
        self.rotation, self.softcap = rotation, softcap
        self.mask, self.bias, self.slopes, self.sinks = (None if x is None else np.asarray(x) for x in (mask, bias, slopes, sinks))
        self.scale = q.shape[3] ** -0.5 if scale is None else scale
        self.q, k = self.exact(q), self.exact(k)
        if rotation is not None:
            self.q, k = rotated(self.q, rotation, self.places.q_ids), rotated(k, rotation.keys, self.places.k_ids)
        self.k = self.to_heads(k)
        self.scores = (self.q * self.scale).dot(self.k.each(lambda x: x.swapaxes(2, 3)), more=1)
        self.capped = self.scores
        if softcap > 0:
            self.capped = (self.scores * (1 / softcap)).rounded(2).tanh() * softcap
            self.capped = self.capped.rounded(1)
        self.biased = self.capped + self.biases()
        self.normalize()

    def exact(self, x: Any) -> Rounded:
        return Rounded(x, self.arithmetic)

    def to_heads(self, x: Rounded) -> Rounded:
        return x.each(lambda y: np.repeat(y, self.group, axis=1))

    def biases(self) -> Rounded:
        """What is added to the scores; -inf in any of them hides."""
        self.seen = np.broadcast_to(self.places.seen[:, None], self.shape).copy()
        parts = []
        if self.bias is not None:
            self.columns = np.where(self.places.seen, self.places.distance + self.bias.shape[1] // 2, 0)
            parts.append(np.asarray(self.bias, np.float64)[:, self.columns].swapaxes(0, 1))
        if self.slopes is not None:
            parts.append(-self.slopes[None, :, None, None] * np.abs(self.places.distance)[:, None])
        if self.mask is not None and self.mask.dtype == bool:
            self.seen &= self.mask
        elif self.mask is not None:
            parts.append(self.mask.astype(np.float64))
        total, size = np.zeros(self.shape), np.zeros(self.shape)
        for part in parts:
            self.seen &= ~np.isneginf(part)
            finite = np.where(np.isneginf(part), 0.0, part)
            total, size = total + finite, size + np.abs(finite)
        return self.exact(total).after(6 if parts else 0, total, 0.0, size)

    def exponential(self, logit: Rounded, top: Any) -> Rounded:
        blocked, value = self.arithmetic.rises, logit.value - top
        moved = self.arithmetic.gamma(1) * (np.abs(value) + logit.error + (SLACK if blocked else 0))
        power = Rounded(value, self.arithmetic, logit.error + moved).exp()
        rises = 3 * math.ceil(self.shape[3] / BLOCK) if blocked else 0
        raised = (1 + self.arithmetic.exp) ** rises * np.exp(rises * moved) - 1
        return power.after(rises, power.value, power.error + raised * (power.value + power.error))

    def normalize(self) -> None:
        logits = self.biased.where(self.seen)
        top = np.where(self.seen, logits.value, -np.inf).max(-1, keepdims=True, initial=-np.inf)
        sink = None
        if self.sinks is not None:
            logit = self.exact(np.broadcast_to(self.sinks[None, :, None, None], top.shape)).rounded(1)
            top = np.maximum(top, logit.value)
            sink = self.exponential(logit, top)
        top = np.where(np.isfinite(top), top, 0.0)
        powers = self.exponential(logits, top).where(self.seen)
        total = powers.sum(-1, self.shape[3], keepdims=True)
        total = total if sink is None else total + sink
        sees = total.value > 0
        total = total.where(sees)
        self.weights = (powers / total).rounded(1)
        self.sink_weights = None if sink is None else (sink / total).rounded(1)
        filled = Rounded(np.where(sees, total.value, 1.0), self.arithmetic, total.error)
        sums = (filled.log() + top).each(lambda x: x[..., 0])
        self.log_sum_exp = Rounded(np.where(sees[..., 0], sums.value, 0.0), self.arithmetic, np.where(sees[..., 0], sums.error, 0.0))
        self.sees = sees[..., 0]

    def output(self, v: Any) -> Rounded:
        out = self.weights.dot(self.to_heads(self.exact(v)), more=3 * math.ceil(self.shape[3] / BLOCK))
        return stored(out, self.dtype)
