# The targets that provider authors know, as far as there is something for them to do.
#
# Variables: TERRAFORM=tofu, PYTHON=python3.12 (other programs), FGW_VENV=DIR (another Python environment),
# FGW_BINARY=PATH and KEEP=1 (see demo), PROFILE=release and INSTALL_DIR=DIR (see install).

PROFILE ?= dev
INSTALL_DIR ?= $(HOME)/.local/share/terraform-provider-fgw
TERRAFORM ?= terraform
export TERRAFORM

.DEFAULT_GOAL := help
.PHONY: help build install lint fmt docs test torture demo demo-end clean-venv

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the provider (the first time 6 to 8 minutes on 2 cores, later seconds)
	@scripts/prerequisites.sh cargo
	cargo build --locked --profile $(PROFILE)

install: build ## Copy the provider to INSTALL_DIR and print what makes Terraform use it
	@scripts/install.sh "$(PROFILE)" "$(INSTALL_DIR)"

lint: ## Check format, lints and examples; changes nothing
	@scripts/prerequisites.sh cargo python terraform >/dev/null
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	$(TERRAFORM) fmt -check -diff -recursive examples
	@for script in scripts/*.sh .ci/run; do sh -n "$$script" || exit 1; done
	@python=$$(scripts/prerequisites.sh python) && for script in scripts/*.py examples/demo/functions/*.py; do \
	    "$$python" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$$script" || exit 1; done

fmt: ## Format Rust and Terraform files
	@scripts/prerequisites.sh cargo terraform
	cargo fmt
	$(TERRAFORM) fmt -recursive examples

docs: ## Write the pages of docs that are made from the schema, the examples and the blueprints
	@scripts/prerequisites.sh cargo >/dev/null
	UPDATE_EXPECT=1 cargo test --locked --test suite docs::

test: ## Run every test: unit, property, golden, and Terraform against two emulators of AWS
	@scripts/prerequisites.sh cargo python terraform >/dev/null
	@scripts/venv.sh >/dev/null
	cargo test --locked

torture: ## Run the campaigns of failures whole (hours), and write what they counted into docs/reliability.md
	@scripts/prerequisites.sh cargo python terraform >/dev/null
	@scripts/venv.sh >/dev/null
	rm -rf target/torture
	FGW_TORTURE=whole cargo test --locked --test suite campaigns::
	@"$$(scripts/prerequisites.sh python)" scripts/reliability.py target/torture

demo: ## See both resources at work on this machine, without AWS; KEEP=1 leaves it running
	@python=$$(scripts/prerequisites.sh $(if $(FGW_BINARY),,cargo) python terraform) && exec "$$python" scripts/demo.py

demo-end: ## End what KEEP=1 make demo has left running
	@python=$$(scripts/prerequisites.sh python) && exec "$$python" scripts/demo.py end

clean-venv: ## Remove the Python environment of the tests and the demo
	rm -rf .venv
