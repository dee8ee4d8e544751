# Everything a person does here, by name. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_FOR_TESTS := $(VENV)/.ready-for-tests
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Judges of the dashboard's accessibility and of clients in TypeScript; without npm their tests are skipped.
NPM_PACKAGES := axe-core@4.14.1 openapi-typescript@7.13.0 typescript@5.9.3 @types/node@22.20.5 standardwebhooks@1.0.0 @trustnxt/c2pa-ts@0.9.4
CLIENT_GENERATOR := openapi-python-client==0.29.1# in an environment of its own: it pins what we use in other versions
DRAWING := tests/engines/warp tests/engines/garment tests/engines/test_any_picture.py \
  tests/cli/test_engines.py tests/cli/test_render.py
PICTURES := tests/engines tests/imaging tests/bench tests/training tests/worker_gpu tests/docs
SERVICE := tests/api tests/domain
STACKS := tests/stack tests/e2e tests/integration
REPORTS := out/tests
# A library that computes in several threads has them spin while they wait, on cores that others need.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest
.DEFAULT_GOAL := help
.PHONY: help env test-env demo up down status test test-drawing test-pictures test-service test-stacks test-workflows lint types imports fix docs check bench bench-backfill bench-dashboard bench-growth bench-peers faults soak machines drill hostile proof screenshots gallery bench-engine secrets clean

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

env: $(READY) ## Virtual environment in .venv, with the CPU engine's model files in .models

$(READY): pyproject.toml tryon_client/pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --editable tryon_client --editable .
	$(BIN)/tryon engines fetch warp
	touch $@

test-env: $(READY_FOR_TESTS) ## The same with all that the tests need: torch and the tools of development

$(READY_FOR_TESTS): $(READY)
	$(INSTALL) --editable ".[gpu]" --group dev
	-npm install --silent --no-audit --no-fund --no-save --prefix $(VENV)/npm $(NPM_PACKAGES) > /dev/null
	test -x $(VENV)/generators/bin/python || $(PYTHON) -m venv $(VENV)/generators
	$(VENV)/generators/bin/python -m pip install --quiet --disable-pip-version-check $(CLIENT_GENERATOR)
	touch $@

demo: env ## Try a garment on: [PERSON=photo.jpg] [GARMENT="a.png b.png"] [CATEGORY="upper_body lower_body"] [OUT=x.jpg] [ENGINE=fashn [YES=1]]
	$(BIN)/tryon demo $(if $(PERSON),--person "$(PERSON)") $(foreach name,$(GARMENT),--garment "$(name)") \
	  $(foreach name,$(CATEGORY),--category $(name)) $(if $(OUT),--out "$(OUT)") \
	  $(if $(ENGINE),--engine $(ENGINE)) $(if $(YES),--yes)

up: env ## Run the whole service here until Ctrl-C
	$(BIN)/tryon up

down: ## Stop the service that `make demo` left running
	$(BIN)/tryon down

status: ## How each part of the service is
	$(BIN)/tryon status

# Five parts on two cores: three that start processes and wait for them, and two that only compute and step back behind
# them, so that they fill the pauses.
test: test-env ## The whole suite; ARGS="tests/api -k poll" for a part of it
ifeq ($(ARGS),)
	@rm -rf $(REPORTS); failed=0; \
	$(MAKE) --no-print-directory --jobs=5 --output-sync=line --keep-going \
	  test-stacks test-service test-workflows test-drawing test-pictures || failed=1; \
	echo "The slowest tests:"; $(BIN)/python -m tests.slowest $(REPORTS); exit $$failed
else
	$(PYTEST) $(ARGS)
endif

test-drawing: test-env ## The embedded engine
	nice -n 10 env $(PYTEST) --junitxml=$(REPORTS)/drawing.xml $(DRAWING)

test-pictures: test-env ## Other engines, pictures, measurements
	nice -n 10 env $(PYTEST) --junitxml=$(REPORTS)/pictures.xml $(PICTURES) $(foreach part,$(DRAWING),--ignore=$(part))

test-service: test-env ## The API, the dashboard and the rules behind them
	$(PYTEST) --junitxml=$(REPORTS)/service.xml $(SERVICE)

test-stacks: test-env ## Whole stacks: their command line, their faults, a browser before them
	$(PYTEST) --junitxml=$(REPORTS)/stacks.xml $(STACKS)

test-workflows: test-env ## Everything else: workflows, activities, the command line, the client, logs and metrics
	$(PYTEST) --junitxml=$(REPORTS)/workflows.xml tests $(foreach part,$(DRAWING) $(PICTURES) $(SERVICE) $(STACKS),--ignore=$(part))

lint: test-env ## Style and formatting
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: test-env ## Static types
	$(BIN)/mypy

imports: test-env ## Who may import whom
	$(BIN)/lint-imports --no-cache

fix: test-env ## Mend what the linter can mend
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

docs: test-env ## Write the generated pages again
	$(BIN)/python docs/generate.py

check: lint types imports test ## Everything that CI runs

bench: test-env ## Measure; prints a table and writes out/bench.json
	$(BIN)/python -m bench.service

bench-backfill: test-env ## A backfill of 2,000 items while parts are killed: [ITEMS=200]; takes most of an hour
	$(BIN)/python -m bench.backfill $(if $(ITEMS),--items $(ITEMS))

bench-dashboard: test-env ## How quickly the pages of a busy account come, and how large they are: [JOBS=10000] [PRODUCTS=1000]
	$(BIN)/python -m bench.dashboard $(if $(JOBS),--jobs $(JOBS)) $(if $(PRODUCTS),--products $(PRODUCTS))

bench-peers: test-env ## The same job here, on Celery and as a bare loop, side by side: [QUICK=1]; takes 12 minutes
	$(BIN)/python -m bench.peers $(if $(QUICK),--quick)

faults: test-env ## Break the service on purpose, on both databases, with jobs in flight: [ONLY=text] [JOBS=20] [MINUTES=of each] [SEED=]; takes an hour and a half
	$(BIN)/python -m tests.faults $(if $(ONLY),--only "$(ONLY)") $(if $(JOBS),--jobs $(JOBS)) \
	  $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

soak: test-env ## Mixed use while something is killed each minute: [MINUTES=120]
	$(BIN)/python -m tests.faults.soak $(if $(MINUTES),--minutes $(MINUTES))

drill: test-env ## A backup under load, everything destroyed, the backup restored: [DATABASE=postgresql] [JOBS=20]; needs PostgreSQL and aws; takes ten minutes
	$(BIN)/python -m tests.faults.drill $(if $(DATABASE),--database $(DATABASE)) $(if $(JOBS),--jobs $(JOBS))

machines: test-env ## Several APIs and workers behind haproxy: money, rates, rolling restarts, jobs a second: [TRIAL=rolling]; needs PostgreSQL and haproxy; takes fifteen minutes
	$(BIN)/python -m tests.faults.machines $(if $(TRIAL),--only $(TRIAL))

hostile: test-env ## Damaged pictures, bodies and steps of the money machine: [DAMAGED=100000] [BODIES=100000] [STEPS=1000000]; takes four hours
	$(BIN)/python -m tests.faults.hostile --pictures $(or $(DAMAGED),100000) --guided $(or $(DAMAGED),100000) \
	  --bodies $(or $(BODIES),100000) --steps $(or $(STEPS),1000000)

proof: test-env ## docs/proof.md, with further runs: [RUNS="out/faults.json out/soak.json"]
	$(BIN)/python -m tests.faults.page $(RUNS)

screenshots: test-env ## A picture of every page of the dashboard, light and dark, desktop and phone, in out/screens
	$(BIN)/python -m tests.e2e.screens

bench-growth: env ## What things cost as work grows: rows, items of backfills, workers (40 minutes); draws the curves
	$(INSTALL) --group curves
	$(BIN)/python -m bench.growth
	$(BIN)/python -m bench.growth --draw docs/images

gallery: env ## Everybody in everything, on one page: FOLDER=pictures (with person/ upper/ lower/ full/) [OUT=out/gallery]
	$(BIN)/python -m bench.engine.gallery $(FOLDER) $(if $(OUT),--out $(OUT))

bench-engine: test-env ## How true and how fast the CPU engine is: FOLDER=pictures [ONLY=text] [SAMPLE=every n-th pair] [OUT=out/bench-engine]
	$(BIN)/python -m bench.engine $(FOLDER) $(if $(ONLY),--only "$(ONLY)") $(if $(SAMPLE),--sample $(SAMPLE)) \
	  $(if $(OUT),--out $(OUT))

secrets: ## .env with its secrets, for docker-compose.temporal.yml
	$(PYTHON) deployment/make_secrets.py

clean: ## Remove everything that make made, the service's data included
	rm -rf $(VENV) .models .tryon out
