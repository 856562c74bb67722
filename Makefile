# The words of this project. Each one makes the environment first where it needs one:
# `make run` and `make test` are all that a fresh machine with Python 3.11+ and git needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Most tests wait more than they reckon: two to a core keep it busy.
WORKERS ?= 4
export UV_PYTHON_DOWNLOADS := never

.DEFAULT_GOAL := help
.PHONY: help setup fmt lint test check run demo bench faults lock clean

help: ## show these words
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make the environment in .venv, when it is missing or out of date

# The stamp is written last, so that a set-up cut off half-way is done again.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		found=$$($(PYTHON) --version 2>/dev/null) || found="not there"; \
		echo "Talaria needs Python 3.11 or newer, and $(PYTHON) is $$found: name another, as in make PYTHON=python3.12 run" >&2; exit 2; }
	@if command -v uv >/dev/null 2>&1; then \
		echo "Making the environment with uv."; \
		uv venv --quiet --allow-existing --no-project --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV) && \
		uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock && \
		uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
		echo "Making the environment with pip; this takes a minute."; \
		$(PYTHON) -m venv $(VENV) && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
	@touch $@

fmt: $(READY) ## put the code into its form
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

lint: $(READY) ## ruff, mypy (strict) and the arrows between the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What hangs for four minutes shows where it does, and fails by itself: its worker is replaced.
test: $(READY) ## all tests but the long ones; nothing leaves this machine
	$(BIN)/pytest -n $(WORKERS) --dist worksteal \
		-o faulthandler_timeout=240 -o faulthandler_exit_on_timeout=true

check: lint test ## what has to pass before a change lands

run: $(READY) ## start the gateway
	$(BIN)/talaria run

demo: $(READY) ## a short talk, offline, in a home that is thrown away
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && \
	printf '%s\n' 'Hello! Who are you?' 'remember that the spare key is with Ada' \
		'what do you remember?' '/status' | \
	env -i PATH="$$PATH" LANG=C.UTF-8 HOME="$$home" TALARIA_HOME="$$home" $(BIN)/talaria chat

bench: $(READY) ## measure against the emulators, beside bare bots (five minutes)
	$(BIN)/python -m bench

faults: $(READY) ## kills, cut connections and repeats, the long form (twenty minutes)
	TMPDIR=$${TMPDIR:-/tmp} $(BIN)/pytest tests/faults -m long -s

lock: $(READY) ## write requirements.lock anew (needs uv)
	@command -v uv >/dev/null 2>&1 || { echo "make lock needs uv on the PATH." >&2; exit 2; }
	uv pip compile --quiet --universal --python-version 3.11 --group dev --generate-hashes --no-header \
		--no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml -o requirements.lock

clean: ## remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
