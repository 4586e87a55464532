"""The sentences whose similarities are compared."""

from __future__ import annotations

from typing import Any

SENTENCES = [
    "A cat sits on the mat.",
    "A kitten is resting on a rug.",
    "The dog barked at the postman.",
    "A puppy growled when the mail arrived.",
    "The stock market fell today.",
    "Share prices dropped sharply this morning.",
    "The central bank raised interest rates.",
    "He plays the guitar.",
    "She is playing a song on her guitar.",
    "The orchestra rehearsed a symphony.",
    "Water boils at one hundred degrees.",
    "Ice melts when it gets warm.",
    "The train to Berlin leaves at noon.",
    "Our flight was delayed by three hours.",
    "Bake the bread until the crust is brown.",
    "Add two eggs and a cup of flour.",
    "Attention is computed from queries and keys.",
    "Positions tell a transformer the order of its tokens.",
    "naïve café, 你好, Ünïcödé!",
    "word " * 300,
]


def rounded(values: Any) -> Any:
    """Nested lists of numbers with eight digits after the point."""
    values = values.tolist() if hasattr(values, "tolist") else values
    return [rounded(each) for each in values] if isinstance(values, list) else round(values, 8)
