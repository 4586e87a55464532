"""Calls of the module with arguments that do not fit: `hostile_calls.py --seed 0 --first 0 --count 5000` makes them in this process,
one after another. A call is a line of Python that depends on the seed and its number alone, so --count 1 repeats one.

A call passes when it returns, asks for more memory than there is, or raises a ValueError or a TypeError that begins with the argument's
name in brackets or is what Python itself says of a signature. Each call's number is printed before it is made, and what fails after it.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import re
import resource
import sys
import tempfile
import threading
from typing import Any

from hostile_values import ARRAYS, BASES, NAMESPACE, VALUES, Arguments, Deliberate

LIMIT = 60  # seconds for a call that takes milliseconds, on a machine that does other work too
MEMORY = 4 << 30  # bytes beyond what the process has at first
NAMED = re.compile(r"\[[^\]]+\] |\w+(\.\w+)*\(\)(: incompatible function arguments| got| missing| takes)|'[\w.]+' is an invalid keyword")


def arguments_text(given: Arguments) -> str:
    return ", ".join(text if name.startswith("_") else f"{name}={text}" for name, text in given.items())


def call_text(seed: int, number: int) -> str:
    """The call of that number: one that fits, with some of its arguments exchanged, left out or added."""
    rng = random.Random(f"{seed} {number}")
    base = rng.choice(rng.choice(BASES))
    given = {name: text(rng) if callable(text) else text for name, text in base.given.items()}
    for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])):
        change = rng.random()
        if change < 0.1 and given:
            del given[rng.choice(list(given))]
        elif change < 0.4 and base.more:
            name = rng.choice(list(base.more))
            given[name] = rng.choice(base.more[name])
        elif change < 0.6 and len(given) > 1:
            one, other = rng.sample(list(given), 2)
            given[one] = given[other]
        elif given:
            name = rng.choice([*given, *base.more])
            given[name] = rng.choice(ARRAYS if rng.random() < 0.4 else VALUES)
    positional = {name: text for name, text in given.items() if name.startswith("_")}
    named = {name: text for name, text in given.items() if name not in positional}
    return base.text.replace("...", arguments_text({**positional, **named}))


def outcome(text: str) -> str:
    """"" where it passes."""
    try:
        exec(text, dict(NAMESPACE))  # noqa: S102: a line of our own
    except (Deliberate, MemoryError):
        return ""  # what an argument's own code raised, or a result of terabytes
    except (ValueError, TypeError) as error:
        return "" if NAMED.match(str(error)) else f"{type(error).__name__} without a name: {str(error)[:300]!r}"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:300]!r}"
    return ""


def disturb() -> None:
    """Uses what the calls use, on another thread."""
    ids, cache, k = NAMESPACE["IDS"], NAMESPACE["CACHE"], NAMESPACE["K"]
    while True:
        for value in (2**52, -(2**52), 3):
            ids[...] = value
        cache.append(k, k)
        cache.select([1, 0])
        cache.clear()
        threading.Event().wait(0.0005)


def run(seed: int, first: int, count: int, text: str | None) -> None:
    os.chdir(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
    with open("/proc/self/statm") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    threading.Thread(target=disturb, daemon=True).start()
    for number in range(first, first + count):
        print(number, flush=True)
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        line = call_text(seed, number) if text is None else text
        problem = outcome(line)
        if problem:
            print(f"{number}\t{problem}\t{line}", flush=True)
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    for name in ("seed", "first", "count"):
        options.add_argument(f"--{name}", type=int, default=int(name == "count"))
    options.add_argument("--show", action="store_true", help="print the calls and make none")
    options.add_argument("--text", help="this call instead")
    chosen = options.parse_args()
    faulthandler.enable()
    if chosen.show:
        print("\n".join(call_text(chosen.seed, number) for number in range(chosen.first, chosen.first + chosen.count)))
        sys.exit()
    run(chosen.seed, chosen.first, chosen.count, chosen.text)
