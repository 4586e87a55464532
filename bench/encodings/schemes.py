"""The schemes that are compared, and those that are left out and why.

A scheme of the program that is neither here nor among LEFT_OUT is an error, so that a new one is decided on.
"""

import math

import cases

# Schemes that models are trained with. A decoder looks back only, so T5's buckets are those of a decoder, and no token is a class token.
GROUPS = {
    "no positions": ["none"],
    "added": ["sinusoidal", "tape:length={trained}", "learned"],
    "rotated": ["rotary", "rotary_proportional", "xpos", "fope:train_length={trained}", "rotary+temperature:floor_scale={trained}"],
    "bias by distance, fixed": ["alibi", "retnet", "sandwich"],
    "bias by distance, learned": ["clipped", "dynamic_position_bias", "kerple_log", "kerple_power", "t5:bidirectional=no", "tisa"],
    "bias by query and key": ["fire", "tupe:separate_cls=no:position_width=48:position_dim=12"],
    "content": ["cope", "deberta", "relative_key", "shaw", "transformer_xl"],
}
TRAINED = [case for group in GROUPS.values() for case in group]
# Extensions of rotary take the place of the rotation in a model that was trained with it, as published models use them. `factor` is how
# many times longer than a training text the longest test is, `tested` the length of a test where the program must be told. LongRoPE finds
# its divisors by a search for each model; here pairs that turn fully within a training text keep theirs, and the others have the factor.
EXTENSIONS = [
    "rotary_linear:factor={factor}",
    "rotary_ntk:factor={factor}",
    "rotary_dynamic_ntk:factor=1:max_length={trained}:length={tested}",
    "rotary_yarn:factor={factor}:original_length={trained}",
    "rotary_llama3:base=10000:factor={factor}:original_length={trained}",
    "rotary_longrope:factor={factor}:original_length={trained}:long_factor={divisors}:length={tested}",
]
LEFT_OUT = {
    "alibi_2d": "positions of an image",
    "cape": "training does not draw its shifts anew in each step; without them it is sinusoidal",
    "chunk_mask": "a mask",
    "decomposed_2d": "positions of an image",
    "document_mask": "a mask",
    "forgetting": "its gates are computed from the tokens, by a layer that models here do not have",
    "fourier": "real coordinates instead of the numbers of tokens",
    "gated_bias": "its gates are computed from the tokens, by a layer that models here do not have",
    "prefix_mask": "a mask",
    "rotary_axial": "positions of an image",
    "rotary_mixed": "positions of an image",
    "rotary_sections": "the same as rotary for a text",
    "sincos_2d": "positions of an image",
    "sincos_3d": "positions of a video",
    "sink_window": "a mask",
    "swin": "positions of an image",
    "swin_v2": "positions of an image",
    "timestep": "the time of a diffusion model; for a text it is sinusoidal with the columns in another order",
    "window": "a mask",
}


def names_of(case):
    """The schemes of a case: two of "rotary+temperature:floor_scale=64"."""
    return [part.split(":")[0] for part in case.split("+")]


def label_of(case):
    return " + ".join(names_of(case))


def spec_of(case, trained, seeded, seed, tested="auto"):
    """The case for a model trained with `trained` tokens. `seeded`: the schemes with initial weights of their own, which differ by seed."""
    factor = 8 if trained == cases.LANGUAGE["train-length"] else 2
    pairs = cases.LANGUAGE["width"] // cases.LANGUAGE["heads"] // 2
    turns = [trained * 10000 ** (-pair / pairs) / (2 * math.pi) for pair in range(pairs)]  # of each pair over a training text
    divisors = ",".join(str(1 if each >= 1 else factor) for each in turns)
    spec = case.format(trained=trained, factor=factor, divisors=divisors, tested=tested)
    return f"{spec}:seed={seed}" if names_of(case)[-1] in seeded else spec


def undecided(registry):
    """Complaints about schemes of the program that are not decided on, and about names that it does not have."""
    used = {name for case in TRAINED + EXTENSIONS for name in names_of(case)}
    return (
        [f"{name} is neither compared nor left out" for name in sorted(set(registry) - used - set(LEFT_OUT))]
        + [f"{name} is not a scheme of the program" for name in sorted((used | set(LEFT_OUT)) - set(registry))]
        + [f"{name} is both compared and left out" for name in sorted(used & set(LEFT_OUT))]
    )
