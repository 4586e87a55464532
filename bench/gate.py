#!/usr/bin/env python3
"""Compares the speed of the working tree with a release, and fails where it lost.

Builds the benchmark programs of both, runs them in turn for some rounds, and takes per case the median of the
rounds' ratios with its interval of confidence. A case fails where even the lower end of that interval is
above the limit: a loss of more than 3 % that noise does not explain. docs/benchmarks.md describes it.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "gate.json"
CONFIDENCE = 0.95
FEWEST_ROUNDS = 6  # for an interval of that confidence
PROGRAMS = ("attention", "training")


def interval(values):
    """Returns (low, median, high): order statistics between which the median lies with CONFIDENCE, by the binomial
    distribution of how many values are below it; no assumption about noise. Throws ValueError for fewer than
    FEWEST_ROUNDS values, of which none has that confidence."""
    ordered = sorted(values)
    count = len(ordered)
    if count < FEWEST_ROUNDS:
        raise ValueError(f"an interval needs {FEWEST_ROUNDS} rounds or more, got {count}")
    outside, left_out = 0.0, -1  # the probability below the order statistic `left_out + 1`
    while True:
        more = outside + math.comb(count, left_out + 1) / 2**count
        if 2 * more > 1 - CONFIDENCE:
            break
        outside, left_out = more, left_out + 1
    return ordered[left_out], statistics.median(ordered), ordered[count - 1 - left_out]


def compare(old, new, limit):
    """Returns the rows of all cases that both have. `old`, `new`: {case: [seconds of each round]}. `limit`: the largest
    loss, 0.03. A row has the ratio new / old: its median, its interval, and whether the case fails."""
    rows = []
    for case in sorted(old.keys() & new.keys()):
        low, median, high = interval([n / o for o, n in zip(old[case], new[case], strict=True)])
        rows.append(
            {
                "case": case,
                "old_seconds": statistics.median(old[case]),
                "new_seconds": statistics.median(new[case]),
                "ratio": median,
                "low": low,
                "high": high,
                "fails": low > 1 + limit,
            }
        )
    return rows


def table(rows):
    """The rows as text."""
    lines = [f"{'case':<44} {'old':>10} {'new':>10} {'new / old':>9}  interval"]
    for row in rows:
        verdict = "  LOSS" if row["fails"] else "  gain" if row["high"] < 1 else ""
        lines.append(
            f"{row['case']:<44} {row['old_seconds'] * 1e3:>7.3f} ms {row['new_seconds'] * 1e3:>7.3f} ms "
            f"{row['ratio']:>9.3f}  {row['low']:.3f} .. {row['high']:.3f}{verdict}"
        )
    return "\n".join(lines)


def processor_family(text):
    """The family that results are kept under, "GenuineIntel family 6 model 85", from the text of /proc/cpuinfo."""
    fields = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    if "vendor_id" in fields:
        return f"{fields['vendor_id']} family {fields.get('cpu family', '?')} model {fields.get('model', '?')}"
    if "CPU implementer" in fields:
        return f"arm implementer {fields['CPU implementer']} part {fields.get('CPU part', '?')}"
    return "unknown processor"


def record(path, family, about, rows):
    """Keeps the rows in a JSON file under the family of the processor; those of other cases and families stay."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    cases = kept.setdefault(family, {})
    for row in rows:
        cases[row["case"]] = {**about, **{key: row[key] for key in ("old_seconds", "new_seconds", "ratio", "low", "high")}}
    whole = path.with_name(path.name + ".part")
    whole.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    os.replace(whole, path)


def seconds_of_attention(rows):
    """{case: seconds} of the rows that `attention --json` writes."""
    return {f"attention {row['case']}, {row['threads']} threads": row["ms"] / 1e3 for row in rows}


def seconds_of_training(lines):
    """{case: seconds} of the lines that `training --json` prints: the best round of each."""
    rows = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    return {f"training {row['case']}, {row['threads']} threads": min(row["seconds"]) for row in rows}


def measure(folder, options):
    """Runs the programs of a build once: {case: seconds}."""
    found = {}
    if "attention" in options.programs:
        with tempfile.TemporaryDirectory() as scratch:
            file = pathlib.Path(scratch) / "rows.json"
            command = [folder / "attention", "--threads", str(options.threads), "--seconds", str(options.seconds)]
            for part in options.cases:
                command += ["--cases", part]
            run(command + ["--json", file])
            read = json.loads(file.read_text())
        found |= seconds_of_attention(read["rows"] if isinstance(read, dict) else read)
    if "training" in options.programs:
        command = [folder / "training", "--json", "--threads", str(options.threads), "--steps", str(options.steps)]
        for model in options.models:
            command += ["--model", model]
        found |= seconds_of_training(run(command))
    return found


def run(command):
    """Runs a command and returns what it prints. Ends with its error where it fails."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"gate: {' '.join(str(part) for part in command)} ended with {done.returncode}")
    return done.stdout


def newest_release():
    """The newest tag vX.Y.Z before the working tree."""
    found = subprocess.run(
        ["git", "-C", ROOT, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        sys.exit("gate: there is no tag vX.Y.Z here; --against must name a revision, as in --against main~20")
    return found.stdout.strip()


def build(source, folder, options):
    """Builds the wanted programs of a source tree in a folder; returns the folder of the programs."""
    run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSEXTANT_PYTHON=OFF"])
    run(["cmake", "--build", folder, "-j", options.jobs, "--target", *(f"bench_{name}" for name in options.programs)])
    return folder / "bench"


def build_revision(revision, folder, options):
    """Builds the wanted programs of a revision, whose files are put into a folder of their own."""
    source = folder / "source"
    subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", source], stderr=subprocess.DEVNULL, check=False)
    run(["git", "-C", ROOT, "worktree", "add", "--detach", source, revision])
    try:
        return build(source, folder / "build", options)
    finally:
        run(["git", "-C", ROOT, "worktree", "remove", "--force", source])


def rounds(old, new, options, measure_build=measure):
    """Measures both builds in turn, the first one of each round alternating: two dicts {case: [seconds]}."""
    results = {}, {}
    for number in range(options.rounds):
        both = [(0, old), (1, new)]
        for which, folder in both if number % 2 == 0 else reversed(both):
            for case, seconds in measure_build(folder, options).items():
                results[which].setdefault(case, []).append(seconds)
        print(f"gate: round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    return results


def number_of(kind, least):
    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f"must be a number of at least {least}, got {text!r}")
        return value

    return read


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--against", metavar="REVISION", help="a git revision; default: the newest tag vX.Y.Z")
    add("--rounds", type=number_of(int, FEWEST_ROUNDS), default=9, help="runs of each build (default 9)")
    add("--limit", type=number_of(float, 0), default=3, help="the largest loss in percent (default 3)")
    add("--program", dest="programs", action="append", choices=PROGRAMS, help="only this one (default: all)")
    add("--cases", action="append", default=[], help="of attention: only cases whose name holds this text")
    add("--model", dest="models", action="append", default=[], help="of training: only this model")
    add("--threads", type=number_of(int, 1), default=1, help="threads of each program (default 1)")
    add("--seconds", type=number_of(float, 0.01), default=0.2, help="of attention: time of a case (default 0.2)")
    add("--steps", type=number_of(int, 1), default=3, help="of training: rounds of a run (default 3)")
    add("--jobs", type=number_of(int, 1), default=os.cpu_count() or 1, help="of the builds (default: all cores)")
    add("--folder", type=pathlib.Path, default=ROOT / "build" / "gate", help="where both are built (default build/gate)")
    add("--record", action="store_true", help="keep the results of this processor's family in --results")
    add("--results", type=pathlib.Path, default=RESULTS, help="default bench/gate.json")
    options = parser.parse_args(arguments)
    options.programs = options.programs or list(PROGRAMS)
    return options


def main(arguments=None):
    options = parse(arguments)
    revision = options.against or newest_release()
    old = build_revision(revision, options.folder / "old", options)
    new = build(ROOT, options.folder / "new", options)
    rows = compare(*rounds(old, new, options), options.limit / 100)
    if not rows:
        sys.exit("gate: the two builds have no case in common")
    print(f"new: the working tree; old: {revision}; medians of {options.rounds} rounds, {options.threads} threads")
    print(table(rows))
    if options.record:
        about = {"against": revision, "commit": commit(), "date": datetime.date.today().isoformat()}
        record(options.results, processor_family(pathlib.Path("/proc/cpuinfo").read_text()), about, rows)
    lost = [row["case"] for row in rows if row["fails"]]
    if lost:
        print(f"gate: {len(lost)} of {len(rows)} cases lost more than {options.limit} %: {'; '.join(lost)}")
    return 1 if lost else 0


def commit():
    """The commit of the working tree, with -dirty behind it where files differ."""
    return run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--exclude", "*"]).strip()


if __name__ == "__main__":
    sys.exit(main())
