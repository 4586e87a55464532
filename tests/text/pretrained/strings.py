"""Random and hostile strings: words, scripts, marks, emoji, spaces, digits, added tokens."""
import random

ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCXYZİẞΣſß", "0123456789½Ⅷ٣²", " ", "   ", "\n", "\r\n", "\t", "\u00a0\u2003\u3000\u0085\u2028",
    ".,;:!?'\"()[]{}<>|/\\_-+*&^%$#@~`", "éèüñçåøœæÅ", "e\u0301o\u0308\u0323a\u0323\u0302\u0327n\u0303\u0345", "漢字仮名カナ한국어각ㄱ\u1100\u1161\u11a8",
    "שלוםمرحباहिन्दीไทยકક્", "😀👩\u200d👧🇫🇷✌🏽\ufe0f❤", "\u0001\u0007\u007f\u0080\u200b\u200d\u200e\u00ad\ufeff\ufffd", "ﬁ㎏①ﷺ\u212b\u1e9b\u0323",
    "\U00010400\U0001d400\U000e0001\U0010ffff\ue000\uffff", "'s 't 're 've 'm 'll 'd 'S 'LL 'ſ", "\u0300\u0301\u3099\u0f71\u0f72\u0f80",
]
WORDS = ["the", "attention", "Sextant", "sextant", "Re-Do", "re-do", "[MASK]", "[CLS]", "[X]", " [X] ", "<|endoftext|>", "<|im_start|>",
         "<s>", "</s>", "<mask>", " <mask>", "<unk>", "<|begin_of_text|>", "don't", "we'll", "I'M", "it's", "position", "unaffable",
         "http://x.y/z?q=1", "1234567", "3.14159", "q", "zzz", "y", "▁", "Ġ", "▁the", "<0x0A>", "a" * 120]


def one(rng):
    parts = []
    for _ in range(rng.randrange(0, 9)):
        if rng.random() < 0.35:
            parts.append(rng.choice(WORDS))
        elif rng.random() < 0.03:
            c = rng.randrange(1, 0x110000)
            if not 0xd800 <= c <= 0xdfff:
                parts.append(chr(c))
        else:
            alphabet = rng.choice(ALPHABETS)
            parts.append("".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 8))))
        if rng.random() < 0.5:
            parts.append(" ")
    return "".join(parts)


def strings(seed, count):
    rng = random.Random(seed)
    return [one(rng) for _ in range(count)]
