"""Lists the options of the operator once, for every function of the package that takes them. generate.py writes them into the
signatures, help texts and calls of the files below."""

from __future__ import annotations

import re
import textwrap

# Name, type, default, meaning.
OPTIONS = [
    ("causal", "Causal | None", "None",
     'visible keys of a query: None, False or "none" (all), "top_left" (key j <= i), "bottom_right" (the last query sees every key), '
     '"at_offsets" (by query_offsets), "at_lengths" (by key_lengths); True if q_len equals k_len, where they agree'),
    ("window", "tuple[int, int] | None", "None", "(left, right): number of visible keys before and after the diagonal; -1: all"),
    ("mask", "Array | None", "None",
     "bool (True, or any byte but 0, takes part) or float (added; -inf hides), broadcast to [batch, heads, q_len, k_len], any strides"),
    ("bias", "Bias | None", "None",
     "by distance, [heads or 1, 2 * length - 1] (column length - 1 is distance 0), or the object returned by a scheme: DistanceBias, "
     "ScoreTerm, or a list of them, at most one by distance and one before the softcap; made for the heads of q and for all tokens"),
    ("slopes", "Numbers | None", "None", "[heads]: adds -slope * |distance|"),
    ("scale", "float | None", "None", "factor of the scores, within +-1e38; None: 1 / sqrt(head_dim), or the factor of the term"),
    ("softcap", "float", "0.0", "score -> softcap * tanh(score / softcap), before biases and masks, 1e-30 .. 1e30; 0: off"),
    ("dropout", "float", "0.0",
     "probability that a weight is dropped (training), 0 .. 1, less than 1; the others are divided by 1 - dropout; not in log_sum_exp"),
    ("dropout_seed", "int", "0",
     "seed that selects the dropped weights: the same for backward, another one for the next step"),
    ("matmul_precision", "MatmulPrecision", '"float32"',
     'to what the factors of the two products may be rounded: "bfloat16" where the processor multiplies those faster, for inference; '
     "the plan says whether it does"),
    ("segments", "Integers | None", "None", "packed sequences: the start of each, then the length (cu_seqlens)"),
    ("key_segments", "Integers | None", "None", "the same for keys"),
    ("key_lengths", "Integers | None", "None", "[batch]: keys from this index on are padding"),
    ("query_offsets", "Integers | None", "None", "[batch]: the key on the diagonal of each sequence's query 0"),
    ("positions", "Array | tuple[Array, Array] | None", "None",
     "ids [length] or [batch or 1, length] of queries and keys, or a tuple of the two"),
    ("sinks", "Numbers | None", "None", "[heads]: attention sinks, an additional logit per head in the softmax, without a value"),
    ("rotation", "RotationTable | None", "None", "a RotationTable of float32 that rotates queries and keys inside the call"),
    ("layout", "HeadLayout", '"bhld"',
     'order of the axes of q, k, v, out and their gradients: "bhld" is [batch, heads, length, channels], "blhd" [batch, length, heads, '
     "channels]; masks, weights and log_sum_exp keep theirs"),
    ("threads", "int", "0", "number of threads; 0: all cores; results do not depend on it"),
]
# The files, and the options that have another name there.
FILES: dict[str, tuple[str, ...]] = {
    "_attention.py": (), "_kv_cache.py": (), "torch/_attention.py": ("mask", "scale", "dropout", "dropout_seed", "matmul_precision", "layout"),
}  # fmt: skip

SIGNATURE = re.compile(r"^( *)# The operator's options, by generate\.py:\n.*?(?=^ *\) -> )", re.M | re.S)
HELP = re.compile(r"^( *)Options, which may all be combined:\n.*?(?=^$)", re.M | re.S)
GIVEN = re.compile(r"^( *)options = dict\(  # by generate\.py\n.*?^ *\)$", re.M | re.S)


def filled(text: str, indent: str, more: str = "") -> str:
    return textwrap.fill(text, 120, initial_indent=indent, subsequent_indent=indent + more, break_on_hyphens=False) + "\n"


def with_options(text: str, without: tuple[str, ...]) -> str:
    """A file's text with the options as they are now."""
    options = [option for option in OPTIONS if option[0] not in without]
    signature = "".join(f"{{0}}{name}: {kind} = {default},\n" for name, kind, default, _ in options) + "{0}**unknown: NoReturn,\n"
    text = SIGNATURE.sub(lambda m: f"{m[1]}# The operator's options, by generate.py:\n" + signature.replace("{0}", m[1]), text)
    text = HELP.sub(lambda m: f"{m[1]}Options, which may all be combined:\n"
                    + "".join(filled(f"{name}: {meaning}", m[1] + "    ", "    ") for name, _, _, meaning in options), text)
    given = ", ".join(f"{name}={name}" for name, *_ in options) + ","
    return GIVEN.sub(lambda m: f"{m[1]}options = dict(  # by generate.py\n{filled(given, m[1] + '    ')}{m[1]})", text)
