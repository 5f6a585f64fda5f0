# CI calls these targets and nothing else. `make check` is what a change must
# pass before it is pushed; `make ci` adds what takes longer.

GO       ?= go
FUZZTIME ?= 5s
BIN      := $(CURDIR)/bin

# The linter is pinned and built from source, so that everybody runs the same one.
GOLANGCI_VERSION := v2.15.0
GOLANGCI         := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)

# Everything but the race detector builds without a C compiler.
export CGO_ENABLED := 0

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build both programs into bin/
	$(GO) build -o $(BIN)/ ./cmd/...

.PHONY: demo
demo: build ## the whole way once: server, commands in, decisions, tables, a replay
	scripts/demo.sh $(BIN)

.PHONY: fold
fold: ## decide the quickstart without a server
	$(GO) run ./cmd/reducer fold --state --digest testdata/quickstart.jsonl

.PHONY: check
check: format vet lint tidy test ## what every change must pass: format, vet, lint, tidy, test

.PHONY: format
format: ## fail on files that gofmt would change (fix them with gofmt -w .)
	@files="$$(gofmt -l .)"; \
	if [ -n "$$files" ]; then echo "gofmt -w these files:"; echo "$$files"; exit 1; fi

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: lint
lint: $(GOLANGCI) ## golangci-lint, built into bin/ at first (about a minute)
	$(GOLANGCI) run

$(GOLANGCI):
	GOBIN=$(BIN)/golangci-build $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(BIN)/golangci-build/golangci-lint $@
	rmdir $(BIN)/golangci-build

.PHONY: tidy
tidy: ## fail where go mod tidy would change go.mod or go.sum
	$(GO) mod tidy -diff

.PHONY: test
test: ## all tests
	$(GO) test ./...

# The programs that tests run look for races, too, and end at the first one,
# which fails the test. Only what floods a server is left out (TestFlood,
# TestInitFlood): such a server is too slow for what they measure.
.PHONY: race
race: ## all tests under the race detector (needs a C compiler); SHORT=-short leaves out those with processes and servers
	CGO_ENABLED=1 GORACE=halt_on_error=1 $(GO) test -race -timeout 40m $(SHORT) ./...

.PHONY: invariants
invariants: ## the tests of the rules, with the whole state checked after every decision
	$(GO) test -tags invariants ./reducer ./reducer/state ./reducer/reducertest

.PHONY: scenarios-rewrite
scenarios-rewrite: ## write what the stories say now; review each line of the difference
	$(GO) test ./reducer/reducertest -run '^TestScenarios$$' -rewrite

.PHONY: bench
bench: ## measure everything, about ten minutes; writes bench/RESULTS.md
	$(GO) run ./bench

.PHONY: bench-quick
bench-quick: ## a minute of it; fails on a ratio far below its target
	$(GO) run ./bench -quick

.PHONY: bench-postgres
bench-postgres: ## the same attempts here and on PostgreSQL, where that is installed
	$(GO) run ./bench -only postgres

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (5s)
	scripts/fuzz.sh $(FUZZTIME)

SEEDS ?= 5000
SEED  ?= 1

.PHONY: sim
sim: ## simulate SEEDS (5000) worlds from SEED (1) on: docs/simulation.md
	$(GO) test ./reducer/reducertest/sim -run '^(TestSeeds|TestFound)$$' -count=1 -timeout 0 -v -sim.seeds=$(SEEDS) -sim.seed=$(SEED)

.PHONY: mutants
mutants: ## switch off each safety step of the loop: the simulator must notice
	$(GO) vet -tags mutants ./reducer/loop ./reducer/reducertest/sim
	$(GO) test -tags mutants ./reducer/reducertest/sim -run '^TestMutants' -count=1 -v

KILLS ?= 100

.PHONY: torture
torture: ## kill the real programs KILLS (100) times, from SEED (1) on; writes docs/torture.md
	$(GO) test ./reducer/reducertest/torture -run '^TestTorture$$' -count=1 -timeout 0 -v -torture.kills=$(KILLS) -torture.seed=$(SEED) -torture.report=$(CURDIR)/docs/torture.md

.PHONY: clients
clients: ## run the commands and the program of docs/clients.md: builds nats into bin/, uses npm where it is there
	scripts/clients.sh $(BIN)

.PHONY: ci
ci: check ci-rest ## all of CI

.PHONY: ci-rest
ci-rest: ## what make ci does after make check: simulation, mutants, torture, invariants, fuzzing, the race detector
	$(MAKE) sim SEEDS=3000
	$(MAKE) mutants
	$(GO) test ./reducer/reducertest/torture -run '^TestTorture$$' -count=1 -timeout 0 -torture.kills=40
	$(MAKE) invariants
	$(MAKE) fuzz FUZZTIME=10s
	$(MAKE) race SHORT=-short
