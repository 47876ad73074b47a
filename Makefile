.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
APP_READY := .venv/.ready-run
DEV_READY := .venv/.ready-dev
KILLS ?= 200
OPERATIONS ?= 20000
SEED ?= 7
MOUNTS ?= 0

# Each of the hundreds of processes of a test run would compile all that it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run onnx test types lint format bench dist lock chaos clean

help: ## Say what each target does
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(APP_READY) ## Make .venv with .venv/bin/ragkit

run: setup ## Index sample_data the first time and open the app on http://localhost:8501
	$(BIN)/ragkit serve --sample

onnx: setup ## Install what models in ONNX files need
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/onnx.txt

test: $(DEV_READY) ## Run every check and test, a real Chromium included
	@bash .ci/chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# Types are checked beside the tests; what was found is told after them. One process compiles
	@# the tests first: on a fresh clone, each worker would compile all of them.
	@$(MAKE) --no-print-directory types > .venv/types.log 2>&1 & types=$$!; \
	  $(BIN)/pytest --collect-only -qq >/dev/null; $(BIN)/pytest -n 4; tests=$$?; \
	  wait $$types; types=$$?; \
	  cat .venv/types.log; \
	  test "$$tests $$types" = "0 0"

types: $(DEV_READY) ## Check the types of the code and of the examples in docs/api.md
	$(BIN)/mypy
	@awk '/^```$$/ { on = 0 } on; /^```python$$/ { on = 1 }' docs/api.md > .venv/examples.py
	$(BIN)/mypy --strict .venv/examples.py

lint: types ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/hadolint Dockerfile

format: $(DEV_READY) ## Lay out the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV_READY) ## Run every benchmark and print its figures
	@for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

chaos: $(DEV_READY) ## Kill whatever works on a library KILLS=200 times, do OPERATIONS=20000 in a folder
	RAGKIT_CHAOS_KILLS=$(KILLS) RAGKIT_CHAOS_OPERATIONS=$(OPERATIONS) RAGKIT_CHAOS_SEED=$(SEED) \
	  RAGKIT_CHAOS_MOUNTS=$(MOUNTS) RAGKIT_CHAOS_EXAMPLES=40 RAGKIT_CHAOS_STEPS=80 \
	  $(BIN)/pytest tests/chaos tests/indexes/test_qdrant_cluster.py

dist: $(DEV_READY) ## Build the wheel and the source archive in dist, and check what an index would show
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/twine check --strict dist/*

lock: ## Write the locked requirements anew (needs uv)
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" pyproject.toml requirements/build.in -o requirements/run.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" --extra dev --extra onnx --extra postgres --extra qdrant --extra ray -c requirements/run.txt pyproject.toml requirements/build.in -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" -c requirements/dev.txt requirements/onnx.in -o requirements/onnx.txt

clean: ## Remove .venv and caches (never your library)
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis dist

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || \
	  { echo "ragkit needs Python 3.11 to 3.14; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

$(APP_READY): .venv/bin/python requirements/run.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DEV_READY): $(APP_READY) requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements/dev.txt
	@touch $@
