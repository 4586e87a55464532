"""The gradients of reference.Attention, by the chain rule, with bounds of what the operator may differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from reference import Attention, rotated
from rounding import Rounded, stored

LARGEST_LOG_SUM = 32.0


class Gradients:
    """dq, dk, dv, dmask, dbias, dslopes and dsinks of sum(dout * out); each is computed when asked for."""

    def __init__(self, call: Attention, dout: Any, v: Any) -> None:
        self.call, self.out_gradient = call, call.exact(dout)
        self.batch, self.heads, self.q_len, self.k_len = call.shape
        v = call.to_heads(call.exact(v))
        dp = self.out_gradient.dot(v.each(lambda x: x.swapaxes(2, 3)), more=3)
        weights = self.known_again(call.weights)
        out = stored(call.weights.dot(v, more=3 * math.ceil(self.k_len / 64)), call.dtype)
        delta = (out * self.out_gradient).rounded(3).sum(-1, out.value.shape[-1], keepdims=True)
        # float64 is computed as sum w dP.
        other = (weights * dp).sum(-1, self.k_len, keepdims=True)
        self.delta = Rounded(delta.value, delta.arithmetic, np.maximum(delta.error, other.error))
        self.weights = weights
        self.dbiased = weights * (dp - self.delta)
        self.dscores = self.dbiased
        if call.softcap > 0:
            tanh = (call.capped * (1 / call.softcap)).rounded(1)
            self.dscores = self.dbiased - self.dbiased * (tanh * tanh)

    def known_again(self, weights: Rounded) -> Rounded:
        """Computed once more from the log-sum-exp of the forward pass."""
        log = np.minimum(np.abs(self.call.log_sum_exp.value), LARGEST_LOG_SUM)[..., None]
        more = self.call.arithmetic.gamma(1) * (log + 2)
        return Rounded(weights.value, weights.arithmetic, weights.error + np.expm1(more) * (weights.value + weights.error))

    def over_group(self, x: Rounded) -> Rounded:
        shape = (self.batch, self.heads // self.call.group, self.call.group, *x.value.shape[2:])
        return x.each(lambda y: y.reshape(shape)).sum(2, self.call.group)

    def back(self, x: Rounded, table: Any, rows: Any) -> Rounded:
        return x if self.call.rotation is None else rotated(x, table, rows, -1)

    @property
    def dq(self) -> Rounded:
        call = self.call
        dq = self.dscores.dot(call.k) * call.scale
        table = call.rotation
        return stored(self.back(dq.rounded(1), table, call.places.q_ids), call.dtype)

    @property
    def dk(self) -> Rounded:
        call, more = self.call, self.q_len * (self.call.group - 1) + 1
        dk = self.over_group(self.dscores.each(lambda x: x.swapaxes(2, 3)).dot(call.q, more)) * call.scale
        table = None if call.rotation is None else call.rotation.keys
        return stored(self.back(dk.rounded(1), table, call.places.k_ids), call.dtype)

    @property
    def dv(self) -> Rounded:
        more = self.q_len * (self.call.group - 1) + 2
        dv = self.weights.each(lambda x: x.swapaxes(2, 3)).dot(self.out_gradient, more)
        return stored(self.over_group(dv), self.call.dtype)

    @property
    def dmask(self) -> Rounded:
        shape = self.call.mask.shape
        missing = 4 - len(shape)
        axes = tuple(range(missing)) + tuple(missing + i for i, size in enumerate(shape) if size == 1)
        terms = math.prod(self.call.shape) // max(math.prod(shape), 1)
        return self.dbiased.where(self.call.seen).sum(axes, terms, keepdims=True).each(lambda x: x.reshape(shape))

    def by_distance(self, x: Any) -> Any:
        """[heads, distances]"""
        sums = np.zeros((self.heads, self.call.bias.shape[1]))
        for head in range(self.heads):
            np.add.at(sums[head], self.call.columns, np.where(self.call.seen, x, 0)[:, head])
        return sums if len(self.call.bias) > 1 else sums.sum(0, keepdims=True)

    @property
    def dbias(self) -> Rounded:
        value, error, size = (self.by_distance(x) for x in (self.dbiased.value, self.dbiased.error, np.abs(self.dbiased.value)))
        return self.dbiased.after(self.q_len + 1, value, error, size + error)

    @property
    def dslopes(self) -> Rounded:
        terms = self.dbiased.where(self.call.seen) * -np.abs(self.call.places.distance)[:, None].astype(float)
        return terms.sum((0, 2, 3), self.q_len + 2)

    @property
    def dsinks(self) -> Rounded:
        sinks = self.known_again(self.call.sink_weights)
        return -(sinks * self.delta).sum((0, 2, 3), self.batch * self.q_len)
