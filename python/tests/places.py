"""Alignments, windows, lengths, segments and ids, by docs/attention.md."""

from __future__ import annotations

import numpy as np


class Places:
    """Who sees whom [batch, q_len, k_len], and how far they are apart."""

    def __init__(
        self,
        batch,
        q_len,
        k_len,
        *,
        causal=None,
        window=None,
        key_lengths=None,
        query_offsets=None,
        segments=None,
        key_segments=None,
        positions=None,
    ):
        q_begins = np.array([0, q_len] if segments is None else segments)
        k_begins = np.array(q_begins if key_segments is None else key_segments)
        if segments is None:
            k_begins = np.array([0, k_len])
        q_part = np.searchsorted(q_begins, np.arange(q_len), "right") - 1
        k_part = np.searchsorted(k_begins, np.arange(k_len), "right") - 1
        shift = np.zeros((batch, q_len), int)
        if causal == "bottom_right":
            shift += (np.diff(k_begins) - np.diff(q_begins))[q_part]
        elif causal == "at_lengths":
            shift += np.asarray(key_lengths)[:, None] - q_len
        elif query_offsets is not None:
            shift += np.asarray(query_offsets)[:, None]
        key = np.arange(k_len) - k_begins[k_part]
        diagonal = np.arange(q_len) - q_begins[q_part] + shift
        ahead = key[None, None, :] - diagonal[:, :, None]
        self.seen = np.broadcast_to(q_part[:, None] == k_part[None, :], ahead.shape).copy()
        self.paired = self.seen.copy()  # of one segment: these pairs have scores
        if causal not in (None, "none"):
            self.seen &= ahead <= 0
        left, right = (-1, -1) if window is None else window
        self.seen &= ((left < 0) | (-ahead <= left)) & ((right < 0) | (ahead <= right))
        if key_lengths is not None:
            self.seen &= np.arange(k_len)[None, None, :] < np.asarray(key_lengths)[:, None, None]
        q_ids, k_ids = (diagonal, key) if positions is None else positions
        self.q_ids = np.broadcast_to(q_ids, (batch, q_len))
        self.k_ids = np.broadcast_to(k_ids, (batch, k_len))
        self.distance = self.k_ids[:, None, :] - self.q_ids[:, :, None]
