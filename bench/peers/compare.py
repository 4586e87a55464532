"""Runs each case by each rival and then by us, within the same minute, and prints the table of ratios.

    python compare.py --bench build/release/bench --out build/peers [--what attention,training,python,models] [--cases TEXT] [--threads 1,2]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import threading

import compare_python
import compare_training

HERE = pathlib.Path(__file__).parent
PATIENCE = 600  # seconds for one case: compiling takes its time
PINNED = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
# Name, modules, command, environment. ONNX Runtime's threads are not OpenMP's: pinning the first would tie down all.
SCRIPTS = (("PyTorch", "torch", ["torch_peer.py"], PINNED),
           ("ONNX Runtime", "onnxruntime, onnx", ["onnx_peer.py"], {}),
           ("ONNX Runtime daz", "onnxruntime, onnx", ["onnx_peer.py", "--daz"], {}),
           ("OpenVINO", "openvino", ["openvino_peer.py"], {}),
           ("llama.cpp", "xllamacpp", ["ggml_peer.py"], {}))


class Peer:
    """A rival's process, started again if it dies."""

    def __init__(self, name, command, environment):
        self.name, self.command = name, command
        self.environment = {**os.environ, **environment}
        self.process, self.versions = None, {}

    def ask(self, request):
        lines = []
        alarm = threading.Timer(PATIENCE, lambda: self.process and self.process.kill())
        alarm.start()
        try:
            if self.process is None:
                self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                stderr=subprocess.PIPE, text=True, env=self.environment)
                threading.Thread(target=self.listen, args=(self.process.stderr, lines), daemon=True).start()
                self.versions = json.loads(self.process.stdout.readline())["peers"]
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            why = f"ended before it answered{': ' + lines[-1] if lines else ''}"
            self.close()
            return {"rows": [], "skipped": [{"peer": self.name, "case": request["case"]["name"], "why": why}]}
        finally:
            alarm.cancel()

    @staticmethod
    def listen(stream, lines):
        lines.extend(line.strip() for line in stream if line.strip())

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def find_peers(bench):
    """Those that are here; says which are not."""
    peers, absent = [], []
    for name, modules, command, environment in SCRIPTS:
        probe = subprocess.run([sys.executable, "-c", f"import numpy, {modules}"], capture_output=True)
        if probe.returncode == 0:
            peers.append(Peer(name, [sys.executable, str(HERE / command[0]), *command[1:]], environment))
        else:
            absent.append(name)
    if (bench / "peer_onednn").exists():
        peers.append(Peer("oneDNN", [str(bench / "peer_onednn")], PINNED))
    else:
        absent.append("oneDNN")
    for name in absent:
        print(f"{name} is not here: compared with the others only", file=sys.stderr)
    return peers


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path, required=True, help="folder of the programs `attention` and `training`")
    parser.add_argument("--out", type=pathlib.Path, required=True,
                        help="folder for peers.json, ours.json, table.md, and for .json and .md of training, python and models")
    parser.add_argument("--what", default="attention,training,python", help="some of attention, training, python, models")
    parser.add_argument("--cases", action="append", default=[], help="only cases whose name holds this; may be given again")
    parser.add_argument("--seconds", type=float, default=1.0, help="attention: for each case")
    parser.add_argument("--turns", type=int, default=5, help="training: how often each is asked")
    parser.add_argument("--rounds", type=int, default=3, help="training: rounds of a turn")
    parser.add_argument("--ways", default="eager,nn,compiled", help="training: how PyTorch is used")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--quick", action="store_true", help="short lengths, to try the programs")
    options = parser.parse_args()
    options.what, options.ways = options.what.split(","), options.ways.split(",")
    if set(options.what) - {"attention", "training", "python", "models"} or set(options.ways) - set(compare_training.WAYS):
        parser.error("--what is of attention, training, python, models; --ways of " + ", ".join(compare_training.WAYS))
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def compare_attention(options):
    theirs, ours = options.out / "peers.json", options.out / "ours.json"
    for path in (theirs, ours):
        path.unlink(missing_ok=True)

    attention = [str(options.bench / "attention")] + (["--quick"] if options.quick else [])
    parts = [word for part in options.cases for word in ("--cases", part)]
    listing = subprocess.run(attention + ["--list-json"] + parts, stdout=subprocess.PIPE)
    if listing.returncode != 0:
        sys.exit(listing.returncode)
    cases = json.loads(listing.stdout)
    peers = find_peers(options.bench)
    results = {"peers": {}, "rows": [], "skipped": []}
    for number, case in enumerate(cases, 1):
        print(f"[{number}/{len(cases)}] {case['name']}", file=sys.stderr, flush=True)
        request = {"case": case, "threads": [int(t) for t in options.threads.split(",")], "seconds": options.seconds}
        for peer in peers:
            answer = peer.ask(request)
            results["rows"] += answer["rows"]
            results["skipped"] += answer["skipped"]
            results["peers"].update(peer.versions)
        theirs.write_text(json.dumps(results, indent=1))
        subprocess.run(attention + ["--case", case["name"], "--seconds", str(options.seconds), "--threads",
                                    options.threads, "--json", str(ours), "--update"], check=True, stdout=subprocess.DEVNULL)
    for peer in peers:
        peer.close()

    show = attention + ["--from", str(ours), "--peers", str(theirs)]
    markdown = subprocess.run(show + ["--markdown"], check=True, capture_output=True, text=True)
    (options.out / "table.md").write_text(markdown.stdout)
    subprocess.run(show, check=True)
    print(f"\nThe same as Markdown: {options.out / 'table.md'}")


def main():
    options = parse()
    if "attention" in options.what:
        compare_attention(options)
    if "training" in options.what:
        compare_training.compare(options)
    if "python" in options.what:
        compare_python.compare(options)
    if "models" in options.what:
        compare_python.compare_models(options)


main()
