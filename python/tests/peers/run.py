"""Suites of other libraries with Sextant in place of their attention: run.py [WORD ...], the suites whose names have one of the words.

Nothing is fetched. Cases are what packages and their source archives ship (torch's OpInfos and modules, configs and tests of transformers,
ONNX's node cases), or the options of a library on a grid; what is right is what the library computes itself. Prints a table, and why cases
were not expressible (Sextant refuses them by name) or left out (the library does not run them, or by another function than the one that
Sextant replaces).
"""

import importlib.util
import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from unittest import SkipTest

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("", "attention", "with_torch")]  # helpers and tests

import sextant  # noqa: E402


def outcome(suite, name, case, refused):
    try:
        case()
        return "passed"
    except SkipTest as reason:
        return f"left out: {reason}"
    except Exception as error:
        known = re.search(refused, str(error)) if isinstance(error, sextant.Error) else None
        if known:
            return f"not expressible: {known[0]}"
        print(f"FAILED {suite}, {name}: {type(error).__name__}: {str(error)[:400]}", flush=True)
        return "failed"


def main(words):
    warnings.simplefilter("ignore")
    rows, notes, good = [], [], False
    for module, of_all in {"torch_suites": "torch", "model_suites": "transformers", "mixin_suites": "transformers", "other_suites": "numpy"}.items():
        suites = importlib.import_module(module).SUITES if importlib.util.find_spec(of_all) else {module: (of_all, None)}
        for suite, (needs, cases, *refused) in suites.items():
            if words and not any(word in suite for word in words):
                continue
            if importlib.util.find_spec(needs) is None:
                notes.append(f"{suite}: skipped, {needs} is not installed")
                continue
            found = Counter(outcome(suite, name, case, *(refused or ["(?!)"])) for name, case in cases())
            refusals = sum(count for what, count in found.items() if what.startswith("not"))
            rows.append((suite, found["passed"] + found["failed"] + refusals, found["passed"], refusals, found["failed"]))
            notes += [f"{suite}: {count} {what}" for what, count in found.items() if ":" in what]
            print(*rows[-1], sep=", ", file=sys.stderr, flush=True)
    for row in [("suite", "run", "passed", "not expressible", "failed"), ["---"] * 5, *rows]:
        print("|", " | ".join(map(str, row)), "|")
    print("", *notes, sep="\n")
    return 0 if any(row[2] for row in rows) and not any(row[4] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
