# Every command a person needs; CI calls these same targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.9
# Options of a deployment that should last stand in a file of one's own, which no release touches:
# -c alarmEmail=operations@example.com -c egress=nat
ARGS ?= $(shell cat deployment.options 2>/dev/null)
# Node 20 does; the CDK's eleven lines about its age would hide what a command says.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20

.PHONY: setup up down reindex test fuzz e2e check format eval bench synth region deploy token lock clean

setup: $(VENV)/.installed node_modules/.installed model  ## make the environment (idempotent)

$(VENV)/.installed: pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Citewell needs Python 3.11 or newer: make setup PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@

node_modules/.installed: package.json package-lock.json
	npm ci --silent --no-audit --no-fund
	touch $@

# Nothing is fetched when the model stands there and its hashes are right.
.PHONY: model
model: $(VENV)/.installed
	$(BIN)/python -m infra.model

up: setup  ## start, deploy locally, load the handbook, ask a question; SECURE=1: with IAM enforced, TLS and tokens
	$(BIN)/python -m infra.local up $(if $(SECURE),--secure)

down:  ## stop what `make up` started; bucket and index are kept
	test ! -x $(BIN)/python || $(BIN)/python -m infra.local down

reindex: setup  ## enqueue everything the bucket holds; TARGET=aws: of the stack in AWS, PREFIX=... only keys that begin so
	$(BIN)/python -m $(if $(filter aws,$(TARGET)),infra.reindex "$(PREFIX)",infra.local reindex)

# As many workers as cores. More than four would wait for the end-to-end tests, which one of them takes alone.
test: setup  ## unit, integration, infra and end-to-end tests
	$(BIN)/python -m pytest -n auto --maxprocesses 4

fuzz: setup  ## damaged documents of every kind, 5,000 of each, other ones each time
	$(BIN)/python -m pytest tests/integration/test_extract_fuzz.py --hypothesis-profile=fuzz

e2e: setup  ## the end-to-end tests alone: real deployments to this machine
	$(BIN)/python -m pytest tests/e2e

check: setup  ## lint and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup  ## rewrite the sources the way `make check` wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: setup  ## resolve pyproject.toml anew
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --generate-hashes --no-header --quiet --upgrade --output-file requirements.lock

eval: setup  ## the recall gate: grade retrieval of the handbook against the committed baseline; draws build/eval/report.html
	$(BIN)/python -m eval gate --report build/eval/report.html

bench: setup  ## PDF beside pypdf; retrieval at 100,000 chunks: time and recall; query plans; what a cold start and a refusal cost; memory of each function
	$(BIN)/python -m tests.benchmarks.bench_search_plans
	$(BIN)/python -m tests.benchmarks.bench_import
	$(BIN)/python -m tests.benchmarks.bench_memory
	$(BIN)/python -m tests.benchmarks.bench_pdf
	$(BIN)/python -m tests.benchmarks.bench_retrieval

synth: setup  ## the template that `make deploy` would deploy, into cdk.out, and what it costs idle; ARGS="-c egress=nat"
	node_modules/.bin/cdk synth --quiet --no-notices $(ARGS)
	$(BIN)/python -m infra.cost

region: setup
	@$(BIN)/python -c 'import boto3, sys; sys.exit(None if boto3.Session().region_name else "citewell: set AWS_REGION")'

deploy: region synth  ## deploy to the AWS account of the environment's credentials; ARGS="-c contact=..." chooses options
	node_modules/.bin/cdk bootstrap --app cdk.out --no-notices
	node_modules/.bin/cdk deploy Citewell --app cdk.out --no-notices
	$(BIN)/python -m infra.deployed

token: setup  ## print a token for the API: signs EMAIL in at the stack's user pool, adding an address that is new
	@$(BIN)/python -m infra.sign_in $(EMAIL)

clean: down  ## remove everything that was made here: environments, bundles, the local cloud with its data
	rm -rf .venv node_modules build cdk.out .local
