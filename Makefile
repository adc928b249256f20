# Every command of this project, the same by hand and in CI. The work is done by
# the scripts, which can be called one by one; all of them look first at what's
# there, so that a second call takes a second or two.

SHELL := /bin/bash
.NOTPARALLEL:
.DEFAULT_GOAL := help

PYTHON := .venv/bin/python
COMPILE := $(PYTHON) -m piptools compile --quiet --generate-hashes --strip-extras \
	--no-emit-find-links --no-emit-index-url --no-emit-trusted-host $(if $(UPGRADE),--upgrade)

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z][a-z-]*):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: demo
demo: venv engine images ## set everything up, roll the sample stack under load, report (the main job)
	@scripts/demo

.PHONY: test
test: test-fast engine images ## all fast tests, then one live run per mechanism on a real engine
	@$(PYTHON) -m pytest tests/live -m "live and not repeats"

.PHONY: test-fast
test-fast: venv-dev ## the tests that need no engine, in about a minute
	@scripts/test-fast

.PHONY: live
live: venv-dev engine images ## every live test, and all long repeats
	@$(PYTHON) -m pytest --numprocesses=auto --ignore=tests/live -m repeats
	@$(PYTHON) -m pytest tests/live -m live

.PHONY: bench
bench: venv ## how fast it is, beside others and against what's asked for (ONLY="http1_speed schedule")
	@scripts/bench-tools
	@$(PYTHON) -m bench $(ONLY)

.PHONY: check
check: venv-dev ## format, lint, types, import contracts; no engine needed
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy --strict swarmtest
	@.venv/bin/lint-imports --no-logo

.PHONY: venv venv-dev
venv: ## .venv with swarmtest, as locked (venv-dev: with the tools for check and test)
	@scripts/venv
venv-dev:
	@scripts/venv dev

.PHONY: engine
engine: ## a Docker engine in swarm mode: uses, mends, starts or installs one
	@scripts/engine

.PHONY: images
images: venv engine ## the images of the sample stacks, with or without a registry
	@scripts/images

.PHONY: lock
lock: venv-dev ## pin the dependencies again (UPGRADE=1: at their newest)
	@$(COMPILE) --output-file=requirements.lock pyproject.toml
	@$(COMPILE) --allow-unsafe --output-file=requirements-dev.lock requirements-dev.in
	@cd stacks/api && $(subst .venv,../../.venv,$(COMPILE)) --output-file=requirements.lock requirements.in

.PHONY: clean
clean: ## remove .venv, build results and caches; keeps runs/, images and the engine
	@rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -not -path './runs/*' -exec rm -rf {} +
