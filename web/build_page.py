#!/usr/bin/env python3
"""Puts the explorer together: build_page.py PROGRAM_FOLDER OUT makes OUT/index.html with its files, and explorer.html beside
OUT, which is one file. PROGRAM_FOLDER has sextant.js and sextant.wasm. Both pages work from file:// and from any server."""
import base64
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "page"
DATA = PAGE.parent / "data"
LESSON = PAGE.parent.parent / "src" / "figures" / "report" / "page" / "lesson.json"  # the report says it too
VERSION = (PAGE.parent.parent / "version.txt").read_text().split()[0]
# Runs between the program and the models: its worker unpacks and compiles while the page reads the rest.
FIRST = "engine.js"
# In the order in which they run; worker.js runs in the worker, which gets it as text.
SCRIPTS = ["state.js", "elements.js", "exports.js", "progress.js", "maps.js", "controls.js", "views/views.js",
           "views/connect.js", "views/steps.js", "lesson/numbers.js", "lesson/formulas.js", "lesson/terms.js", "lesson/unfold.js", "lesson/question.js",
           "lesson/drawings.js", "lesson/data.js", "lesson/flow.js", "lesson/pictures.js", "lesson/pictures_more.js", "views/lesson.js",
           "views/order_words.js", "views/toy_model.js", "views/order.js", "views/positions_parts.js", "views/positions.js",
           "views/attention_options.js", "views/attention.js",
           "models.js", "drop.js", "views/diagram.js", "views/model_kinds.js", "views/model_text.js", "views/model_tokens.js", "views/model_folder.js", "views/model_looks.js", "views/model.js",
           "views/train_words.js", "views/train.js", "views/lengths.js", "views/documents.js", "app.js"]


def engine_script(program: pathlib.Path) -> str:
    """The program and its worker as one script: pages from file:// may load scripts, but no module and no data."""
    wasm = gzip.compress((program / "sextant.wasm").read_bytes(), 9, mtime=0)
    parts = {"glue": (program / "sextant.js").read_text(), "worker": (PAGE / "worker.js").read_text(),
             "wasm": base64.b64encode(wasm).decode()}
    return "globalThis.sextant_engine = " + json.dumps(parts).replace("</", "<\\/") + ";\n"


def list_script(program: pathlib.Path) -> str:
    """What `sextant list` prints of schemes and of options: with it the controls stand while the browser still compiles the program.
    And the words of the lesson."""
    def ask(*more: str) -> object:
        return json.loads(subprocess.run(["node", PAGE.parent / "ask_program.js", program, "list", "--json", *more],
                                         capture_output=True, text=True, check=True).stdout)
    options = {command: ask("--options", command) for command in ["attend", "generate", "train"]}
    lesson = json.loads(LESSON.read_text())
    return "".join(f"globalThis.sextant_{name} = " + json.dumps(value).replace("</", "<\\/") + ";\n"
                   for name, value in {"list": ask(), "options": options, "lesson": lesson}.items())


def data_script() -> str:
    """The models and results that ship, by their paths below web/data: gzip as base64, which the worker unpacks."""
    files = {path.relative_to(DATA).as_posix(): base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode()
             for path in sorted(DATA.rglob("*")) if path.suffix in (".json", ".safetensors")}
    return "globalThis.sextant_data = " + json.dumps(files) + ";\n"


def fill(sources: str, files: str, style: str, scripts: str) -> str:
    page = (PAGE / "index.html").read_text()
    for name, text in {"SCRIPT_SOURCES": sources, "FILES": files, "STYLE": style, "SCRIPTS": scripts, "VERSION": VERSION}.items():
        page = page.replace(f"@{name}@", text)
    return page


def write(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text)
    part.replace(path)


def main() -> None:
    program, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    engine, schemes, data = engine_script(program), list_script(program), data_script()
    style = (PAGE / "style.css").read_text()
    sources = {name: (PAGE / name).read_text() for name in [FIRST, *SCRIPTS]}

    write(out / "engine-data.js", engine)
    write(out / "list-data.js", schemes)
    write(out / "models-data.js", data)
    write(out / "style.css", style)
    for name, text in sources.items():
        write(out / name, text)
    tags = "".join(f'<script src="{name}"></script>\n' for name in ["engine-data.js", FIRST, "list-data.js", "models-data.js", *SCRIPTS])
    write(out / "index.html", fill("'self' file:", "file:", '<link rel="stylesheet" href="style.css">', tags))

    blocks = [engine, sources[FIRST], schemes, data, *(sources[name] for name in SCRIPTS)]
    hashes = " ".join("'sha256-" + base64.b64encode(hashlib.sha256(("\n" + block).encode()).digest()).decode() + "'" for block in blocks)
    inline = "".join("<script>\n" + block + "</script>\n" for block in blocks)
    write(out.parent / "explorer.html", fill(hashes, "", "<style>\n" + style + "</style>", inline))
    for path in (out / "engine-data.js", out / "models-data.js", out.parent / "explorer.html"):
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
