# The targets have the names that are usual for Terraform providers.
#
# Variables: TERRAFORM=tofu, PYTHON=python3.12 (other programs), ONLY=network::pending_deletion (see check and test),
# TOFU=PATH (see test), FGW_VENV=DIR (another Python environment), FGW_BINARY=PATH and KEEP=1 (see demo),
# PROFILE=release and INSTALL_DIR=DIR (see install), GPG_KEY=ID, TARGET=TRIPLE and more (see package; scripts/package.py
# names them all), FGW_BENCH_AWS_PROVIDER=DIR, ONLY=network,gateway, RUNS=5, TRY=1 and FGW_BINARY=PATH (see bench, and
# benches/topologies.rs), AWS_PROFILE, AWS_REGION, PREFIX=NAME, ONLY=network,gateway,questions, DOMAIN=example.com, YES=1,
# REPORT=PATH, ROLE_ARN=ARN and FGW_BINARY=PATH (see acceptance, sweep and scripts/acceptance/__main__.py).
#
# ONLY has two meanings: check and test take a part of the path of a test, such as network::pending_deletion; bench and
# acceptance take names of their parts, such as network,gateway.

PROFILE ?= dev
INSTALL_DIR ?= $(HOME)/.local/share/terraform-provider-fgw
TERRAFORM ?= terraform
TOFU ?= tofu
export TERRAFORM
# Tests spend most of their time waiting for emulators and Terraform, so four run at once per processor.
export RUST_TEST_THREADS ?= $(shell echo $$((4 * $$(getconf _NPROCESSORS_ONLN))))

.DEFAULT_GOAL := help
.PHONY: help build install static check lint fmt docs test test-all faults properties bench package package-sums package-test deny
.PHONY: demo demo-end acceptance sweep clean-venv policies requests hashes order

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the provider (the first time 6 to 8 minutes on 2 cores, later seconds)
	@scripts/prerequisites.sh cargo
	cargo build --locked --profile $(PROFILE)

install: build ## Install the provider into a mirror in INSTALL_DIR and print the configuration with which terraform init finds it
	@scripts/install.sh "$(PROFILE)" "$(INSTALL_DIR)"

# A filter that matches no test would pass. $(1) selects the tests that cargo builds, and $(2) names them in the error.
some_test = cargo test --locked --quiet $(1) -- --list $(ONLY) | grep ': test$$' >/dev/null || \
    { echo "no test in $(2) matches ONLY=$(ONLY)" >&2; exit 1; }

static: ## Check Rust without the tests of the provider: format, source tree, clippy
	@scripts/prerequisites.sh cargo
	cargo fmt --check
	cargo test --locked --quiet --package tidy
	cargo clippy --locked --all-targets -- -D warnings

check: $(if $(ONLY),,static) ## Check Rust without Terraform: format, source tree, clippy, unit tests; ONLY=PATH runs only these tests
	@scripts/prerequisites.sh cargo
ifeq ($(ONLY),)
	cargo test --locked --lib
else
	@$(call some_test,--lib --test tidy,the library or tidy)
	cargo test --locked --lib --test tidy -- $(ONLY)
endif

lint: ## Check Terraform files and scripts; change nothing
	@scripts/prerequisites.sh python terraform >/dev/null
	$(TERRAFORM) fmt -check -diff -recursive examples benches
	@for script in scripts/*.sh .ci/run; do sh -n "$$script" || exit 1; done
	@python=$$(scripts/prerequisites.sh python) && for script in scripts/*.py scripts/*/*.py examples/demo/functions/*.py; do \
	    "$$python" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$$script" || exit 1; done

fmt: ## Format Rust and Terraform files
	@scripts/prerequisites.sh cargo terraform
	cargo fmt
	$(TERRAFORM) fmt -recursive examples benches

docs: ## Generate the pages of docs from the schema, the examples, the blueprints and the AWS calls
	@scripts/prerequisites.sh cargo >/dev/null
	UPDATE_EXPECT=1 cargo test --locked --test suite docs::
	UPDATE_EXPECT=1 cargo test --locked --test suite guides::
	UPDATE_EXPECT=1 cargo test --locked --lib unknown_outputs::

test: $(if $(ONLY),,lint) ## Run all tests, including those with Terraform (and OpenTofu, if tofu is installed); ONLY=PATH runs only these tests of the suite
	@scripts/prerequisites.sh cargo python terraform >/dev/null
	@scripts/venv.sh >/dev/null
	@scripts/venv.sh localstack >/dev/null
	@scripts/venv.sh policies >/dev/null
ifneq ($(ONLY),)
	@$(call some_test,--test suite,the suite)
	cargo test --locked --test suite -- $(ONLY)
else
	cargo test --locked
ifeq ($(TERRAFORM),terraform)
	@if command -v $(TOFU) >/dev/null; then set -x; TERRAFORM=$(TOFU) cargo test --locked --test suite; fi
endif
endif

test-all: ## Run all tests, and destroy what each test has built
	FGW_TEST_ALL=1 $(MAKE) test

faults: ## Run the fault injection campaigns in full (hours), or CAMPAIGN=adopted, and write docs/reliability.md
	@scripts/prerequisites.sh cargo python terraform >/dev/null
	@scripts/venv.sh >/dev/null
	rm -rf target/faults
	FGW_FAULTS=whole cargo test --locked --test suite fault_injection::$(CAMPAIGN)
	@"$$(scripts/prerequisites.sh python)" scripts/reliability.py target/faults $(if $(CAMPAIGN),--keep)

properties: ## Run the property tests with new random values; CASES=1000 sets how many each one tries
	@scripts/prerequisites.sh cargo
	PROPTEST_RNG_SEED=$$(date +%s%N) PROPTEST_CASES=$(or $(CASES),1000) cargo test --locked --lib

bench: ## Measure fgw, and hashicorp/aws if FGW_BENCH_AWS_PROVIDER is set, and write BENCHMARKS.md (about 25 minutes)
	@scripts/prerequisites.sh cargo python terraform >/dev/null
	@scripts/venv.sh >/dev/null
	$(if $(FGW_BINARY),,cargo build --release --locked)
	FGW_BINARY="$(or $(FGW_BINARY),target/release/terraform-provider-fgw)" \
	    cargo bench --locked --profile dev --bench topologies
	@"$$(scripts/prerequisites.sh python)" scripts/benchmarks.py $(if $(TRY),target/bench-try target/bench-try/BENCHMARKS.md,target/bench)

order: ## Record which functions runs execute, because a release puts them together (Linux, Valgrind; about 40 minutes)
	@scripts/prerequisites.sh cargo python terraform >/dev/null
	@scripts/venv.sh >/dev/null
	CARGO_PROFILE_RELEASE_STRIP=none cargo build --release --locked --target-dir target/order
	"$$(scripts/prerequisites.sh python)" scripts/order.py record target/order/release/terraform-provider-fgw \
	    env -u FGW_BENCH_AWS_PROVIDER TRY=1 cargo bench --locked --profile dev --bench topologies

hashes: ## Write the hashes of the pinned Python packages after a change of the pinned versions in tests/*.txt
	@scripts/prerequisites.sh python >/dev/null
	scripts/hashes.sh

package: PROFILE := release
package: ## Build the release for this platform and write the files for a registry into target/package; GPG_KEY=ID signs them
	@python=$$(scripts/prerequisites.sh cargo python) && PROFILE="$(PROFILE)" exec "$$python" scripts/package.py

package-sums: ## Write the checksums and the signature of the zip files of all platforms in target/package
	@python=$$(scripts/prerequisites.sh python) && exec "$$python" scripts/package.py sums

package-test: PROFILE := release
package-test: ## Build the release in two directories, compare the zip files byte by byte, run the binary, and sign
	@python=$$(scripts/prerequisites.sh cargo python) && PROFILE="$(PROFILE)" exec "$$python" scripts/package_test.py

policies: ## Write the IAM policies of the permissions guide to target/policies; needs ACCOUNT and REGION
	@python=$$(scripts/prerequisites.sh python) && ACCOUNT="$(ACCOUNT)" REGION="$(REGION)" exec "$$python" scripts/policies.py

requests: ## Record the requests of the suite, with which the tests check the policies of the permissions guide
	@scripts/prerequisites.sh cargo python terraform >/dev/null
	@scripts/venv.sh >/dev/null
	@rm -f target/requests.txt
	FGW_TEST_ALL=1 FGW_RECORD_REQUESTS="$(CURDIR)/target/requests.txt" cargo test --locked --test suite
	LC_ALL=C sort -u target/requests.txt > tests/golden/requests.txt

deny: ## Check licenses, advisories and sources of dependencies against deny.toml (needs cargo-deny and the network)
	@scripts/prerequisites.sh cargo
	@command -v cargo-deny >/dev/null || { echo "cargo-deny is missing: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny --locked check

demo: ## Apply both resources on this machine, without AWS; KEEP=1 leaves everything running
	@python=$$(scripts/prerequisites.sh $(if $(FGW_BINARY),,cargo) python terraform) && exec "$$python" scripts/demo.py

demo-end: ## End the demos that were started with KEEP=1
	@python=$$(scripts/prerequisites.sh python) && exec "$$python" scripts/demo.py end

acceptance: ## Test the provider on your AWS account: prints cost and duration, and asks before it creates anything
	@scripts/prerequisites.sh $(if $(FGW_BINARY),,cargo) python terraform >/dev/null
	@venv=$$(scripts/venv.sh) && exec "$$venv/bin/python" -B scripts/acceptance run

sweep: ## Delete what an interrupted acceptance run left on your AWS account: lists it, and asks
	@scripts/prerequisites.sh python >/dev/null
	@venv=$$(scripts/venv.sh) && exec "$$venv/bin/python" -B scripts/acceptance sweep

clean-venv: ## Remove the Python environment of the tests and the demo
	rm -rf .venv .venv-localstack .venv-policies
