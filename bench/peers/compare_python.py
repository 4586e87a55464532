"""The same tasks from Python, by us and by others in one process and in turns, and what it costs to have each.

Writes python.json and python.md, or models.json and models.md, into the folder of the results.
"""

import importlib.metadata
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy

TURNS = 9
TURN = 0.02  # seconds of a turn at least
REST = 0.05  # between turns: threads that wait for work stop spinning
PACKAGES = {"sextant": "sextant", "torch": "torch", "onnxruntime": "onnxruntime", "openvino": "openvino"}  # module: distribution
MIB = 2**20
OURS = "sextant"  # the first contender of every case: its error ends the run, a rival's is reported


class Contender:
    def __init__(self, name, make):
        self.name, self.why, self.seconds = name, None, []
        try:
            self.run, self.result = make()
            self.run()
            self.calls = 1
        except Exception as error:  # whatever a library throws
            if name == OURS:
                raise
            self.why = f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:160]}"

    def turn(self):
        """Seconds of one call, the mean of a turn."""
        while True:
            start = time.perf_counter()
            for _ in range(self.calls):
                self.run()
            spent = time.perf_counter() - start
            if spent >= TURN:
                return spent / self.calls
            self.calls = max(2 * self.calls, int(self.calls * 1.2 * TURN / max(spent, 1e-9)))

    def differs(self, wanted, tolerance):
        got = numpy.asarray(self.result(), numpy.float32)
        return not numpy.abs(got.reshape(wanted.shape) - wanted).max() <= tolerance


def measure(case, threads, turns):
    """Rows of one case: each turn asks every contender, and its ratio is that of the turn."""
    everyone = [Contender(name, make) for name, make in case.contenders(threads).items()]
    for one in everyone:
        if one.why is not None:
            print(f"{case.name}, {one.name}: {one.why}", file=sys.stderr)
    contenders = [one for one in everyone if one.why is None]
    ours = contenders[0]
    wanted = numpy.asarray(ours.result(), numpy.float32)
    for one in contenders:
        one.turn()
    for number in range(turns):
        for one in contenders[number % len(contenders):] + contenders[:number % len(contenders)]:
            time.sleep(REST)
            one.seconds.append(one.turn())
    rows = []
    for one in contenders:
        ratios = [theirs / our for theirs, our in zip(one.seconds, ours.seconds)]
        rows.append({"case": case.name, "threads": threads, "who": one.name, "best": min(one.seconds), "median": statistics.median(one.seconds),
                     "ratio of best": min(one.seconds) / min(ours.seconds), "ratio": statistics.median(ratios), "least": min(ratios), "most": max(ratios),
                     "differs": bool(one is not ours and one.differs(wanted, case.tolerance))})
    return rows


def imports(turns):
    """{module: (milliseconds, milliseconds of the processor) of each import behind `import numpy`, in a process of its own}"""
    code = ("import time, numpy; start, used = time.perf_counter(), time.process_time(); import {}; "
            "print(time.perf_counter() - start, time.process_time() - used)")
    spent = {module: [] for module in PACKAGES}
    for _ in range(turns):
        for module in PACKAGES:
            done = subprocess.run([sys.executable, "-c", code.format(module)], check=True, capture_output=True, text=True)
            spent[module].append([1e3 * float(word) for word in done.stdout.split()])
    return spent


def sizes(wheels):
    """{module: (MiB of its wheel, MiB installed)}, without what it depends on."""
    result = {}
    for module, distribution in PACKAGES.items():
        files = importlib.metadata.files(distribution) or []
        installed = sum(file.locate().stat().st_size for file in files if file.locate().is_file())
        wheel = [path.stat().st_size for path in wheels.glob(f"{distribution}-*.whl")]
        result[module] = (max(wheel, default=0) / MIB, installed / MIB)
    return result


def duration(seconds):
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.2f} ms"


def spread(milliseconds):
    return f"{statistics.median(milliseconds):.0f} ms ({min(milliseconds):.0f} .. {max(milliseconds):.0f})"


def table(rows):
    lines = ["| task | threads | ours, best | median | others over ours: best times; median of turns (least .. most) |", "| --- | --- | --- | --- | --- |"]
    for ours in (row for row in rows if row["who"] == OURS):
        others = [row for row in rows if (row["case"], row["threads"]) == (ours["case"], ours["threads"]) and row is not ours]
        cells = [f"{row['who']} {row['ratio of best']:.2f}; {row['ratio']:.2f} ({row['least']:.2f} .. {row['most']:.2f})"
                 + (", another result" if row["differs"] else "") for row in sorted(others, key=lambda row: row["ratio of best"])]
        lines.append(f"| {ours['case']} | {ours['threads']} | {duration(ours['best'])} | {duration(ours['median'])} | {'<br>'.join(cells)} |")
    return lines


def cost_table(results):
    lines = ["| package | import after NumPy: median (least .. most) | processor time | wheel | installed |", "| --- | --- | --- | --- | --- |"]
    for module, spent in results["imports"].items():
        clock, processor = ([each[i] for each in spent] for i in (0, 1))
        wheel, installed = results["sizes"][module]
        lines.append(f"| {module} {results['versions'][module]} | {spread(clock)} | {spread(processor)} | {wheel:.1f} MiB | {installed:.1f} MiB |")
    return lines


def measure_all(options, module, what, more):
    """Writes the rows of the module's cases into `what`.json as they come, with what `more` holds; returns all of it."""
    results = {"versions": module.VERSIONS, "rows": [], **more}
    for case in module.cases(options.quick, options.out):
        if options.cases and not any(part in case.name for part in options.cases):
            continue
        for threads in map(int, options.threads.split(",")):
            print(f"{what}: {case.name}, {threads} threads", file=sys.stderr, flush=True)
            module.use_threads(threads)
            results["rows"] += measure(case, threads, 3 if options.quick else TURNS)
            (options.out / f"{what}.json").write_text(json.dumps(results, indent=1))
    return results


def write_table(options, what, lines):
    text = "\n".join(lines) + "\n"
    (options.out / f"{what}.md").write_text(text)
    print(text)


def compare(options):
    """options: out, cases, threads, quick."""
    try:
        import python_cases
    except ImportError as error:
        print(f"python: needs sextant, torch, onnxruntime and openvino beside one another: {error}", file=sys.stderr)
        return
    costs = {"imports": imports(3 if options.quick else TURNS), "sizes": sizes(pathlib.Path(options.out) / "wheels")}
    results = measure_all(options, python_cases, "python", costs)
    write_table(options, "python", table(results["rows"]) + [""] + cost_table(results))


def compare_models(options):
    try:
        import model_cases
    except ImportError as error:
        print(f"models: needs sextant, torch, transformers, xllamacpp, gguf and onnxruntime beside one another: {error}", file=sys.stderr)
        return
    write_table(options, "models", table(measure_all(options, model_cases, "models", {})["rows"]))
