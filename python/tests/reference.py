"""Attention in NumPy and float64, from the definition: slow and obvious."""

import numpy as np


def visible(q_len, k_len, causal, window, offset=None):
    """Which keys each query sees, [q_len, k_len], and the distances key - query."""
    shift = offset if offset is not None else k_len - q_len if causal == "bottom_right" else 0
    distance = np.arange(k_len)[None, :] - np.arange(q_len)[:, None] - shift
    seen = np.ones((q_len, k_len), bool)
    if causal in ("top_left", "bottom_right"):
        seen &= distance <= 0
    if window is not None:
        left, right = window
        seen &= (left < 0) | (-distance <= left)
        seen &= (right < 0) | (distance <= right)
    return seen, distance


def scores(q, k, *, causal=None, window=None, mask=None, bias=None, slopes=None, scale=None, softcap=0.0, key_lengths=None):
    """[batch, heads, q_len, k_len], -inf where hidden."""
    q, k = np.asarray(q, np.float64), np.asarray(k, np.float64)
    group = q.shape[1] // k.shape[1]
    k = np.repeat(k, group, axis=1)
    s = q @ k.swapaxes(2, 3) * (q.shape[3] ** -0.5 if scale is None else scale)
    if softcap > 0:
        s = softcap * np.tanh(s / softcap)
    seen, distance = visible(q.shape[2], k.shape[2], causal, window)
    if bias is not None:
        bias = np.asarray(bias, np.float64)
        origin = bias.shape[1] // 2
        columns = np.where(seen, distance + origin, 0)
        s = s + bias[:, columns]
    if slopes is not None:
        s = s - np.asarray(slopes)[:, None, None] * np.abs(distance)
    s = np.where(seen, s, -np.inf)
    if mask is not None:
        mask = np.asarray(mask)
        s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask.astype(np.float64)
    if key_lengths is not None:
        there = np.arange(k.shape[2])[None, :] < np.asarray(key_lengths)[:, None]
        s = np.where(there[:, None, None, :], s, -np.inf)
    return s


def softmax(s, sinks=None):
    top = s.max(-1, keepdims=True, initial=-np.inf)
    if sinks is not None:
        sinks = np.asarray(sinks, np.float64)[None, :, None, None]
        top = np.maximum(top, sinks)
    top = np.where(np.isfinite(top), top, 0)
    e = np.exp(s - top)
    total = e.sum(-1, keepdims=True)
    if sinks is not None:
        total = total + np.exp(sinks - top)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


def attention(q, k, v, *, sinks=None, **options):
    p = softmax(scores(q, k, **options), sinks)
    return p @ np.repeat(np.asarray(v, np.float64), q.shape[1] // v.shape[1], axis=1)


def gradients(dout, q, k, v, *, sinks=None, **options):
    """dq, dk, dv, dmask-of-scores and dsinks, without softcap."""
    group = q.shape[1] // k.shape[1]
    p = softmax(scores(q, k, **options), sinks)
    dout = np.asarray(dout, np.float64)
    full_k = np.repeat(np.asarray(k, np.float64), group, 1)
    full_v = np.repeat(np.asarray(v, np.float64), group, 1)
    dp = dout @ full_v.swapaxes(2, 3)
    delta = (p * dp).sum(-1, keepdims=True)
    ds = p * (dp - delta)
    scale = options.get("scale") or q.shape[3] ** -0.5

    def grouped(x):
        return x.reshape(x.shape[0], k.shape[1], group, *x.shape[2:]).sum(2)

    dq = scale * ds @ full_k
    dk = grouped(scale * ds.swapaxes(2, 3) @ np.asarray(q, np.float64))
    dv = grouped(p.swapaxes(2, 3) @ dout)
    dsinks = None if sinks is None else (-(1 - p.sum(-1)) * delta[..., 0]).sum((0, 2))
    return dq, dk, dv, ds, dsinks
