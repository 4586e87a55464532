"""Trains each case by us and by PyTorch, and the small one by dlib too, in turns, within the same minute, and prints the table of ratios."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).parent
PATIENCE = 900  # seconds for one answer: compiling takes its time
PINNED = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
# Freed memory is kept for the next step, as PyTorch's tuning guide has other allocators do.
KEPT = {"MALLOC_MMAP_THRESHOLD_": str(2**30), "MALLOC_TRIM_THRESHOLD_": str(2**32)}
WAYS = {"eager": "torch eager", "nn": "torch.nn", "compiled": "torch compiled"}
MIB = 2**20


class Contender:
    """A process that makes rounds when it is asked to, and what it said."""

    def __init__(self, name, command, request=None, environment=None):
        self.name, self.why, self.errors = name, None, []
        self.seconds, self.answers, self.about = [], [], {}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True,
                                        env={**os.environ, **PINNED, **(environment or {})})
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()
        self.about = self.exchange(request) or {}

    def listen(self):
        self.errors.extend(line.strip() for line in self.process.stderr if line.strip())

    def exchange(self, request):
        """The answer; None from the moment it ended."""
        if self.why is not None:
            return None
        alarm = threading.Timer(PATIENCE, self.process.kill)
        alarm.start()
        try:
            if request is not None:
                self.process.stdin.write(f"{request}\n")
                self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            self.close()
            self.listener.join(5)
            self.why = "ended before it answered" + (": " + self.errors[-1][:160] if self.errors else "")
            return None
        finally:
            alarm.cancel()

    def make(self, rounds, count=True):
        answer = self.exchange(rounds)
        if answer is not None and count:
            self.seconds += answer["seconds"]
            self.answers.append(answer)

    def close(self):
        self.process.kill()
        self.process.wait()


def start(options, case, threads):
    command = [str(options.bench / "training"), "--serve", "--model", case["name"], "--threads", str(threads)]
    contenders = [Contender("Sextant", command + (["--quick"] if options.quick else []))]
    for how, name in WAYS.items():
        if how in options.ways:
            request = json.dumps({"case": case, "threads": threads, "how": how})
            contenders.append(Contender(name, [sys.executable, str(HERE / "torch_training.py")], request, KEPT))
    if case["name"] == "characters" and (options.bench / "peer_dlib").exists():
        request = json.dumps({"case": case, "threads": threads, "quick": options.quick})
        environment = {**KEPT, "DLIB_NUM_THREADS": str(threads)}
        contenders.append(Contender("dlib", [str(options.bench / "peer_dlib")], request, environment))
    return contenders


def measure(options, case, threads):
    """The rows of one case: one round each to warm up, then turns."""
    contenders = start(options, case, threads)
    for one in contenders:
        one.make(1, count=False)
    for _ in range(options.turns):
        for one in contenders:
            one.make(options.rounds)
    for one in contenders:
        one.close()
        if one.why is not None:
            print(f"{case['name']}, {one.name}: {one.why}", file=sys.stderr)
    ours = contenders[0]
    if ours.why is not None:
        sys.exit(1)
    same = [one for one in contenders if one.name != "dlib"]  # its norms have one number for all channels
    if any(one.about.get("parameters", ours.about["parameters"]) != ours.about["parameters"] for one in same):
        print(f"{case['name']}: the models have different numbers of parameters", file=sys.stderr)
    peak = max(answer["peak"] for answer in ours.answers)
    return [row(one, ours, case, threads, peak) for one in contenders if one.why is None and one.seconds]


def row(one, ours, case, threads, peak):
    tokens, operations = ours.about["tokens"], ours.about["operations"]
    best = min(one.seconds)
    result = {"case": case["name"], "threads": threads, "who": one.name, "parameters": one.about["parameters"],
              "tokens/s": tokens / best, "median tokens/s": tokens / statistics.median(one.seconds),
              "share": operations["all"] / best / peak, "peak": peak, "loss": one.answers[-1]["loss"],
              "memory": max(answer["memory"] for answer in one.answers),
              "growth": max(answer["growth"] for answer in one.answers),
              "others": max(answer["others"] for answer in ours.answers)}
    if one is ours:
        total = sum(one.seconds)
        sums = {name: sum(answer["parts"][name] for answer in one.answers) for name in one.answers[0]["parts"]}
        result["parts"] = {name: spent / total for name, spent in sums.items()}
        result["part peaks"] = {name: operations[name] * len(one.seconds) / spent / peak
                                for name, spent in sums.items() if name in operations and spent > 0}
    return result


def ratio_table(rows):
    lines = ["| case | threads | who | tokens/s | median | of the FMA peak | peak MiB | of which its own | ours over it | medians | our memory |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for one in rows:
        ours = next(r for r in rows if r["who"] == "Sextant" and (r["case"], r["threads"]) == (one["case"], one["threads"]))
        ratios = " | | |" if one is ours else (
            f" {ours['tokens/s'] / one['tokens/s']:.2f} | {ours['median tokens/s'] / one['median tokens/s']:.2f} | "
            f"{ours['memory'] / one['memory']:.2f} |")
        busy = "*" if one["others"] > 0.06 else ""
        lines.append(f"| {one['case']} | {one['threads']}{busy} | {one['who']} | {one['tokens/s']:.0f} | {one['median tokens/s']:.0f} | "
                     f"{100 * one['share']:.1f} % | {one['memory'] / MIB:.0f} | {one['growth'] / MIB:.0f} |{ratios}")
    return lines


def parts_table(rows):
    """Of the time of our rounds; behind products and attention, of the peak while they run."""
    ours = [one for one in rows if "parts" in one]
    names = sorted(ours[0]["parts"], key=lambda name: -ours[0]["parts"][name]) if ours else []
    lines = ["| case | threads | " + " | ".join(names) + " |", "| --- " * (2 + len(names)) + "|"]
    for one in ours:
        cells = [f"{100 * one['parts'][name]:.1f} %" + (f" ({100 * one['part peaks'][name]:.0f})" if name in one["part peaks"] else "")
                 for name in names]
        lines.append(f"| {one['case']} | {one['threads']} | " + " | ".join(cells) + " |")
    return lines


def compare(options):
    """options: bench, out, cases, threads, quick, and turns, rounds, ways. Writes training.json and training.md."""
    listing = subprocess.run([str(options.bench / "training"), "--list-json"] + (["--quick"] if options.quick else []),
                             check=True, capture_output=True, text=True)
    known = json.loads(listing.stdout)
    cases = [case for case in known if not options.cases or any(part in case["name"] for part in options.cases)]
    if not cases:
        if options.what == ["training"]:
            sys.exit("--cases: no case of training holds that; there are " + ", ".join(case["name"] for case in known))
        return
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        print("PyTorch is not here: without its figures", file=sys.stderr)
        options.ways = []
    rows = []
    for number, case in enumerate(cases, 1):
        for threads in map(int, options.threads.split(",")):
            print(f"[{number}/{len(cases)}] training {case['name']}, {threads} threads", file=sys.stderr, flush=True)
            rows += measure(options, case, threads)
            (options.out / "training.json").write_text(json.dumps({"rows": rows}, indent=1))
    text = "\n".join(ratio_table(rows) + [""] + parts_table(rows)) + "\n"
    (options.out / "training.md").write_text(text)
    print(text)
