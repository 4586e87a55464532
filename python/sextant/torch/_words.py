"""Errors of the operator in the words of torch's function."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import Iterator

from .._errors import Error

NAME = "scaled_dot_product_attention"
# What the operator calls them, for its errors.
NAMES = {"q": "query", "k": "key", "v": "value", "mask": "attn_mask", "dropout": "dropout_p"}


def renamed(error: Error) -> Error:
    text = re.sub(r"\[attention\.(\w+)", lambda m: f"[{NAME}.{NAMES.get(m[1], m[1])}", str(error))
    return type(error)(text.replace("attention()", f"{NAME}()", 1))


@contextmanager
def in_words_of_torch() -> Iterator[None]:
    try:
        yield
    except Error as error:
        raise renamed(error) from None
