"""What `make bench-peers PEERS='--what models'` measures: whole models from folders, by us, transformers, llama.cpp and ONNX Runtime.

The models have random weights and the sizes of published ones: a Llama of 52 M parameters, and the encoder of all-MiniLM-L6-v2. All read the
same folder; llama.cpp reads a GGUF file with the same numbers. Cases are as in python_cases.py. Results are token ids, or the last hidden states.
"""

from __future__ import annotations

import json
import pathlib
import warnings

import gguf
import numpy
import onnxruntime
import torch
import transformers
import xllamacpp

import sextant

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
WORDS, CONTEXT = 16384, 1024
LLAMA = dict(hidden_size=576, num_hidden_layers=12, num_attention_heads=9, num_key_value_heads=3, intermediate_size=1536, vocab_size=WORDS,
             max_position_embeddings=CONTEXT, tie_word_embeddings=True, bos_token_id=None, eos_token_id=None, pad_token_id=None)
MINILM = dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, vocab_size=30522)
VERSIONS = {"sextant": sextant.__version__, "torch": torch.__version__, "transformers": transformers.__version__,
            "xllamacpp": xllamacpp.__version__, "onnxruntime": onnxruntime.__version__}
THREADS = {"count": 1}


def use_threads(count):
    THREADS["count"] = count
    torch.set_num_threads(count)


def ids_of(length, words=WORDS):
    return numpy.random.RandomState(length).randint(300, words, length)


def text_of(ids):
    """What tokenizer.json of make_llama() reads as these ids."""
    return " ".join(f"w{n}" for n in ids)


def make_llama(folder):
    """A folder as transformers writes it, whose tokens are words w0, w1, ..., and llama.gguf in float32 and bfloat16."""
    torch.manual_seed(1)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA))
    with torch.no_grad():  # so that the logits differ by more than the roundings
        for weight in model.parameters():
            weight.mul_(2 if weight.ndim > 1 else 1)
    model.save_pretrained(folder)
    tokens = {f"w{n}": n for n in range(WORDS)}
    tokenizer = {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None,
                 "decoder": None, "model": {"type": "WordLevel", "vocab": tokens, "unk_token": "w0"}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    for name in ("float32", "bfloat16"):
        write_gguf(folder / f"{name}.gguf", model, name)


def write_gguf(path, model, dtype):
    """llama.cpp rotates neighbouring channels: rows of q and k change places."""
    c, kind = model.config, gguf.GGMLQuantizationType
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(c.hidden_size)
    writer.add_block_count(c.num_hidden_layers)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([f"w{n}" for n in range(WORDS)])
    writer.add_token_scores([0.0] * WORDS)
    writer.add_token_types([gguf.TokenType.NORMAL] * WORDS)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    names = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
             "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
    for name, weight in model.model.state_dict().items():
        array = weight.detach().numpy()
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            heads = c.num_attention_heads if "q_proj" in name else c.num_key_value_heads
            array = array.reshape(heads, 2, -1, c.hidden_size).swapaxes(1, 2).reshape(array.shape)
        name = {"embed_tokens.weight": "token_embd.weight", "norm.weight": "output_norm.weight"}.get(name, name)
        if name.startswith("layers."):
            _, layer, member = name.split(".", 2)
            name = f"blk.{layer}.{names[member.removesuffix('.weight')]}.weight"
        if dtype == "bfloat16" and array.ndim == 2:
            array = gguf.quants.quantize(numpy.ascontiguousarray(array), kind.BF16)
            writer.add_tensor(name, array, raw_dtype=kind.BF16)
        else:
            writer.add_tensor(name, numpy.ascontiguousarray(array, numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Generation:
    """A prompt and tokens after it, the most probable each: prefill where it is one token, decoding where they are many."""

    tolerance = 0  # ids

    def __init__(self, folder, prompt, tokens, dtype="float32"):
        what = f"prefill of {prompt}" if tokens == 1 else f"{tokens} tokens after {prompt}"
        self.name = f"Llama of 52 M, {dtype}, {what}"
        self.folder, self.prompt, self.tokens, self.dtype = folder, ids_of(prompt), tokens, dtype

    def contenders(self, threads):
        found = {"sextant": self.ours, "llama.cpp": lambda: self.llama(threads)}
        for attention in ("eager", "sdpa"):
            found[f"transformers {attention}"] = lambda attention=attention: self.transformers(attention)
        return found

    def ours(self):
        model, text = sextant.load(self.folder, dtype=self.dtype), text_of(self.prompt)

        def run():
            return model.generate(text, max_tokens=self.tokens, temperature=0.0, threads=THREADS["count"])

        return run, lambda: [int(word[1:]) for word in run().split()]

    def transformers(self, attention):
        model = transformers.AutoModelForCausalLM.from_pretrained(self.folder, dtype=getattr(torch, self.dtype), attn_implementation=attention)
        ids = torch.from_numpy(self.prompt)[None]
        more = dict(attention_mask=torch.ones_like(ids), do_sample=False, min_new_tokens=self.tokens, max_new_tokens=self.tokens)

        def run():
            with torch.inference_mode():
                return model.generate(ids, **more)

        return run, lambda: run()[0, len(self.prompt):]

    def llama(self, threads):
        options = xllamacpp.CommonParams()
        options.model.path = str(self.folder / f"{self.dtype}.gguf")
        options.n_ctx, options.n_parallel, options.warmup, options.n_batch, options.n_ubatch = CONTEXT, 1, False, 512, 512
        options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
        options.verbosity = -1
        server = xllamacpp.Server(options)
        asked = {"prompt": self.prompt.tolist(), "n_predict": self.tokens, "temperature": 0, "ignore_eos": True, "cache_prompt": False,
                 "samplers": ["top_k"], "top_k": 1}

        def run():
            return server.handle_completions(asked)

        return run, lambda: [int(word) for word in run()["choices"][0]["text"].split("w")[1:]]


class Encoding:
    """The last hidden states of a sequence in an encoder."""

    tolerance = 1e-4

    def __init__(self, folder, length):
        self.name = f"encoder of MiniLM, {length} tokens"
        self.folder, self.ids = folder, ids_of(length, MINILM["vocab_size"])

    def contenders(self, threads):
        found = {"sextant": self.ours, "ONNX Runtime": lambda: self.session(threads)}
        for attention in ("eager", "sdpa"):
            found[f"transformers {attention}"] = lambda attention=attention: self.transformers(attention)
        return found

    def ours(self):
        model = sextant.load_pretrained(self.folder)
        run = lambda: model.hidden_states(self.ids, threads=THREADS["count"])  # noqa: E731
        return run, lambda: run()[-1]

    def model(self, attention):
        return transformers.BertModel.from_pretrained(self.folder, attn_implementation=attention, add_pooling_layer=False).eval()

    def transformers(self, attention):
        model, ids = self.model(attention), torch.from_numpy(self.ids)[None]

        def run():
            with torch.inference_mode():
                return model(ids).last_hidden_state[0]

        return run, run

    def session(self, threads):
        path = self.folder / f"{len(self.ids)}.onnx"
        model, ids = self.model("sdpa"), torch.from_numpy(self.ids)[None]
        torch.onnx.export(model, (ids,), path, input_names=["ids"], output_names=["states"], dynamo=True, verbose=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        run = lambda: session.run(["states"], {"ids": self.ids[None]})[0][0]  # noqa: E731
        return run, run


def cases(quick, out):
    """Makes the models in a folder of the results."""
    llama, bert = pathlib.Path(out) / "models" / "llama", pathlib.Path(out) / "models" / "bert"
    if not (llama / "bfloat16.gguf").exists():
        make_llama(llama)
    if not (bert / "config.json").exists():
        torch.manual_seed(2)
        transformers.BertForMaskedLM(transformers.BertConfig(**MINILM)).save_pretrained(bert)
    found = [Generation(llama, 16, 4)] if quick else [Generation(llama, prompt, tokens, dtype) for dtype in ("float32", "bfloat16") for prompt, tokens in ((512, 1), (32, 64))]
    return found + [Encoding(bert, length) for length in ((16,) if quick else (128, 512))]
