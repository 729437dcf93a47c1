# Everything happens in a virtual environment of its own; nothing global is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/.peers
MITMPROXY := .venv-mitmproxy
FUZZ := .venv-fuzz

.PHONY: test demo lint docs bench mutants coverage differential client-matrix security fuzz soak load clean install

# Programs are started by the hundred, so they are compiled once, whatever the surroundings say.
unexport PYTHONDONTWRITEBYTECODE

test: lint $(PEERS)
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# What a user installs is enough for it; where everything is installed already, that is used.
demo: $(if $(wildcard $(STAMP)),$(STAMP),$(VENV)/.plain)
	$(BIN)/chaosproxy demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy

install: $(STAMP)

$(STAMP): pyproject.toml $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	@touch $(STAMP)

# Without them the comparisons with real proxies say what is missing, and are skipped.
$(PEERS): pyproject.toml $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]' || echo "the real proxies cannot be installed: they are left out"
	@touch $@

$(VENV)/.plain: pyproject.toml $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "chaosproxy needs Python 3.11 or newer; say which: make test PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

docs: install
	$(BIN)/python -m docs.generate
	$(BIN)/python -m docs.shipped
	$(BIN)/python -m docs.incident_table
	$(BIN)/python -m docs.packages
	$(BIN)/python -m docs.cases

# mitmproxy wants other versions of h11 and h2 than we do: it has an environment of its own, or is named as missing.
bench: install
	@test -x $(MITMPROXY)/bin/mitmdump || { $(PYTHON) -m venv $(MITMPROXY) && $(MITMPROXY)/bin/python -m pip install --quiet --disable-pip-version-check mitmproxy; } || echo "mitmproxy cannot be installed: it is left out"
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# A quarter of an hour on two processors; `docs/testing.md` says what it is for.
mutants: install
	$(BIN)/python -m tests.mutation $(MUTANTS_ARGS)

# Three to seven minutes; `docs/testing.md` says what it is for. Behind the packages' own tests stand those that alone
# reach some of their lines. In one process: what pytest loads with its plugins is counted too.
COVERED := chaosproxy/model/*,chaosproxy/framing/*,chaosproxy/chain/*,chaosproxy/faults/*,chaosproxy/scenario/*,chaosproxy/presets/*
COVERING := tests/model tests/framing tests/chain tests/faults tests/scenario tests/presets tests/judging tests/journal tests/testing tests/errors \
	tests/virtual/test_lane.py tests/virtual/test_expectations.py \
	tests/loopback/test_accept.py tests/loopback/test_lifetimes.py tests/loopback/test_tls_faults.py \
	tests/docs/test_fault_pages.py tests/docs/test_preset_pages.py

coverage: install
	$(BIN)/python -m coverage run -m pytest $(COVERING) $(PYTEST_ARGS)
	$(BIN)/python -m coverage report --show-missing --skip-covered --fail-under=100 --include='$(COVERED)'

# A minute: every real proxy beside its preset, and the page that shows it.
differential: install $(PEERS)
	$(BIN)/python -m tests.differential --write

# Ten minutes: what hostile peers and files were tried with, with the figures of the machine that runs it, and the page that shows it.
security: install $(PEERS)
	SECURITY_ROWS=write $(BIN)/python -m pytest tests/security $(PYTEST_ARGS)
	$(BIN)/python -m tests.security.framing
	$(BIN)/python -m tests.security.differential
	$(BIN)/python -m docs.security

# Bytes that are led by what they reach, a minute for each target; `docs/testing.md` says what it is for. atheris has an environment
# of its own: it is for Linux, and not for every Python.
fuzz:
	@test -x $(FUZZ)/bin/python || $(PYTHON) -m venv $(FUZZ)
	@$(FUZZ)/bin/python -c 'import atheris, chaosproxy' 2>/dev/null || $(FUZZ)/bin/python -m pip install --quiet --disable-pip-version-check -e . atheris || { echo "atheris cannot be installed: nothing can be fuzzed here"; exit 1; }
	$(FUZZ)/bin/python -m tests.fuzz $(FUZZ_ARGS)

# A million exchanges over sockets, some twelve minutes; thousands of streams, of connections and in a queue, five minutes. Each
# writes its rows of the page that `make security` makes.
soak: install
	$(BIN)/python -m tests.soak $(SOAK_ARGS)
	$(BIN)/python -m docs.security

load: install
	$(BIN)/python -m tests.soak.load $(LOAD_ARGS)
	$(BIN)/python -m docs.security

# The clients have an environment of their own, in .venv-clients; fifty minutes on two processors with
# `MATRIX_ARGS="--jobs 5"`. `--missing` goes on where a run was broken off, a row's name runs that row alone;
# `--suite slow` is ten minutes more, without time-outs.
client-matrix: install
	$(BIN)/python -m docs.matrix $(MATRIX_ARGS)

clean:
	rm -rf $(VENV) $(MITMPROXY) $(FUZZ) .fuzz .venv-clients .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis
