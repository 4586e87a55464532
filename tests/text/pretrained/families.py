"""Small tokenizers of the families of published models, trained with the library `tokenizers` on
the documents of this repository: the same normalizers, pre-tokenizers, regular expressions,
post-processors and decoders as the models have, and vocabularies of a few hundred tokens."""
import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers, processors, trainers

ROOT = pathlib.Path(__file__).resolve().parents[3]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
         r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
WORDS = ("naïve café Zürich straße ΣΊΣΥΦΟΣ Москва İstanbul 漢字 かな 한국어 שלום مرحبا हिन्दी "
         "don't we'll I'm you've 1234567 3.14 ½ Ⅷ ﬁ ſ e\u0301 😀 👩‍👩‍👧 🇫🇷\n\n\n    \t\t\r\n")


def texts():
    return [(ROOT / "docs" / name).read_text() for name in ("attention.md", "tables.md")] + [WORDS] * 20


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(texts(), trainer)
    return tokenizer


def bert():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    train(t, trainers.WordPieceTrainer(vocab_size=500, show_progress=False, limit_alphabet=150,
                                       special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.add_tokens([AddedToken("Sextant", single_word=True), AddedToken("Re-Do", normalized=True)])
    t.add_special_tokens([AddedToken("[X]", lstrip=True, rstrip=True)])
    t.decoder = decoders.WordPiece()
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", t.token_to_id("[CLS]")), ("[SEP]", t.token_to_id("[SEP]"))])
    return t


def bert_cased():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=False)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    train(t, trainers.WordPieceTrainer(vocab_size=500, show_progress=False, limit_alphabet=150,
                                       special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.decoder = decoders.WordPiece(cleanup=False)
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def byte_level(normalizer, pre_tokenizer, post_processor, special, **settings):
    t = Tokenizer(models.BPE(**settings))
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizer
    train(t, trainers.BpeTrainer(vocab_size=700, show_progress=False,
                                 initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                 special_tokens=[]))
    t.add_special_tokens(special)
    t.decoder = decoders.ByteLevel()
    t.post_processor = post_processor(t)
    return t


def gpt2():
    return byte_level(None, pre_tokenizers.ByteLevel(add_prefix_space=False),
                      lambda t: processors.ByteLevel(trim_offsets=False), ["<|endoftext|>"])


def roberta():
    return byte_level(None, pre_tokenizers.ByteLevel(add_prefix_space=True),
                      lambda t: processors.RobertaProcessing(
                          ("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>"))),
                      ["<s>", "</s>", AddedToken("<mask>", lstrip=True, special=True)])


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def llama3():
    return byte_level(None, split(LLAMA3),
                      lambda t: processors.Sequence([
                          processors.ByteLevel(trim_offsets=True),
                          processors.TemplateProcessing(
                              single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A $B",
                              special_tokens=[("<|begin_of_text|>", t.token_to_id("<|begin_of_text|>"))])]),
                      ["<|begin_of_text|>", "<|end_of_text|>"], ignore_merges=True)


def qwen2():
    return byte_level(normalizers.NFC(), split(QWEN2), lambda t: processors.ByteLevel(trim_offsets=False),
                      ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])


def llama2():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    train(t, trainers.BpeTrainer(vocab_size=800, show_progress=False, limit_alphabet=120, max_token_length=12,
                                 special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]))
    data = json.loads(t.to_str())  # the bytes are no added tokens
    data["added_tokens"] = data["added_tokens"][:3]
    t = Tokenizer.from_str(json.dumps(data))
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return t


def t5():
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    train(t, trainers.UnigramTrainer(vocab_size=400, show_progress=False, unk_token="<unk>",
                                     special_tokens=["<pad>", "</s>", "<unk>"]))
    t.decoder = decoders.Metaspace(prepend_scheme="always")
    t.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return t


def double_array(rules):
    """The normalisation table of SentencePiece for {text: replacement}: a trie of the bytes as a Darts-clone array."""
    texts, places = b"", {}
    for new in rules.values():
        if new not in places:
            places[new] = len(texts)
            texts += new.encode() + b"\0"
    trie = {}
    for old, new in rules.items():
        node = trie
        for byte in old.encode():
            node = node.setdefault(byte, {})
        node[0] = places[new]
    units, bases, todo = {0: 0}, set(), [(0, trie)]
    while todo:
        at, node = todo.pop()
        base = next(b for b in range(1, 1 << 20) if b not in bases and all(b ^ c not in units for c in node))
        bases.add(base)
        units[at] |= (at ^ base) << 10 | (0 in node) << 8
        for byte, child in node.items():
            units[base ^ byte] = 1 << 31 | child if byte == 0 else byte
        todo += [(base ^ byte, child) for byte, child in node.items() if byte != 0]
    size = (max(units) | 255) + 1
    return (4 * size).to_bytes(4, "little") + b"".join(units.get(i, 1 << 31).to_bytes(4, "little") for i in range(size)) + texts


def xlmr():
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([
        normalizers.Precompiled(double_array({"ﬁ": "fi", "㎏": "kg", "é": "e", "e\u0301": "e", "ſ": "s", "\n": " ", "\t": " ", "ẞ": "ss",
                                              "\u200b": "", "\u00ad": "", "😀": ":-)", "한": "\u1112\u1161\u11ab", "字": "漢"})),
        normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")])
    train(t, trainers.UnigramTrainer(vocab_size=400, show_progress=False, unk_token="<unk>", special_tokens=["<s>", "</s>", "<unk>"]))
    t.decoder = decoders.Metaspace(prepend_scheme="first")
    t.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), trim_offsets=False)
    return t


def steps():
    """What no family above has: other normalizers, splittings and behaviors."""
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFKD(), normalizers.StripAccents(),
                                         normalizers.Lowercase(), normalizers.Replace(Regex(r"\b(the|a)\b"), "X")])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Punctuation("merged_with_previous"),
        pre_tokenizers.Split("q", "merged_with_next"), pre_tokenizers.Split(Regex(r"z+$|^y."), "contiguous", invert=True)])
    train(t, trainers.BpeTrainer(vocab_size=500, show_progress=False, limit_alphabet=100, end_of_word_suffix="</w>",
                                 special_tokens=["<unk>"]))
    t.decoder = decoders.BPEDecoder()
    return t


ALL = {f.__name__: f for f in (bert, bert_cased, gpt2, roberta, llama3, qwen2, llama2, t5, xlmr, steps)}
