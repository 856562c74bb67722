# Every target makes the environment it needs. A fresh machine needs only Python 3.11+, git and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# `make run` installs what the gateway runs with; every other target adds the development tools.
RUNTIME := $(VENV)/ready-run
READY := $(VENV)/ready
# A test that hangs for four minutes prints its stack and ends its part, or its worker.
PYTEST := $(BIN)/pytest -q -o faulthandler_timeout=240 -o faulthandler_exit_on_timeout=true
# `make test` runs in parts. Each collects its own folders only; workers of pytest-xdist collect all.
# Tests wait more than they compute: five parts keep two cores busy.
IGNORE = $(addprefix --ignore=tests/,$(1))
TEST_1 := tests/architecture tests/integration/interfaces tests/integration/turns
TEST_2 := tests/integration $(call IGNORE,integration/interfaces integration/turns)
TEST_3 := tests/agent_core tests/gateway $(call IGNORE,agent_core/execution agent_core/tools)
TEST_4 := tests/agent_core/execution tests/agent_core/tools
TEST_5 := tests $(call IGNORE,agent_core architecture gateway integration)
LOOK := .pytest_cache/parts
# Folders without tests of a whole gateway; the marker leaves out those that start a process.
FAST_1 := tests/adapters tests/gateway
FAST_2 := tests/agent_core/[a-r]*/ tests/architecture tests/tools
FAST_3 := tests/agent_core/[s-z]*
CLIENTS := $(HOME)/.cache/talaria-clients
VOICE := $(HOME)/.cache/talaria-voice
RL := $(HOME)/.cache/talaria-rl
LETTA := $(HOME)/.cache/talaria-letta
# Shows the output of one part after the other, where make can (from 4.0).
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
export UV_PYTHON_DOWNLOADS := never
# Without its bytecode, pytest compiles several hundred modules anew in each worker.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
# The model of 1.1 GB and its server are made once, which takes some 15 minutes.
MODEL_DIR ?= $(HOME)/.cache/talaria-local-model
MODEL_PORT ?= 18080
.PHONY: help setup fmt lint test test-1 test-2 test-3 test-4 test-5 test-thorough thorough-1 test-fast fast-1 fast-2 fast-3 check run demo bench try-clients try-letta try-model try-rl try-voice first-hour faults docs hooks lock release-check sbom clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

try-model: $(READY) ## Try everyday requests with a real small model; never part of CI
	@bash tools/local_model.sh setup $(MODEL_DIR)
	@set -e; eval "$$(bash tools/local_model.sh start $(MODEL_DIR) $(MODEL_PORT))"; \
	trap 'bash tools/local_model.sh stop $(MODEL_DIR)' EXIT; $(BIN)/python -m tools.try_model $(TRY)

setup: $(READY) ## Install the development environment with every extra into .venv

# A lock is whole, so pip resolves nothing: its older versions warn of extras that are spelled in two ways.
# Usage: $(call install,LOCK). The caller touches its stamp last, so an interrupted install runs again.
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	found=$$($(PYTHON) --version 2>/dev/null) || found="not installed"; \
	echo "Talaria needs Python 3.11 or newer, but $(PYTHON) is $$found. Name another one, for example: make PYTHON=python3.12 run" >&2; exit 2; }
@if command -v uv >/dev/null 2>&1; then \
	echo "Installing into $(VENV) with uv."; \
	uv venv --quiet --allow-existing --no-project --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV) && \
	uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r $(1) && \
	uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
else \
	echo "Installing into $(VENV) with pip. This takes one to five minutes."; \
	$(PYTHON) -m venv $(VENV) && \
	$(BIN)/python tools/install_lock.py $(1) && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
fi
endef

$(RUNTIME): requirements.lock pyproject.toml
	$(call install,requirements.lock)
	@touch $@

$(READY): requirements-dev.lock pyproject.toml
	$(call install,requirements-dev.lock)
	@touch $(RUNTIME) $@

fmt: $(READY) ## Fix lint findings and format the code
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

lint: $(READY) ## Run the linters, the type checker and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Each part keeps what failed in it for the second look. Usage: $(call part,NAME,ARGUMENTS)
define part
@mkdir -p $(LOOK)/$(1); $(PYTEST) -o cache_dir=$(LOOK)/$(1) $(2) || { echo $$? >$(LOOK)/$(1)/status; exit 1; }
endef
# Runs what failed, at most ten tests, once more alone; `make` fails only if a test fails twice.
SECOND_LOOK = $(BIN)/python -m tools.second_look $(LOOK) $(PYTEST) -p no:cacheprovider

test: $(READY) ## Run the tests, except the thorough ones; nothing leaves this machine
	@rm -rf $(LOOK); $(MAKE) -j5 -k --no-print-directory test-1 test-2 test-3 test-4 test-5 || \
		$(SECOND_LOOK) --hypothesis-profile=few

test-1 test-2 test-3 test-4 test-5: test-%:
	$(call part,$*,-m "not long and not thorough" --hypothesis-profile=few $(TEST_$*))

test-thorough: $(READY) ## Run the others: kills, containers, a browser, further rows (CI does)
	@rm -rf $(LOOK); $(MAKE) --no-print-directory thorough-1 || $(SECOND_LOOK)

# These compute more than they wait.
thorough-1:
	$(call part,thorough,-n 2 --dist worksteal -m "(thorough or examples) and not long")

test-fast: $(READY) ## Run the quick tests: no process, no gateway, no long search
	@$(MAKE) -j3 -k $(SYNC) --no-print-directory fast-1 fast-2 fast-3

fast-1 fast-2 fast-3: fast-%:
	@$(BIN)/pytest -q -p no:cacheprovider -m "not long and not thorough and not process and not slow" $(FAST_$*)

check: lint test ## Run what must pass before a commit

run: $(RUNTIME) ## Run the gateway
	$(BIN)/talaria run

demo: $(RUNTIME) ## Show a short offline conversation in a temporary home
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && \
	echo "A conversation with the stand-in, which needs no model, key or network. It takes seconds." && \
	echo "These messages are sent, and their answers follow:" && \
	printf '%s\n' 'Hello! Who are you?' 'remember that the spare key is with Ada' \
		'what do you remember?' '/status' | tee /dev/stderr | \
	env -i PATH="$$PATH" LANG=C.UTF-8 HOME="$$home" TALARIA_HOME="$$home" \
	TALARIA_MODEL__PROVIDER=scripted $(BIN)/talaria chat

bench: $(READY) ## Measure against emulators, next to bare bots (five minutes)
	$(BIN)/python -m bench

try-clients: $(READY) ## Try the API with seven client libraries (downloads them; needs npm)
	@mkdir -p $(CLIENTS)/js && $(BIN)/python -m venv $(CLIENTS)/py
	$(CLIENTS)/py/bin/pip install -q -U openai litellm langchain langchain-openai 'pydantic-ai-slim[openai]' openai-agents
	cd $(CLIENTS)/js && npm install --no-audit --no-fund --silent openai ai @ai-sdk/openai @ai-sdk/openai-compatible zod
	CLIENT_LIBRARIES=$(CLIENTS) $(BIN)/pytest -m thorough tests/integration/interfaces/test_api_libraries.py

try-letta: $(READY) ## Try agent files with Letta's own library (downloads it)
	$(BIN)/python -m venv $(LETTA)
	$(LETTA)/bin/pip install -q -U pip
	$(LETTA)/bin/pip install -q 'letta[sqlite]==0.16.8' asyncpg pgvector psycopg2-binary pg8000
	LETTA_PYTHON=$(LETTA)/bin/python $(BIN)/pytest -m thorough tests/agent_core/agent/named/test_letta_library.py

try-voice: $(READY) ## Try the extra `voice` with its real models, in an environment of its own
	$(BIN)/python -m venv $(VOICE)
	$(VOICE)/bin/pip install --quiet --require-hashes -r requirements-dev.lock -r requirements-voice.lock
	$(VOICE)/bin/pip install --quiet --no-deps --no-build-isolation -e .
	$(VOICE)/bin/pytest -m "not long" -rs tests/gateway/media/voices

try-rl: ## Try the extra `rl`: both environments through verifiers, in an environment of its own
	$(PYTHON) -m venv $(RL)
	$(RL)/bin/pip install --quiet --no-deps --require-hashes -r requirements-rl.lock
	$(RL)/bin/pip install --quiet --no-deps --no-build-isolation -e .
	$(RL)/bin/python -m tools.try_rl

first-hour: $(READY) ## Make the page of the first hour again (needs Chromium, a font with emoji)
	$(BIN)/python -m tools.first_hour

faults: $(READY) ## Run the long tests: kills, cut connections, examples (an hour)
	TMPDIR=$${TMPDIR:-/tmp} $(BIN)/pytest tests -m long -s
	$(BIN)/pytest tests/adapters tests/agent_core tests/gateway -m examples --hypothesis-profile=long

# MkDocs itself checks links and anchors between pages; the settings are in mkdocs.yml.
docs: $(READY) ## Build the documentation into site/ and check its links
	@test -f mkdocs.yml || { echo "mkdocs.yml is missing, so there are no docs to build." >&2; exit 2; }
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean

hooks: ## Install the commit message check into this checkout
	git config core.hooksPath .githooks

# The development lock is resolved first and holds the runtime lock to its versions.
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --no-emit-index-url --no-emit-find-links
lock: ## Update the four lock files (needs uv)
	@command -v uv >/dev/null 2>&1 || { echo "make lock needs uv. Install it, for example: pip install uv" >&2; exit 2; }
	$(COMPILE) pyproject.toml --extra almanac --extra backup --extra calendars --extra charts --extra colours --extra mcp --extra openai --extra otel --extra uvloop --extra web --group dev --group docs --group release -o requirements-dev.lock
	$(COMPILE) pyproject.toml --extra almanac --extra backup --extra calendars --extra charts --extra colours --extra mcp --extra openai --extra otel --extra uvloop --extra web --group build -c requirements-dev.lock -o requirements.lock
	$(COMPILE) pyproject.toml --extra openai --extra voice --group build -c requirements-dev.lock -o requirements-voice.lock
	@sed -n '/^[a-z0-9-]*==/{s/ \\$$//;p;}' requirements-dev.lock | grep -vE '^(openai|mcp|mcp-types)==' > .rl-constraints
	$(COMPILE) pyproject.toml --extra rl --group build -c .rl-constraints -o requirements-rl.lock; rm .rl-constraints

release-check: $(RUNTIME) ## Build the wheel, install it in a clean environment, and start it
	$(BIN)/python tools/release_check.py

sbom: $(READY) ## List the packages of the wheel in dist/ and of its image, with licences
	@tools/sbom.sh

clean: ## Remove the environment, build results and caches
	rm -rf $(VENV) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
