# make run    start Interlock on ./var, make one decision, say how to plug agents in; Ctrl-C stops it
# make test   the whole suite: format, vet, tests, races, fuzzing, cross-compilation
# make help   everything else
#
# Nothing here runs `go mod tidy`: with a partial module cache it would drop requirements that other systems need.

.DEFAULT_GOAL := help
.PHONY: help setup build run test eval bench fmt generate clean
SHELL := /bin/bash

CORPUS ?= ../shared/corpus/dev

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## check the Go toolchain and install what is missing
	@scripts/setup.sh test

build: ## build bin/interlock
	@scripts/setup.sh build
	go build -trimpath -buildvcs=false -o bin/interlock ./cmd/interlock

run: ## start Interlock on ./var, make one decision and stay in the foreground
	@scripts/setup.sh run
	@$(MAKE) --no-print-directory build
	@exec scripts/run.sh

test: ## run the whole suite
	@scripts/setup.sh test
	@scripts/test.sh

eval: ## decide the labelled corpus in CORPUS and write bench/eval.md
	@scripts/setup.sh build
	@if [ -d "$(CORPUS)" ]; then go run ./bench/eval -corpus "$(CORPUS)" -out bench/eval.md; \
	else echo "eval: $(CORPUS) is not here; deciding the small sample in bench/corpus instead (CORPUS=DIR names another folder)"; \
	go run ./bench/eval -corpus bench/corpus; fi

bench: ## measure beside peers and physical limits; bench/README.md has tables and method
	@scripts/setup.sh bench
	@bench/run.sh

fmt: ## format all Go files
	gofmt -w .

generate: ## write the generated files again
	go generate ./...

clean: ## remove what was built, not what was logged
	rm -rf bin bench/out
