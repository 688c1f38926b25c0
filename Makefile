# What everyone runs, the same way everywhere. It needs Go, git and bash.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# What runs tests: .ci/run puts in its place what runs a failed test again.
GOTEST ?= $(GO) test
# Versions of tools are pinned in tools/go.mod.
TOOL := $(GO) tool -modfile=tools/go.mod

BENCH      ?= .
SEEDS      ?= 200
MUTANTS    ?=
MUTANTSEEDS ?= 2000
BENCHCOUNT ?= 6
BENCHTIME  ?= 0.3s
FUZZTIME   ?= 20s
WAVES      ?= 1h
# Nested modules that are tested with the root; e2e, whose requirements are
# large, has targets of its own.
MODULES    := adapters/ctrlruntime adapters/metrics adapters/tracing benchmarks/peers benchmarks/report cmd examples/observed
E2EFLAGS   ?=

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: check
check: format vet staticcheck informervet tidy long-files race ## Everything that a change has to pass

.PHONY: test
test: ## Run the tests
	$(GOTEST) ./...
	@set -x; for m in $(MODULES); do (cd $$m && $(GOTEST) ./...); done

.PHONY: race
race: ## Run the tests with the race detector, which needs a C compiler
	$(GOTEST) -race ./...
	@set -x; for m in $(MODULES); do (cd $$m && $(GOTEST) -race ./...); done

.PHONY: simulate
simulate: ## Run 4,000 seeds of simulations, SEEDS of each suite and five times as many of groups, and large stores; takes five minutes
	$(GOTEST) -v ./internal/test/simulated -skip TestClientGo -timeout 30m -simulation.seeds=$(SEEDS)
	$(GOTEST) -v ./examples/controller -run '^TestSimulation$$' -timeout 30m -simulation.seeds=$(SEEDS)
	$(GOTEST) -v ./typed/shard -run '^TestSimulation$$' -timeout 30m -shard.seeds=$$(($(SEEDS) * 5))
	$(GOTEST) ./index -timeout 30m -index.large -rapid.checks=200

# Who calls waves.Run shares the time with all others who do; what calls
# waves.GivesBack has a million keys come and go, which takes some seconds each.
.PHONY: waves
waves: ## Run random programs of queues, stores, logs and handlers for WAVES=1h together
	@for m in . $(MODULES); do \
		packages=$$($(GO) -C $$m list -f '{{.Dir}}' ./... | while read -r d; do \
			if grep -qsE 'waves\.(Run|GivesBack)\(t' $$d/*_test.go; then echo $$d; fi; done); \
		if [[ -n $$packages ]]; then \
			(cd $$m && $(GOTEST) -v -count=1 -p 1 -timeout 0 -run 'Waves$$|GivesBack|GiveBack|^TestMemory' $$packages -waves=$(WAVES)); fi; done

# A bug that cannot be put in any more ends it at once.
.PHONY: mutants
mutants: ## Put known bugs back, one at a time, and check that simulations find each in 2,000 seeds, or tests do: MUTANTS=regexp
	$(GO) run ./internal/test/mutants -check -run '$(MUTANTS)' -seeds $(MUTANTSEEDS)

.PHONY: api
api: ## Compare what the modules export with the commit in .ci/api-baseline, and fail where programs would break
	@.ci/api

.PHONY: release-check
release-check: ## Release a clone, and have a program import all modules from there
	@.ci/release check

.PHONY: format
format: ## Check that gofmt has nothing to change
	@files=$$(gofmt -l .); if [[ -n $$files ]]; then printf 'not formatted by gofmt:\n%s\n' "$$files"; exit 1; fi

.PHONY: vet
vet: ## Run go vet
	$(GO) vet ./...
	@set -x; for m in $(MODULES); do $(GO) -C $$m vet ./...; done

.PHONY: staticcheck
staticcheck: ## Run staticcheck
	$(TOOL) staticcheck ./...
	@set -x; for m in $(MODULES); do (cd $$m && $(GO) tool -modfile=$(CURDIR)/tools/go.mod staticcheck ./...); done

.PHONY: informervet
informervet: ## Run this project's own analyzers on it and on its nested modules
	$(GO) -C cmd build -o bin/ ./informervet
	cmd/bin/informervet ./...
	@set -x; for m in $(filter-out cmd,$(MODULES)); do cmd/bin/informervet -C $$m ./...; done

# The module e2e is left out: on a clean machine it fetches the sources of
# Kubernetes and etcd, some 130 MB. See tidy-e2e and vet-e2e.
.PHONY: tidy
tidy: ## Check that go mod tidy has nothing to change
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	@set -x; for m in $(MODULES); do $(GO) -C $$m mod tidy -diff; done

.PHONY: tidy-e2e
tidy-e2e: ## The same for the module e2e, whose requirements are large
	$(GO) -C e2e mod tidy -diff

.PHONY: long-files
long-files: ## List Go files of 400 lines and more, as a warning
	@find . -name '*.go' -exec awk ' \
		/^\/\/ Code generated .* DO NOT EDIT/ { generated[FILENAME] } \
		{ lines[FILENAME]++ } \
		END { for (f in lines) if (lines[f] >= 400 && !(f in generated)) print "warning: " f " has " lines[f] " lines, split it" }' {} +

.PHONY: size
size: ## Build examples/first and the same on client-go, and compare their sizes
	$(GO) run ./benchmarks/size

.PHONY: bench
bench: ## Compare with client-go and others: BENCH=regexp BENCHCOUNT=6 BENCHTIME=0.3s
	$(GO) run ./benchmarks/compare -bench '$(BENCH)' -count $(BENCHCOUNT) -benchtime $(BENCHTIME)

.PHONY: bench-check
bench-check: ## Check that nothing is below 80 % of its target for sure, beside client-go; takes two minutes
	$(GO) run ./benchmarks/compare -check

.PHONY: regress
regress: ## Check that nothing is slower than at the commits of benchmarks/baseline.txt; takes five minutes
	$(GO) run ./benchmarks/compare -regress

.PHONY: bench-report
bench-report: ## Measure everything and write benchmarks/results, and the tables of README and docs; takes an hour and a half
	$(GO) run ./benchmarks/compare

# go test -list prints the targets of a package, then a line with its path. All
# targets are run, also after one has failed. Inputs that are new are not minimized,
# which takes up to a minute each, of the time that there is for others.
.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME=20s
	@failed=(); \
	for m in . $(MODULES); do \
		targets=$$($(GO) -C $$m test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, names[i]; n = 0 }'); \
		while read -r package target; do \
			[[ -n $$package ]] || continue; \
			echo "== $$target in $$package"; \
			$(GO) -C $$m test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "$$package" </dev/null || failed+=("$$package.$$target"); \
		done <<<"$$targets"; \
	done; \
	if (($${#failed[@]})); then printf 'failed: %s\n' "$${failed[@]}"; exit 1; fi

# Where the programs of the module e2e are built. Stripped of symbols, the
# control plane links faster and is a third smaller.
E2E_BUILD := $(GO) build -ldflags='-s -w' -o bin/
E2E_ENV   := E2E_CONTROLPLANE=$(CURDIR)/e2e/bin/controlplane

.PHONY: e2e-build
e2e-build: ## Build kube-apiserver and etcd; the first time, this takes several minutes on two cores
	@echo 'building kube-apiserver and etcd (several minutes the first time)…'
	cd e2e && $(E2E_BUILD) ./cmd/controlplane

# Two packages at a time: each has servers of its own, and waits for them more than it works.
.PHONY: e2e
e2e: e2e-build ## Run the suites against a real API server: E2EFLAGS=-race, E2E_KUBECONFIG=/path for one that exists
	cd e2e && $(E2E_ENV) $(GOTEST) -count=1 -p 2 -timeout 20m $(E2EFLAGS) ./...

.PHONY: vet-e2e
vet-e2e: ## Run go vet and staticcheck on the module e2e
	$(GO) -C e2e vet ./...
	cd e2e && $(GO) tool -modfile=../tools/go.mod staticcheck ./...

.PHONY: upstream
upstream: ## Run the tests of Kubernetes' scheduler and controllers on this project's informer factories; takes a quarter of an hour
	cd e2e && $(GOTEST) -count=1 -v ./upstream -run '^TestKubernetes$$' -timeout 1h -kubernetes='./pkg/scheduler/... ./pkg/controller/...'

.PHONY: e2e-report
e2e-report: e2e-build ## Run the faults and write docs/explanation/reliability.md
	cd e2e && $(E2E_ENV) $(GO) test -count=1 -timeout 20m -v ./faults -report ../../docs/explanation/reliability.md

.PHONY: e2e-scale
e2e-scale: e2e-build ## Measure 20,000 Pods on a real API server, write benchmarks/results/performance.md and draw its chart; takes twenty minutes
	cd e2e && $(E2E_ENV) $(GO) run ./scale -out ../benchmarks/results/performance.md
	$(GO) run ./benchmarks/compare -from benchmarks/results/performance/results.json -out benchmarks/results >/dev/null

.PHONY: e2e-quickstart
e2e-quickstart: e2e-build ## Show an informer at work on a real API server
	cd e2e && $(E2E_BUILD) ./quickstart && $(E2E_ENV) ./bin/quickstart
