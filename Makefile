# `make demo` and `make test` work from a fresh clone; all they need is Python and the package index.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# One thread for each library: the speed measured is a core's, and two test runs do not fight for cores.
export OMP_NUM_THREADS := 1

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/stamp
# pyenv leaves a python3.11 that only fails; hence the trial.
PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
PYTEST := $(BIN)/python -m pytest
# Further arguments for pytest or a benchmark: make test ARGS="-k rules"
ARGS ?=

.PHONY: help demo test test-slow check bench clean

help:
	@echo 'make demo       train a small agent, benchmark it, draw the 1-or-2 chart'
	@echo 'make test       the checks, then all tests but the slow ones'
	@echo 'make test-slow  the checks, then all tests'
	@echo 'make check      style, types, import arrows'
	@echo 'make bench      decisions a second, and compile times'
	@echo 'make clean      remove the environment, the caches and the builds'

demo: $(READY)
	@$(BIN)/stinglab demo $(ARGS)

test: check
	@$(PYTEST) -m 'not slow' $(ARGS) || { echo 'make test: FAILED (see above)'; exit 1; }
	@echo 'make test: all passed; the slow tests were left out (make test-slow)'

test-slow: check
	@$(PYTEST) $(ARGS) || { echo 'make test-slow: FAILED (see above)'; exit 1; }
	@echo 'make test-slow: all passed'

# All three run, so that one round shows all there is to mend.
check: $(READY)
	@failed=(); \
	$(BIN)/ruff check --quiet . || failed+=(style); \
	$(BIN)/mypy --no-error-summary || failed+=(types); \
	arrows=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$arrows"; failed+=(arrows); }; \
	if (( $${#failed[@]} )); then echo "make check: FAILED: $${failed[*]}"; exit 1; fi; \
	echo 'make check: style, types and import arrows are good'

bench: $(READY)
	@$(BIN)/stinglab bench $(ARGS)

# The stamp is written last: an environment without one was interrupted and is made anew; one that is merely older than
# the lists of packages is brought up to date. Torch comes first and pinned, so that pip settles on one build of it.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || \
		{ echo 'stinglab needs Python 3.10 or newer; name one: make PYTHON=/path/to/python3'; exit 1; }
	@if [[ ! -e $@ ]]; then echo 'making $(VENV): about two minutes'; $(PYTHON) -m venv --clear $(VENV); fi
	@rm -f $@
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
