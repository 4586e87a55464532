#!/usr/bin/env python3
"""Trains the same small models with every scheme that orders a text, on short texts, and tests them on long ones.

    bench/encodings/compare.py --program build/release/bin/sextant --out out/encodings [--jobs N] [--collect]

A run that was stopped continues with the same command. All schemes have their first seed before any has its second. At the end the
numbers are stored in results.json, and the page and its charts are drawn from them. --collect does so with what is finished.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import cases
import page
import schemes


def write(path, content):
    """The file is there as a whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(part, path)


def options_of(settings):
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


class Job:
    """The training of one model and its tests, in a folder of its own; `rows.json` is there when it is finished."""

    def __init__(self, comparison, kind, case, seed):
        self.comparison, self.kind, self.case, self.seed = comparison, kind, case, seed
        self.folder = comparison.out / "jobs" / f"{kind}-{seed}-{'+'.join(schemes.names_of(case))}"
        self.done = self.folder / "rows.json"
        self.seconds = 0.0

    def command(self, *words):
        """What a command of the program prints."""
        command = [self.comparison.program, *map(str, words), "--threads", "1"]
        with open(self.folder / "errors.txt", "a") as errors:
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=errors, text=True)
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds += used.ru_utime + used.ru_stime
        if process.returncode:
            raise RuntimeError(f"{words[0]} ended with {process.returncode}, see {errors.name}")
        return printed

    def run(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        started = time.time()
        rows = self.solved() if self.kind == "tasks" else self.predicted()
        made = {"hours": (time.time() - started) / 3600, "processor_hours": self.seconds / 3600, "rows": rows}
        write(self.done, json.dumps(made).encode())
        for folder in (path for path in self.folder.iterdir() if path.is_dir()):
            shutil.rmtree(folder)  # the models

    def row(self, case, **numbers):
        return {"test": self.kind, "scheme": schemes.label_of(case), "seed": self.seed, **numbers}

    def predicted(self):
        """Rows of a language model: its perplexities at each length."""
        trained = schemes.spec_of(self.case, cases.LANGUAGE["train-length"], self.comparison.seeded, self.seed)
        files = self.comparison.out / f"{self.kind}.txt", self.comparison.out / f"{self.kind}-end.txt"
        self.command("extrapolate", "--file", files[0], "--schemes", trained, "--seed", self.seed, *options_of(cases.LANGUAGE), "-o", "run")
        rows = json.loads((self.folder / "run" / "results.json").read_text())["rows"]
        named = [self.case]
        if self.case == "rotary":
            extensions = ",".join(schemes.spec_of(each, cases.LANGUAGE["train-length"], (), 0) for each in schemes.EXTENSIONS)
            scoring = {name: cases.LANGUAGE[name] for name in ("test-lengths", "scored", "stride")}
            self.command("extrapolate", "--model", "run/rotary", "--file", files[1], "--schemes", extensions, *options_of(scoring), "-o", "exchanged")
            again, *exchanged = json.loads((self.folder / "exchanged" / "results.json").read_text())["rows"]
            if again["sliding"] != rows[0]["sliding"]:
                raise ValueError("the held-out text is not the one that the program scores")
            rows, named = rows + exchanged, named + schemes.EXTENSIONS
        scores = ({way: [each["perplexity"] for each in row[way]] for way in ("segments", "sliding")} for row in rows)
        return [self.row(case, **score) for case, score in zip(named, scores, strict=True)]

    def solved(self):
        """Rows of a model of the three tasks: the shares of right letters and of whole answers, by the number of letters."""
        trained = schemes.spec_of(self.case, cases.LONGEST_LINE, self.comparison.seeded, self.seed)
        data = ["--file", self.comparison.out / "tasks.txt", "--documents", "line", "--document-mask"]
        self.command("train", "lm", *data, "--scheme", trained, "--seed", self.seed, *options_of(cases.SOLVING), "-o", "run")
        return [self.row(case, **self.answers(case)) for case in [self.case] + (schemes.EXTENSIONS if self.case == "rotary" else [])]

    def answers(self, case):
        shares = {name: {"letters": [], "answers": []} for name in cases.TASKS}
        for count, prompts in self.comparison.prompts.items():
            other = ["--replace-scheme", schemes.spec_of(case, cases.LONGEST_LINE, (), 0, 2 * count + 3)] if case != self.case else []
            asked = ["--model", "run/last", "--file", self.comparison.out / f"prompts-{count}.txt", "--max-tokens", count + 1]
            texts = [each["text"] for each in json.loads(self.command("generate", *asked, "--greedy", "--json", *other))["results"]]
            for name, right in cases.marked(prompts, texts).items():
                shares[name]["letters"].append(right[0])
                shares[name]["answers"].append(right[1])
        return shares


class Comparison:
    def __init__(self, program, out):
        self.program, self.out = str(pathlib.Path(program).resolve()), out.resolve()
        registry = json.loads(subprocess.check_output([self.program, "list", "--json"]))
        wrong = schemes.undecided([each["name"] for each in registry])
        if wrong:
            sys.exit("encodings: " + "\n".join(wrong))
        self.seeded = {each["name"] for each in registry if any(p["name"] == "seed" for p in each["parameters"])}
        lines, self.prompts = cases.lines_of_tasks()
        files = cases.texts() | {"tasks.txt": lines} | {f"prompts-{count}.txt": some for count, some in self.prompts.items()}
        files = {name: each if isinstance(each, bytes) else "".join(f"{line}\n" for line in each).encode() for name, each in files.items()}
        self.about = {"version": subprocess.check_output([self.program, "--version"], text=True).split()[-1], **cases.settings(files)}
        kept = self.out / "about.json"
        if kept.exists() and json.loads(kept.read_text()) != self.about:
            sys.exit(f"encodings: {out} is of other settings, texts or another version; give another folder")
        (self.out / "jobs").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write(self.out / name, text)
        write(kept, json.dumps(self.about).encode())

    def jobs(self):
        kinds = [*cases.TEXTS, "tasks"]
        return [Job(self, kind, case, seed) for seed in range(cases.SEEDS) for kind in kinds for case in schemes.TRAINED]

    def run(self, workers):
        """Runs the jobs that are not finished; returns how many failed."""
        failed = 0
        pool = concurrent.futures.ThreadPoolExecutor(workers)
        running = {pool.submit(job.run): job for job in self.jobs() if not job.done.exists()}
        try:
            for number, each in enumerate(concurrent.futures.as_completed(running), 1):
                failed += each.exception() is not None
                print(f"{number} of {len(running)}: {running[each].folder.name}: {each.exception() or 'done'}", flush=True)
        finally:  # after Ctrl-C, which stops the programs too
            pool.shutdown(cancel_futures=True)
        return failed

    def results(self):
        """Those of every test and seed that all schemes have, so that means of a run that is not finished are of the same seeds."""
        missing = {(job.kind, job.seed) for job in self.jobs() if not job.done.exists()}
        finished = [json.loads(job.done.read_text()) for job in self.jobs() if (job.kind, job.seed) not in missing]
        hours = {name: round(sum(each[name] for each in finished), 2) for name in ("hours", "processor_hours")}
        about = {**self.about, "date": datetime.date.today().isoformat(), "processor": cases.processor(), **hours}
        return about | {"rows": [row for each in finished for row in each["rows"]]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the command line of Sextant")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="a folder for the run, created if needed")
    parser.add_argument("--jobs", type=int, default=1, help="models that are trained at the same time, each by one thread (default 1)")
    parser.add_argument("--collect", action="store_true", help="train nothing: store and draw what is finished")
    options = parser.parse_args()
    comparison = Comparison(options.program, options.out)
    failed = 0 if options.collect else comparison.run(options.jobs)
    page.store(comparison.results())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
