# Two commands are enough: `make demo` and `make test`. Both set up what they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
SCALE  ?= demo
# processes that share the test files; the tests start processes of their own as well
TESTERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install demo test test-faults test-report test-cluster test-mutants lint docs site test-site readme plan lock clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

install: $(STAMP)  ## the environment alone: .venv from requirements.lock (about 6 GB with CUDA libraries)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "clrepro needs Python 3.11 or newer; '$(PYTHON)' is older. Try: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "This Python cannot make virtual environments. On Debian and Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: install  ## every table, figure and claim at demo scale, in one report (embedded data, CPU, minutes)
	@PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --cores all
	@$(BIN)/clrepro show

test: install  ## the tests, an end-to-end run included
	@PATH="$(CURDIR)/$(BIN):$$PATH" python -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder

test-faults: install  ## kill every stage at 20 random moments, and the whole workflow; compare the ends
	@PATH="$(CURDIR)/$(BIN):$$PATH" python -m pytest tests/faults/long_faults.py

test-report: $(VENV)/browser  ## the demo's report in a real browser (needs Chromium or Chrome)
	$(VENV)/browser/bin/python tests/browser/check_report.py results/demo/report.html

test-cluster: install  ## the workflow on a real SLURM, started here for it (root on Debian or Ubuntu; minutes)
	@PATH="$(CURDIR)/$(BIN):$$PATH" python tests/cluster/check_slurm.py

test-mutants: install  ## mutation testing: faults in the modules that decide numbers (docs/testing.md)
	@$(BIN)/python tests/mutants/run.py

$(VENV)/browser: tests/browser/requirements.lock
	rm -rf $@
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --require-hashes -r tests/browser/requirements.lock

lint: install  ## ruff and snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --lint

docs: install  ## regenerate docs/objectives/, docs/config.md and the JSON schema from the code
	$(BIN)/clrepro config docs
	$(BIN)/clrepro objectives --docs

site: $(VENV)/site  ## the documentation as a site, in site/ (any link or page that is wrong ends it)
	@NO_MKDOCS_2_WARNING=1 $(VENV)/site/bin/mkdocs build --strict --quiet
	@echo "the site: site/index.html; to read it while you write: $(VENV)/site/bin/mkdocs serve"

test-site: site $(VENV)/browser  ## the site in a real browser (needs Chromium or Chrome)
	$(VENV)/browser/bin/python tests/browser/check_site.py site

$(VENV)/site: docs/requirements.lock
	rm -rf $@
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --require-hashes -r docs/requirements.lock

readme: install $(VENV)/browser  ## rewrite README.md's numbers and pictures from results/demo
	@$(BIN)/python -m clrepro.report.readme
	@pictures=$$(mktemp -d) \
	  && $(VENV)/browser/bin/python tests/browser/check_report.py results/demo/report.html --screenshots $$pictures \
	  && cp $$pictures/desktop-light-opening.png docs/images/report.png \
	  && cp $$pictures/desktop-light-cell.png docs/images/report-cell.png; rm -r $$pictures

plan: install  ## what a scale would run, and what it costs: make plan SCALE=paper
	@$(BIN)/clrepro plan --scale $(SCALE)

lock: install  ## resolve requirements.lock anew, for Linux and macOS at once
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra workflow --extra cluster --extra dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --quiet --output-file requirements.lock
	$(BIN)/uv pip compile tests/browser/requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --quiet --output-file tests/browser/requirements.lock
	$(BIN)/uv pip compile docs/requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --quiet --output-file docs/requirements.lock

clean:  ## remove results, training state, logs and the built site (keeps .venv, downloaded data and results/reference)
	find results -mindepth 1 -maxdepth 1 ! -name reference -exec rm -rf {} + 2>/dev/null || true
	rm -rf state logs site .snakemake
