"""What the rivals share: the same inputs, the same way to take time, one line of JSON per case.

A rival is a program that first writes {"peers": {name: version}} and then, for each line it reads,
{"case": {...}, "threads": [1, 2], "seconds": 1}, writes {"rows": [...], "skipped": [...]}. The fields of
a case are those of `attention --list-json`.
"""

import json
import os
import sys
import time

import numpy

SEED_Q, SEED_K, SEED_V, SEED_OUT_GRADIENT, SEED_BIAS = 1, 2, 3, 4, 5
SHORTEST = 1e-3  # seconds: what one reading of the clock covers at least


def uniform(shape, seed):
    """The very numbers that bench/attention/inputs.h makes."""
    values = 2 * numpy.random.RandomState(seed).random_sample(shape) - 1
    return values.astype(numpy.float32)


def arrays(case):
    """q, k and v as [1, heads, length, head_dim]."""
    shapes = [(case["heads"], case["queries"]), (case["kv_heads"], case["keys"]), (case["kv_heads"], case["keys"])]
    return [uniform((1, h, n, case["head_dim"]), seed) for (h, n), seed in zip(shapes, (SEED_Q, SEED_K, SEED_V))]


def slopes_of(heads):
    """ALiBi, Press et al. 2021, section 3."""
    return 2.0 ** (-8.0 * numpy.arange(1, heads + 1) / heads)


def score_bias(case, causal_too=True):
    """[heads, queries, keys] float32 to add to the scores, as a library without these biases needs it."""
    n, heads = case["queries"], case["heads"]
    if heads * n * n > 2**29:
        raise MemoryError(f"its bias tensor would take {heads * n * n * 4 / 2**30:.0f} GiB")
    distance = numpy.arange(n)[None, :] - numpy.arange(n)[:, None]
    if case["bias"] == "distance":
        bias = uniform((heads, 2 * n - 1), SEED_BIAS)[:, distance + n - 1]
    elif case["bias"] == "slopes":
        bias = (-slopes_of(heads)[:, None, None] * numpy.abs(distance)).astype(numpy.float32)
    else:
        bias = numpy.zeros((1, n, n), numpy.float32)
    if causal_too and case["causal"]:
        bias = numpy.where(distance > 0, numpy.float32(-numpy.inf), bias)
    if case["window"]:
        bias = numpy.where(distance <= -case["window"], numpy.float32(-numpy.inf), bias)
    return numpy.ascontiguousarray(bias)


def summary(values):
    """Mean size, middle and last value of an array [batch, heads, length, head_dim]."""
    flat = numpy.ascontiguousarray(values, dtype=numpy.float32).reshape(-1)
    return [float(numpy.abs(flat).mean(dtype=numpy.float64)), float(flat[flat.size // 2]), float(flat[-1])]


def milliseconds(call, seconds):
    """(best, median) of one call, as bench/attention/measure.cc takes it: after a warm-up, short calls several at a time."""
    clock = time.perf_counter
    call()
    calls = 1
    while True:
        start = clock()
        for _ in range(calls):
            call()
        spent = clock() - start
        if spent >= SHORTEST:
            break
        calls = max(2 * calls, int(calls * SHORTEST / max(spent, 1e-9)))
    times = [spent / calls * 1e3]
    start = clock()
    while clock() - start < seconds or len(times) < (5 if clock() - start < 4 * seconds else 3):
        begin = clock()
        for _ in range(calls):
            call()
        times.append((clock() - begin) / calls * 1e3)
    times.sort()
    return times[0], times[len(times) // 2]


class Rows:
    """Collects the results of one case."""

    def __init__(self, case, seconds):
        self.case, self.seconds = case, seconds
        self.rows, self.skipped = [], []

    def measure(self, peer, threads, call, check):
        best, median = milliseconds(call, self.seconds)
        row = {"case": self.case["name"], "threads": threads, "peer": peer, "ms": best, "median_ms": median}
        if check is not None:
            row["check"] = summary(check())
        self.rows.append(row)

    def attempt(self, peer, use):
        """use(), or a line that says why not: one way to call a library must not stop the others."""
        try:
            use()
        except Exception as error:  # whatever a library throws
            lines = str(error).strip().splitlines() or [""]
            self.skip(peer, f"{type(error).__name__}: {lines[0][:160]}")

    def skip(self, peer, why):
        self.skipped.append({"peer": peer, "case": self.case["name"], "why": why})


def serve(versions, measure_case):
    """measure_case(case, threads, rows) for each line of input. Whatever else prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(content):
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    answer({"peers": versions})
    for line in sys.stdin:
        request = json.loads(line)
        rows = Rows(request["case"], request["seconds"])
        rows.attempt(", ".join(versions), lambda: measure_case(request["case"], request["threads"], rows))
        answer({"rows": rows.rows, "skipped": rows.skipped})
