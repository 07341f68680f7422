# make install  set Interlock up on this machine: programs, coding agents, server; `interlock setup --undo` takes it back
# make run    start Interlock on ./var, make one decision, say how to plug agents in; Ctrl-C stops it
# make test   the whole suite: format, vet, tests, races, fuzzing, cross-compilation
# make check  what the change at hand reaches, in a minute or two
# make help   everything else
#
# Nothing here runs `go mod tidy`: with a partial module cache it would drop requirements that other systems need.

.DEFAULT_GOAL := help
.PHONY: help setup build install run release docs pictures test check fuzz escape load eval redteam mutants bench fmt generate clean
SHELL := /bin/bash

CORPUS ?= ../shared/corpus/dev
REDTEAM ?= ../shared/redteam
# What the runner in REDTEAM must reach, in percent. Aimed at are 97, 99 and 98: raise these as more is stopped.
MIN_STOP ?= 97
MIN_CRITICAL ?= 99
MIN_PASS ?= 98
BUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w" -o bin/ ./cmd/...
# the programs without the tools that make setup puts beside them, for a runner that takes a folder of programs
ALONE = mkdir -p bin/alone && cp bin/interlock bin/interlock-hook bin/alone/
# The mutation tester, of which decision 35 says what was tried; it is no dependency of the module.
GREMLINS := v0.6.0
# What make bench measures beside: the commit that the aims refer to, and the last release, or what stands for it until one is tagged.
EARLIER ?= 789068c,$(shell git describe --tags --abbrev=0 2>/dev/null || echo 47482d4e)
PEERS := cc-safety-net@2.4.5 mcp-proxy@6.7.19 supergateway@4.0.0

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## check the Go toolchain and install what is missing
	@scripts/setup.sh test

build: ## build bin/interlock and bin/interlock-hook
	@scripts/setup.sh build
	$(BUILD)

install: ## set Interlock up on this machine (ARGS="--yes", --dry-run and others of interlock setup)
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory build
	@exec bin/interlock setup $(ARGS)

release: ## build what is handed out into ./dist (MODULE=host/owner/interlock rewrites the module path, SITE=URL, ONLY=os/arch,…)
	@scripts/setup.sh build
	go run ./release -out dist -only "$(ONLY)"

docs: ## make a site of the documentation in ./site: open site/index.html, no server needed
	@scripts/setup.sh build
	go run ./docs/generator -out site

run: ## start Interlock on ./var, make one decision and stay in the foreground
	@scripts/setup.sh run
	@$(MAKE) --no-print-directory build
	@exec scripts/run.sh

test: ## run the whole suite
	@scripts/setup.sh test
	@scripts/test.sh

check: ## format, vet and the tests that the change reaches (SINCE=main, ALSO=./test/clients)
	@scripts/setup.sh build
	@scripts/check.sh

fuzz: ## run every fuzz target and spell known commands otherwise, for long (FUZZTIME=20000x MUTATIONS=5000 SEED=1)
	@scripts/setup.sh test
	@MUTATIONS=$${MUTATIONS:-5000} scripts/fuzz.sh "$${FUZZTIME:-20000x}"

escape: ## let a stopped agent try to escape, and look for a yes that nobody gave, for a minute each (ESCAPE=1m)
	@scripts/setup.sh test
	go test ./test/clients -count=1 -run '^(TestEscape|TestNoWayToAYes)$$' -escape "$${ESCAPE:-1m}" -timeout 30m -v

load: ## send CALLS=100000 calls through the gateway, over each transport, while it, its server and its client are killed in turn
	@scripts/setup.sh test
	go test ./test/clients -count=1 -parallel 1 -run '^TestGatewayUnderKills' -calls "$${CALLS:-100000}" -http-calls "$${CALLS:-100000}" -timeout 60m -v

eval: ## decide the labelled cases in CORPUS, its runs and the attacks in REDTEAM, and write bench/eval.md
	@scripts/setup.sh build
	@if [ -d "$(CORPUS)" ]; then set --; \
	if [ -d "$(CORPUS)/../trajectories" ]; then set -- "$$@" -trajectories "$(CORPUS)/../trajectories"; fi; \
	if [ -f "$(REDTEAM)/rt.py" ]; then $(BUILD) && \
		$(ALONE) && if python3 "$(REDTEAM)/rt.py" bin/alone "$(REDTEAM)/dev.jsonl" --quiet --json bin/redteam.json >/dev/null; then set -- "$$@" -redteam bin/redteam.json; \
		else echo "eval: the red team's cases could not be judged here; their table will be missing"; fi; fi; \
	go run ./bench/eval -corpus "$(CORPUS)" "$$@" -out bench/eval.md && echo "wrote bench/eval.md"; \
	else echo "eval: there is no folder $(CORPUS); deciding the small sample in bench/corpus instead (CORPUS=DIR names another)"; \
	go run ./bench/eval -corpus bench/corpus; fi

redteam: build ## judge attacks and their harmless twins (REDTEAM=DIR, else our own cases), fail below the thresholds
	@if [ -f "$(REDTEAM)/rt.py" ]; then $(ALONE) && python3 "$(REDTEAM)/rt.py" bin/alone "$(REDTEAM)/dev.jsonl" --quiet --misses bin/redteam.misses \
		--min-stop "$(MIN_STOP)%" --min-critical "$(MIN_CRITICAL)%" --min-pass "$(MIN_PASS)%"; \
	else echo "redteam: there is no $(REDTEAM)/rt.py; judging our own cases in bench/redteam instead (REDTEAM=DIR names another folder)"; \
	go run ./bench/redteam -binaries bin -misses bin/redteam.misses; fi

mutants: ## break what decides, see whether its tests notice, and name what survived, for hours (PKG=./internal/quorum PERCENT=10 AGAIN=1: part of one, survivors)
	@[ -x bin/gremlins-$(GREMLINS)/gremlins ] || GOBIN="$(CURDIR)/bin/gremlins-$(GREMLINS)" go install github.com/go-gremlins/gremlins/cmd/gremlins@$(GREMLINS)
	@nice -n 15 go run ./bench/mutants -gremlins bin/gremlins-$(GREMLINS)/gremlins -pkg "$(PKG)" $(if $(PERCENT),-percent $(PERCENT)) $(if $(AGAIN),-again)

bench: build ## measure beside earlier commits, peers and the disk, write bench/README.md, fail at a drop of over 5 %
	@scripts/setup.sh bench
	@npm install --silent --no-fund --no-audit --prefix bench/peer $(PEERS) || echo "bench: the peers could not be installed; their rows will be missing"
	@[ -x bench/peer/vmcp ] || GOBIN="$(CURDIR)/bench/peer" go install github.com/stacklok/toolhive/cmd/vmcp@v0.44.0 >/dev/null 2>&1 || echo "bench: vmcp could not be built; its row will be missing"
	go run ./bench/run -binary bin/interlock -earlier "$(EARLIER)" -out bench/README.md -peer "$$(ls bench/peer/node_modules/cc-safety-net/dist/bin/cc-safety-net.js 2>/dev/null)" -carriers bench/peer/node_modules -vmcp "$$(ls bench/peer/vmcp 2>/dev/null)"

pictures: ## load every page of the console and photograph those that the docs show (needs Chromium; takes some minutes)
	@scripts/setup.sh build
	@go run ./bench/screens -documents docs

fmt: ## format all Go files
	gofmt -w .

generate: ## write the generated files again
	go generate ./...

clean: ## remove what was built, not what was logged
	rm -rf bin site bench/peer
