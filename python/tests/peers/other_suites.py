"""ONNX's node cases as its package makes them; x-transformers, rotary-embedding-torch and jax on grids of their options."""

from functools import partial
from itertools import product
from unittest import SkipTest, mock

import numpy as np

import sextant

NEAR = {"rtol": 2e-5, "atol": 2e-5}  # of float32: sums of fewer than 64 products of about 1


def of_onnx():
    import onnx
    import test_onnx
    from onnx.backend.test.case.node import collect_testcases

    class Case(test_onnx.Case):
        def __init__(self, made, places):
            node, (inputs, outputs) = made.model.graph.node[0], map(iter, made.data_sets[0])
            attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
            # ONNX's reference rounds every step to bfloat16: two units of its last place.
            rtol = max(made.rtol, 2**-6 if "bf16" in made.name else 0)
            self.about = {"attributes": attributes, "tolerance": {"rtol": rtol, "atol": made.atol}}
            self.about["inputs"] = [next(inputs) if name else None for name in [*node.input, *[""] * 7][:places]]
            self.about["outputs"] = [next(outputs) if name else None for name in [*node.output, *[""] * 4]]

        def array(self, entry):
            return entry

    for op, (function, places) in {"Attention": (test_onnx.attention, 7), "RotaryEmbedding": (test_onnx.rotary, 4)}.items():
        for made in collect_testcases(op):
            if [node.op_type for node in made.model.graph.node] == [op]:  # others are the same cases by single operators
                yield made.name, lambda made=made, function=function, places=places: function(Case(made, places))


def of_x_transformers():
    import torch
    import torch.nn.functional as F
    import x_transformers

    from sextant.torch import scaled_dot_product_attention

    def compare(kind, option, lengths):
        torch.manual_seed(0)
        seen = torch.arange(9) < torch.tensor(lengths)[:, None]
        make, x = partial(kind, dim=32, depth=2, heads=4, attn_dim_head=16, **option), torch.randn(2, 9, 32)
        try:
            flash, plain = make(attn_flash=True).eval(), make().eval()
        except (AssertionError, NotImplementedError):
            raise SkipTest("an option that x-transformers has without scaled_dot_product_attention") from None
        flash.load_state_dict(plain.state_dict())
        ours = mock.Mock(wraps=scaled_dot_product_attention)
        with torch.no_grad(), mock.patch.object(F, "scaled_dot_product_attention", ours):
            got = flash(x, mask=seen)[seen]
        assert ours.called
        torch.testing.assert_close(got, plain(x, mask=seen)[seen], **NEAR)

    positions = ("rotary_pos_emb", "alibi_pos_bias", "rel_pos_bias", "dynamic_pos_bias")
    switches = (*positions, *(f"attn_{name}" for name in ("one_kv_head", "qk_norm", "add_zero_kv", "head_scale")))
    options = [{}, {"attn_kv_heads": 2}, {"attn_num_mem_kv": 3}, {"attn_value_dim_head": 12}, *({switch: True} for switch in switches)]
    for kind, option, lengths in product((x_transformers.Encoder, x_transformers.Decoder), options, ((9, 9), (6, 9))):
        yield f"{kind.__name__}, {option}, lengths {lengths}", partial(compare, kind, option, lengths)


def of_rotary_embedding():
    import torch
    from rotary_embedding_torch import RotaryEmbedding

    def compare(dim, theta, factor, offset):
        x = torch.randn(2, 3, 11, 32)
        wanted = RotaryEmbedding(dim, theta=theta, interpolate_factor=factor).rotate_queries_or_keys(x, offset=offset).detach()
        table = sextant.rotary_linear(np.arange(offset, offset + 11), 32, factor=factor, base=theta, rotary_dim=dim, layout="interleaved")
        torch.testing.assert_close(sextant.rotate(x, table), wanted, **NEAR)

    for options in product((16, 32), (1e4, 5e5), (1.0, 4.0), (0, 5)):
        yield f"dim, theta, interpolate_factor, offset {options}", partial(compare, *options)


def of_jax():
    import jax

    def compare(heads, causal, window, scale, bias, mask, lengths):
        make = np.random.default_rng(0).standard_normal
        q, k, v = (jax.numpy.asarray(make((2, 9, count, 8)), np.float32) for count in (4, heads, heads))
        bias, mask = make((1, 4, 9, 9)).astype(np.float32) if bias else None, (make((2, 1, 9, 9)) > -0.5) | np.eye(9, dtype=bool) if mask else None
        options = {"scale": scale, "is_causal": causal, "local_window_size": window, "key_value_seq_lengths": lengths}
        wanted = jax.nn.dot_product_attention(q, k, v, bias, mask, **options, implementation="xla")
        both = bias if mask is None else np.where(mask, 0 if bias is None else bias, -np.inf).astype(np.float32)
        options = {"causal": "top_left" if causal else "none", "window": window, "scale": scale, "mask": both, "key_lengths": lengths}
        got = sextant.attention(*(each.swapaxes(1, 2) for each in (q, k, v)), **options)
        # jax gives a row that sees no key the mean of values; here it is zeros.
        i, j = np.arange(9)[:, None], np.arange(9)
        seen = np.ones((2, 1, 9, 9), bool) if mask is None else mask.copy()
        seen &= (j <= i if causal else True) & ((i - j <= window[0]) & (j - i <= window[1]) if window else True)
        seen &= (j < lengths[:, None])[:, None, None] if lengths is not None else True
        rows = np.broadcast_to(seen.any(3), (2, 4, 9))
        got, wanted = np.asarray(got), np.asarray(wanted).swapaxes(1, 2)
        np.testing.assert_allclose(got[rows], wanted[rows], **NEAR)
        assert not got[~rows].any()

    counts, no, yes = np.array([6, 9], np.int32), False, True
    for options in product((1, 2, 4), (no, yes), (None, (3, 1)), (None, 0.3), (no, yes), (no, yes), (None, counts)):
        yield f"key heads, is_causal, window, scale, bias, mask, lengths {options}", partial(compare, *options)


SUITES = {
    "onnx, node cases of Attention and RotaryEmbedding": ("onnx", of_onnx),
    "x-transformers, Encoder and Decoder": ("x_transformers", of_x_transformers),
    "rotary-embedding-torch, RotaryEmbedding": ("rotary_embedding_torch", of_rotary_embedding),
    "jax, dot_product_attention": ("jax", of_jax),
}
