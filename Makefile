# Every target sets up what it needs (own virtual environment, idempotent) and then does its job.
PYTHON ?= python3
VENV ?= .venv
DATA ?= ../shared/data
BENCH ?=
SECONDS ?= 60
CPU ?= generic haswell skylake
SEEDS ?= 1000
DRAW ?= 1
PY := $(VENV)/bin/python
OLDEST := .venv-oldest
PIP := -m pip install --quiet --disable-pip-version-check
# Two workers share two cores: BLAS threads of their own would only fight.
PYTEST := OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help setup browser fresh-kernels test test-neural test-install test-cpu test-laws demo lint format bench fuzz test-oldest api docs clean

help:
	@echo "make test         set up .venv, compile the kernels, run every test and doctest"
	@echo "make test-neural  install torch (tests/neural.txt) and run the tests of networks, which make test skips without"
	@echo "make test-install a stranger's first hour: wheel, new environment, README, a dozen files through every verb"
	@echo "make test-cpu     laws, kernels and linalg as on other processors (CPU=\"$(CPU)\")"
	@echo "make test-laws    the laws with SEEDS=$(SEEDS) hypothesis seeds each and other draws of the rest (DRAW=$(DRAW))"
	@echo "make demo         set up .venv, find structure in data of this computer, leave one page"
	@echo "make lint         ruff (rules and format) and mypy"
	@echo "make format       let ruff rewrite the format"
	@echo "make bench        time and memory against peers (DATA=$(DATA), BENCH=\"--rows pca --quick\")"
	@echo "make fuzz         broken files for every reader (SECONDS=$(SECONDS) for each format)"
	@echo "make test-oldest  the tests with the oldest supported versions, in $(OLDEST)"
	@echo "make api          rewrite docs/api.txt"
	@echo "make docs         build the documentation site in docs/_build/html (a warning is an error)"
	@echo "make clean        remove environments and caches"

# One stamp an extra; a change of pyproject.toml installs anew, otherwise nothing happens.
$(VENV)/.has-%: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) $(PIP) --upgrade pip
	$(PY) $(PIP) --editable ".[$*]"
	touch $@

setup: $(VENV)/.has-test

# Reports are looked at in a real browser: Debian's, installed where we may; otherwise those tests say they were skipped.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; } || \
	  echo "no chromium on the path and none could be installed: browser tests will be skipped"

# Kernels take in the code of others, which numba does not watch: what is older than any kernel's source goes.
fresh-kernels:
	@newest=$$(ls -t src/unweave/kernels/*.py | head -1); \
	  find src/unweave/kernels/__pycache__ $(OLDEST)/numba .cache/cpu -name '*.nb[ic]' ! -newer $$newest -delete 2>/dev/null || true

test: $(VENV)/.has-test browser fresh-kernels
	$(PY) -m unweave.cli.main warmup
	$(PYTEST) $(PY) -m pytest -n 2 --dist loadgroup

# torch is large: only who works on networks, and the build, install it. The version is that of tests/neural.txt.
$(VENV)/.has-torch: $(VENV)/.has-test tests/neural.txt
	$(PY) $(PIP) --requirement tests/neural.txt
	touch $@

test-neural: $(VENV)/.has-torch fresh-kernels
	UNWEAVE_NEED_TORCH=1 $(PYTEST) $(PY) -m pytest -n 2 --dist loadgroup tests/predict tests/test_sklearn.py tests/test_readme.py tests/laws/test_schemes.py -k "neural or MLP or CNN or RNN or Autoencoder or network or left_out"

# Nothing but the package and what it asks for is there: what the tests' own environment has does not help.
test-install: $(VENV)/.has-test
	UNWEAVE_INSTALL=1 $(PYTEST) $(PY) -m pytest -q -rP tests/install

# Only the kernels that these tests call are compiled, once for each processor.
test-cpu: $(VENV)/.has-test fresh-kernels
	@for cpu in $(CPU); do \
	  $(PYTEST) $(PY) tools/other_cpu.py $$cpu $(PY) -m pytest -n 2 tests/laws tests/kernels tests/linalg || exit 1; \
	done

test-laws: $(VENV)/.has-test fresh-kernels
	UNWEAVE_SEEDS=$(SEEDS) UNWEAVE_DRAW=$(DRAW) $(PYTEST) $(PY) -m pytest -n 2 tests/laws

demo: $(VENV)/.has-test
	$(PY) examples/demo.py

lint: $(VENV)/.has-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(VENV)/.has-dev
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(VENV)/.has-bench fresh-kernels
	$(PY) -m unweave.cli.main warmup
	$(PY) -m benchmarks --data $(DATA) $(BENCH)

fuzz: $(VENV)/.has-test
	$(PY) tools/fuzz_readers.py --seconds $(SECONDS)

$(OLDEST)/.installed: pyproject.toml tests/oldest.txt
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python $(PIP) --editable ".[test]" --constraint tests/oldest.txt
	touch $@

# Its own cache: two versions of numba must not read each other's files.
test-oldest: $(OLDEST)/.installed fresh-kernels
	NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(OLDEST)/bin/python -m unweave.cli.main warmup
	NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(PYTEST) $(OLDEST)/bin/python -m pytest -n 2

api: $(VENV)/.has-test
	$(PY) tools/api.py

# Kernels first, so that no example waits for them; links between pages are checked, and nothing is loaded from the network.
docs: $(VENV)/.has-docs fresh-kernels
	$(PY) -m unweave.cli.main warmup
	$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf docs/_build docs/api docs/gallery
	rm -rf $(VENV) $(OLDEST) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
