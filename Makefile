# Everything happens in a virtual environment of its own; nothing global is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: test demo lint docs bench clean install

test: lint
	$(BIN)/python -m pytest $(PYTEST_ARGS)

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
	$(BIN)/python -m docs.packages

bench: install
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
