# Every target is a thin call of a script, so that the same commands run here, by hand and in CI.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help serve test build bench loadtest lint fuzz soak clauses clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

serve: ## Install what is missing, build release, run a demo gateway on 127.0.0.1:8080 (more flags: ARGS="--echo")
	@scripts/serve.sh $(ARGS)

test: ## Install what is missing and run every test (some of it: STAGES="lint unit")
	@scripts/test.sh $(STAGES)

build: ## Build release: .build/release/threadcast
	@scripts/setup.sh
	@swift build -c release --product threadcast

bench: ## Measure a release build on this machine and hold it to loadtest/limits.json (ARGS="--rounds 9")
	@scripts/bench.sh $(ARGS)

loadtest: ## Run a load scenario against a fresh gateway (SCENARIO=fanout, flags of the driver: ARGS="--sessions 500")
	@scripts/loadtest.sh $(or $(SCENARIO),fanout) $(ARGS)

lint: ## Check format and house style
	@scripts/lint.sh

fuzz: ## Fuzz the parsers, two at a time, then a running gateway (FUZZ_SECONDS=60, FUZZ_SEED=..., TARGETS="frame live")
	@scripts/fuzz.sh $(TARGETS)

soak: ## The long tests: 200 kills, 5,000 drained sessions, an hour of simulation (SOAK_MINUTES=60, SOAK_FIRST=seed)
	@scripts/soak.sh

clauses: ## Show which test proves which clause of the contract; fail on a gap
	@python3 scripts/clauses.py

clean: ## Remove everything that was built; the data folder stays
	@rm -rf .build .venv
