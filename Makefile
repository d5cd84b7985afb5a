# The README's two commands are `make run` and `make test`. The other targets are their steps, or separate tools.
.DEFAULT_GOAL := help
SHELL := /bin/sh

MLMODELSCOPE := node lib/src/bin/main.js
INSTALLED := node_modules/.package-lock.json
BUILT := dist/.built
SOURCES := $(shell find src plugins bench bundle test mutants fuzz torture proto -type f -not -path 'src/generated/*') \
	tsconfig.json buf.gen.yaml buf.yaml

.PHONY: help run test quick build lint lint-code lint-style run-tests contract fuzz torture mutants bench bench-accuracy bench-graphs bench-instant bench-compare bench-suites bench-generation bench-scale bench-web screenshots session schema clean

help: ## Show this
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## Install, build, and show reuse in a family of models, the error of estimates (out/quickstart.json), and a model that does not fit
	@echo; echo '1. ResNet-18: each of its unique bricks is measured; a brick is one kernel by default.'; echo
	$(MLMODELSCOPE) dlbricks run zoo:resnet18
	@echo; echo '2. ResNet-34, of the same family: it is estimated from the measurements of ResNet-18.'; echo
	$(MLMODELSCOPE) dlbricks run zoo:resnet34
	@echo; echo '3. How far off are estimates? Four networks, each also measured whole.'; echo
	$(MLMODELSCOPE) dlbricks run manifests/evaluations/quickstart.yml --export-json out/quickstart.json
	@echo; echo '4. A decoder with 32 GB of weights, from graphs with two and three of its 32 blocks (needs 10 GB of memory).'; echo
	-$(MLMODELSCOPE) dlbricks run zoo:llama_8b_decode

test: ## Install, build, lint, and run every test that needs no outside server
	@$(MAKE) --no-print-directory --jobs=2 build lint-style
	@$(MAKE) --no-print-directory --jobs=2 lint-code run-tests
	@[ -n "$$MONGODB_URI" ] || echo 'Skipped: the tests of the MongoDB store, which need a server: test/store/mongodb/ferretdb.sh run make test'

quick: build ## Build what changed, and run the tests that need no network, database, browser or large model: a minute on two idle cores
	node dist/test/support/run-tests.js --quick

build: $(BUILT) ## Install and build

lint: ## Check style, import directions and protocol buffers
	@$(MAKE) --no-print-directory --jobs=2 lint-code lint-style

# It needs the types that the build generates.
lint-code: build
	npm run lint:code

lint-style: $(INSTALLED)
	npm run lint:style

run-tests: build
	npm test

contract: build ## Check that any agent keeps the contract: AGENT=host:port (docs/frameworks.md)
	AGENT=$(AGENT) node --test dist/test/agent/support/contract-at.js

fuzz: build ## Give generated inputs to all readers for SECONDS (60); SEED repeats a round, or one finding
	node dist/fuzz/main.js --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED))

torture: build ## Kill processes, cut the network and change clocks for ROUNDS (50) rounds; of TARGET or all targets; SEED repeats them, or a failed round
	node dist/torture/main.js --rounds $(or $(ROUNDS),50) $(if $(SEED),--seed $(SEED)) $(if $(TARGET),--target $(TARGET))

mutants: build ## Plant defects and check whether tests find them: AT='src/rpc src/store' SAMPLE=30 SEED=1
	nice -n 10 node dist/mutants/main.js --sample $(or $(SAMPLE),30) --seed $(or $(SEED),1) $(AT)

bench: build ## Print the figures that the README states
	node --expose-gc dist/bench/main.js

bench-accuracy: build ## Measure every model whole and by its bricks, and write docs/results/accuracy.md (takes about 20 minutes)
	node dist/bench/accuracy/main.js

bench-graphs: build ## Make graphs by exporters in FOLDER (out/exporters; 7 GB of Python), measure them whole and by bricks, and write docs/results/graphs.md
	test/exporters/make.sh $(or $(FOLDER),out/exporters)
	node dist/bench/graphs/main.js --folder $(or $(FOLDER),out/exporters)

bench-instant: build ## Predict the bricks of models that were left out, from what `make bench-accuracy` measured and from both suites, and write docs/results/instant.md
	node dist/bench/instant/main.js

bench-compare: build ## Compare VERSIONS=1.24.3,1.27.0 of onnxruntime-node with the installed one over MODELS=resnet18,… of the zoo, and write docs/results/compare.md; SAME=100 counts false alarms of the gate instead
	node dist/bench/compare/main.js

bench-suites: build ## Measure the models of the paper and modern models, and write their docs (hours); SUITE=modern for one suite, FILES='a.json' for existing exports
	node dist/bench/suites/main.js $(if $(SUITE),--suite $(SUITE)) $(FILES)

bench-web: build ## Time the first page of `serve --http` with a store of MEASUREMENTS=1000000, the memory of 100 followers, and pages in a browser
	node dist/bench/web.js out/bench-web $(or $(MEASUREMENTS),1000000)

screenshots: build ## Measure the quick start with one and two threads, and write docs/pictures (needs Chromium)
	$(MLMODELSCOPE) dlbricks run manifests/evaluations/quickstart.yml --threads 1,2 --store out/screenshots/store \
		--export-html out/screenshots/quickstart.html
	$(MLMODELSCOPE) dlbricks share zoo:squeezenet1.1 zoo:resnet18 zoo:resnet34 zoo:resnet50 --store out/screenshots/store \
		--export-html out/screenshots/share.html
	$(MLMODELSCOPE) compare threads=1 threads=2 --store out/screenshots/store \
		--export-html out/screenshots/compared.html -- zoo:squeezenet1.1 zoo:resnet18
	node dist/bench/screenshots.js out/screenshots docs/pictures

bench-generation: build ## Generate text with a decoder of the zoo: MODEL=llama_1b PROMPT=128 TOKENS=64 THREADS=1; FILES=report.json compares
	node dist/bench/generation/main.js --model $(or $(MODEL),llama_1b) --prompt $(or $(PROMPT),128) \
		--tokens $(or $(TOKENS),64) --threads $(or $(THREADS),1) $(FILES)

bench-scale: build ## Share BRICKS=10000 bricks of BRICK_MS=67 ms among AGENTS=32 by a broker and a database, with SERVERS='1 4', and write docs/scale.md
	$(if $(MONGODB_URI)$(FERRETDB),,bench/scale/mongo-java-server/run.sh) node dist/bench/scale/main.js \
		--agents $(or $(AGENTS),32) --bricks $(or $(BRICKS),10000) --brick-ms $(or $(BRICK_MS),67) \
		--servers '$(or $(SERVERS),1 4)' --repeats $(or $(REPEATS),3) --sizes '$(or $(SIZES),10000 100000)'

session: build ## Record the commands of README's first picture with an empty store, and draw them as docs/session.svg
	node dist/bench/session.js

schema: build ## Write docs/report.schema.json and schemas/ from the definitions of the documents
	node dist/test/plugins/dlbricks/report/write-schema.js
	node dist/test/schemas/write-schemas.js

clean: ## Remove everything that was installed or built here
	rm -rf node_modules dist lib out src/generated proto/contract.binpb

$(INSTALLED): package.json package-lock.json .npmrc
	@node -e 'const [a, b] = process.versions.node.split("."); if (a < 20 || (a == 20 && b < 19)) { console.error(`Node 20.19 or newer is needed; this is $${process.version}`); process.exit(1); }'
	npm ci --no-audit --no-fund
	@touch $@

$(BUILT): $(INSTALLED) $(SOURCES)
	npm run build
	@touch $@
