# `make demo` and `make test` work from a fresh clone; all they need is Python and the package index.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# One thread for each library: the speed measured is a core's, and two test runs do not fight for cores.
export OMP_NUM_THREADS := 1
# Modules are turned into bytecode once, not in each of the hundreds of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/stamp
# pyenv leaves a python3.11 that only fails; hence the trial.
PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
PYTEST := $(BIN)/python -m pytest
# Further arguments for pytest or a benchmark: make test ARGS="-k rules"
ARGS ?=

# Trainers that want an environment of their own, and the tests that need them.
RLLIB := .venv-rllib
RLLIB_TESTS := tests/tabletop/test_rllib.py tests/training/test_rllib.py tests/tabletop/test_executors.py \
	tests/agents/test_arena.py tests/tabletop/test_gymnasium.py
TRAINERS := .venv-trainers
TRAINERS_TESTS := tests/tabletop/test_openspiel.py tests/examples
PIP := -m pip install --quiet --no-compile --disable-pip-version-check

.PHONY: help demo test test-slow test-rllib test-trainers test-wheel check docs bench clean

help:
	@echo 'make demo       train a small agent, benchmark it, draw the 1-or-2 chart'
	@echo 'make test       the checks, then all tests but the slow ones'
	@echo 'make test-slow  the checks, then all tests'
	@echo 'make test-rllib, test-trainers  what needs RLlib; TorchRL and OpenSpiel: each makes its environment'
	@echo 'make test-wheel builds the package, installs it alone and runs the example of the README'
	@echo 'make check      style, types, import arrows'
	@echo 'make docs       the documentation site, into build/site; a warning is an error'
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

test-rllib: $(RLLIB)/stamp
	@$(RLLIB)/bin/python -m pytest $(RLLIB_TESTS) $(ARGS) || { echo 'make test-rllib: FAILED (see above)'; exit 1; }
	@echo 'make test-rllib: all passed'

test-trainers: $(TRAINERS)/stamp
	@$(TRAINERS)/bin/python -m pytest $(TRAINERS_TESTS) $(ARGS) || \
		{ echo 'make test-trainers: FAILED (see above)'; exit 1; }
	@echo 'make test-trainers: all passed'

# With the base dependencies alone, and from outside the sources; make test-wheel PYTHON=python3.13 tries another Python.
test-wheel: $(READY)
	@rm -rf build/wheel && mkdir -p build/wheel
	@$(BIN)/python $(PIP) build
	@$(BIN)/python -m build --outdir build/wheel . >build/wheel/log 2>&1 || { cat build/wheel/log; exit 1; }
	@$(PYTHON) -m venv --clear build/wheel/venv
	@build/wheel/venv/bin/python $(PIP) -c constraints.txt build/wheel/*.whl
	@cp README.md tests/check_wheel.py build/wheel/
	@cd build/wheel && venv/bin/python -I check_wheel.py
	@echo 'make test-wheel: the wheel works in an environment of its own'

# All three run, so that one round shows all there is to mend.
check: $(READY)
	@failed=(); \
	$(BIN)/ruff check --quiet . || failed+=(style); \
	$(BIN)/mypy --no-error-summary || failed+=(types); \
	arrows=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$arrows"; failed+=(arrows); }; \
	if (( $${#failed[@]} )); then echo "make check: FAILED: $${failed[*]}"; exit 1; fi; \
	echo 'make check: style, types and import arrows are good'

# Links and anchors are checked; nothing is fetched, now or by who reads it. MkDocs 2, of which Material warns, is excluded.
docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo 'make docs: build/site/index.html; with search: $(BIN)/python -m http.server -d build/site'

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

$(RLLIB)/stamp: pyproject.toml constraints-rllib.txt
	@echo 'making $(RLLIB): some minutes'
	@$(PYTHON) -m venv --clear $(RLLIB)
	@$(RLLIB)/bin/python $(PIP) "$$(grep '^torch==' constraints-rllib.txt)"
	@$(RLLIB)/bin/python $(PIP) -c constraints-rllib.txt -e '.[rllib]' pytest
	@touch $@

$(TRAINERS)/stamp: pyproject.toml constraints.txt
	@echo 'making $(TRAINERS): some minutes'
	@$(PYTHON) -m venv --clear $(TRAINERS)
	@$(TRAINERS)/bin/python $(PIP) "$$(grep '^torch==' constraints.txt)"
	@$(TRAINERS)/bin/python $(PIP) -c constraints.txt -e '.[trainers]' pytest
	@touch $@

clean:
	rm -rf $(VENV) $(RLLIB) $(TRAINERS) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
