# make demo      set up and see what a model looks like
# make test      set up, lint, and run every test
# make test-fast the same without tests that need system programs
# make coverage  the fast tests, and the share of the lines that they run, by module
# make test-oldest the tests with the oldest dependencies that are declared (TESTS=tests/engines/test_frames.py for some)
# make test-mlflow the example of MLflow, which takes an environment of its own
# make test-kernels the numerical tests with each kernel of linear algebra that the processor can run
# make fuzz      20,000 model files, 5,000 CSV files and 10,000 requests that were changed at random
# make docs      build the documentation site into build/docs (warnings are errors)
# make wheel     build wheel and sdist into dist, and run the fast tests on each Python without extras (PYTHONS=python3.12)
# make bench     speed, memory, growth and accuracy beside rivals
# make bench-rivals an environment for each rival (make bench says which are missing)
# make bench-scale files larger than memory, beside DuckDB (50 million rows; ROWS=2e6 for a try)
# make pictures  draw the pictures of docs/plots, docs/pictures and docs/tutorial
# make quality   compare the probabilities with other libraries' (hours; needs WEIGH_DATA)
# Tests start hundreds of processes: without bytecode each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= python3
OLD_PYTHON ?= python3.11
BIN := .venv/bin
BENCH := .venv-bench/bin
PYTEST := $(BIN)/python -m pytest -n auto -q -rs
PROGRAMS := chromium=chromium chromedriver=chromium-driver npm=npm java=openjdk-17-jre-headless psql=postgresql \
  soffice=libreoffice-calc-nogui
# OpenBLAS adds in another order with each kernel. The tests whose numbers come from its sums:
NUMERICAL := tests/learners tests/theorems/test_metrics.py tests/theorems/test_newton.py \
  tests/engines/test_passes.py tests/engines/test_scan.py tests/engines/test_spark.py
RUNNERS := pytest pytest-xdist hypothesis jsonschema
# The first Python of each version that runs: a shim of pyenv fails where its version is not chosen.
PYTHONS ?= $(foreach v,3.11 3.12 3.13 3.14,$(shell for python in python$(v) ~/.pyenv/versions/$(v).*/bin/python$(v); do \
  "$$python" --version >/dev/null 2>&1 && echo "$$python" && break; done))
KERNELS := $(shell grep -qw avx512f /proc/cpuinfo && echo SkylakeX) $(shell grep -qw avx2 /proc/cpuinfo && echo Haswell) \
  $(shell grep -qw avx /proc/cpuinfo && echo Sandybridge) Nehalem Prescott

.PHONY: demo test test-fast coverage test-oldest test-mlflow test-kernels fuzz lint tests warm docs wheel bench bench-rivals bench-scale pictures quality clean

ROWS ?= 5e7

demo:
	@test -e .venv/ready || echo "installing into .venv: about two minutes and 1.3 GB"
	@$(MAKE) --silent .venv/ready
	@$(BIN)/weigh demo
	@echo "to use it here: . .venv/bin/activate"

# Linting takes what the tests leave of the cores. It says at the end, too, that it failed.
test: .venv/system
	$(MAKE) --jobs=2 lint tests

tests: warm
	$(PYTEST)

test-fast: lint
	$(PYTEST) -m "not system"

# Lines of compiled kernels and of commands that tests start as processes count as not run.
coverage: .venv/test
	$(PYTEST) -m "not system" --cov=weigh --cov-report=term:skip-covered $(TESTS)

test-kernels: .venv/system
	for kernel in $(KERNELS); do echo "OPENBLAS_CORETYPE=$$kernel"; \
	  OPENBLAS_CORETYPE=$$kernel $(PYTEST) $(NUMERICAL) || exit 1; done

fuzz: .venv/test
	WEIGH_FUZZ=100 $(BIN)/python -m pytest -q -s tests/system/test_fuzz.py

test-oldest: .venv-oldest/ready
	.venv-oldest/bin/python -m pytest -n auto -q -rs -m "not system" $(TESTS)

test-mlflow: .venv-mlflow/ready
	.venv-mlflow/bin/python -m pytest -q -rs tests/system/test_mlflow.py

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compiles what each process of the tests would compile.
warm: .venv/test
	$(BIN)/python -m tests.warm

# The site must work without a network: no page may load anything from another address.
docs: .venv/docs
	rm -rf build/docs docs/gallery docs/generated
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs build/docs
	@! grep -rnoE --include='*.html' '<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//[^"]*' build/docs
	@echo "open build/docs/index.html"

# The tests of the sdist run the wheel. Files that need an extra are left out, each by name.
wheel:
	rm -rf dist build/wheel
	$(PYTHON) -m venv build/wheel/tools
	build/wheel/tools/bin/python -m pip install --quiet build
	build/wheel/tools/bin/python -m build --outdir dist .
	mkdir build/wheel/source && tar -xzf dist/*.tar.gz -C build/wheel/source --strip-components 1
	for python in $(PYTHONS); do echo "$$python"; home="$(CURDIR)/build/wheel/$$(basename $$python)"; \
	  $$python -m venv "$$home" && "$$home/bin/python" -m pip install --quiet dist/*.whl $(RUNNERS) && \
	  "$$home/bin/weigh" demo && (cd build/wheel/source && \
	  "$$home/bin/python" -m pytest -n auto -q -rs -m "not system" $(or $(TESTS),tests)) || exit 1; done

# Every table of docs/benchmarks.md in one run, which wants an idle machine for most of an hour.
bench: bench-rivals
	$(BENCH)/python -m benchmarks.speed
	$(MAKE) bench-scale
	$(BENCH)/python -m benchmarks.rivals.spark
	$(BENCH)/python -m benchmarks.contest

bench-rivals: .venv-bench/ready
	$(BENCH)/python -m benchmarks.rivals.environments

bench-scale: .venv-bench/ready
	$(BENCH)/python -m benchmarks.scale --rows $(ROWS)

pictures: .venv/system
	$(BIN)/python -m benchmarks.gallery
	$(BIN)/python -m benchmarks.pictures
	$(BIN)/python -m benchmarks.tutorial

quality: .venv-bench/ready
	$(BENCH)/python -m benchmarks.quality

# A pip before 25.1 knows no groups of dependencies: --upgrade-deps.
.venv/ready: pyproject.toml
	$(PYTHON) -m venv --upgrade-deps .venv
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	@touch $@

.venv/test: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[all,spark,spss]' --group test
	@touch $@

# Programs that tests need, each with the Debian package that it comes from, installed where we may.
# Without them the tests marked `system` are skipped, and say why.
.venv/system: .venv/test
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  for pair in $(PROGRAMS); do command -v $${pair%%=*} >/dev/null || lacking="$$lacking $${pair#*=}"; done; \
	  if [ -n "$$lacking" ]; then \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends $$lacking; fi; fi
	@if command -v npm >/dev/null; then \
	  npm install --silent --no-fund --no-audit --no-save --prefix .venv axe-core@4; fi
	@touch $@

.venv-oldest/ready: pyproject.toml tests/oldest.py
	rm -rf .venv-oldest
	$(OLD_PYTHON) -m venv --upgrade-deps .venv-oldest
	$(OLD_PYTHON) tests/oldest.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --constraint .venv-oldest/constraints.txt --editable '.[all,spark]' --group tools
	@touch $@

# MLflow allows no pyarrow of this year, so it would lower that of the other tests.
.venv-mlflow/ready: pyproject.toml
	$(PYTHON) -m venv .venv-mlflow
	.venv-mlflow/bin/python -m pip install --quiet --editable '.[pandas,polars]' 'mlflow>=3.4' skops pytest pytest-xdist hypothesis
	@touch $@

# What tests and site need, in one go.
.venv/all: pyproject.toml
	$(PYTHON) -m venv --upgrade-deps .venv
	$(BIN)/python -m pip install --quiet --editable '.[all,spark,spss]' --group test --group docs
	@touch .venv/ready && touch .venv/test .venv/docs $@

.venv/docs: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group docs
	@touch $@

# Apart from the tests: a rival asks for an older pandas.
.venv-bench/ready: pyproject.toml
	$(PYTHON) -m venv --upgrade-deps .venv-bench
	$(BENCH)/python -m pip install --quiet --editable '.[all,spark]' --group bench
	@touch $@

clean:
	rm -rf .venv .venv-bench .venv-oldest .rivals
