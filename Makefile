# Needs python3 (3.11 or later) and make. `make demo` and `make test` set up everything else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
ONLY ?=

.PHONY: help setup setup-dev demo serve stop test bench lint lock

help:
	@echo "make demo    set up, fill the demo study, serve it, and print who can log in"
	@echo "make serve   set up and serve on http://localhost:$(PORT)"
	@echo "make test    set up and run the tests"
	@echo "make lint    style, types, imports, migrations, deployment checks"
	@echo "make bench   measured speed, one JSON object a line (ONLY=name for one)"
	@echo "make stop    stop the embedded PostgreSQL"
	@echo "make lock    resolve the dependencies again (needs uv)"

setup: $(VENV)/.runtime
setup-dev: $(VENV)/.dev

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; this is " + sys.version.split()[0] + ". Try make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

demo: setup
	$(BIN)/python manage.py migrate -v0
	$(BIN)/python manage.py demo
	$(BIN)/python manage.py serve --port $(PORT)

serve: setup
	$(BIN)/python manage.py migrate -v0
	$(BIN)/python manage.py serve --port $(PORT)

stop: setup
	$(BIN)/python manage.py postgres stop

test: setup-dev
	$(BIN)/python -m pytest $(ARGS)

bench: setup-dev
	@$(BIN)/python -m bench $(ONLY)

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy lseval annotation agreement
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	LSEVAL_PRODUCTION=1 LSEVAL_ALLOWED_HOSTS=lseval.example \
	LSEVAL_SECRET_KEY=$$($(BIN)/python -c "import secrets; print(secrets.token_urlsafe(60))") \
	$(BIN)/python manage.py check --deploy --fail-level WARNING

lock:
	uv pip compile pyproject.toml --generate-hashes --no-header --no-annotate --no-emit-index-url --universal --python-version 3.11 -o requirements.lock
	uv pip compile pyproject.toml --extra dev -c requirements.lock --generate-hashes --no-header --no-annotate --no-emit-index-url --universal --python-version 3.11 -o requirements-dev.lock
