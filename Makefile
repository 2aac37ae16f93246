# make demo      set up and see what a model looks like
# make test      set up, lint, and run every test
# make test-fast the same without tests that need system programs
# make bench     run the benchmarks
# make quality   compare the probabilities with other libraries' (hours; needs WEIGH_DATA)
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n auto -q -rs

PROGRAMS := postgresql libreoffice-calc-nogui openjdk-17-jre-headless

.PHONY: demo test test-fast system lint bench quality clean

demo: .venv/ready
	@$(BIN)/weigh demo
	@echo "to use it here: . .venv/bin/activate"

test: lint system
	$(PYTEST)

system:  # where we may; without them the tests that need them are skipped, and say so
	@if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	  dpkg -s $(PROGRAMS) > /dev/null 2>&1 || \
	  (apt-get update -qq && apt-get install -qq -y --no-install-recommends $(PROGRAMS) > /dev/null); \
	fi

test-fast: lint
	$(PYTEST) -m "not system"

lint: .venv/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/bench
	$(BIN)/python -m benchmarks.speed

quality: .venv/bench
	$(BIN)/python -m benchmarks.quality

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	@touch $@

.venv/test: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

clean:
	rm -rf .venv
