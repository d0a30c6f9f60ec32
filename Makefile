# make demo                      see it work (VIDEO=file for your own clip, CAMERA=1 or CAMERA=/dev/video2 for a camera)
# make test                      everything that is tested, as CI tests it
# make lint                      format and lints
# make score BENCH=av DIR=…      a benchmark (tests/score help)

SHELL := /bin/bash
export PATH := $(PATH):$(HOME)/.cargo/bin:/usr/sbin

.PHONY: demo test lint score

demo:
	@tests/demo/demo $(if $(VIDEO),--video "$(VIDEO)") $(if $(CAMERA),--camera $(filter /%,$(CAMERA)))

# cargo-nextest runs the tests side by side where it is installed; plain cargo runs the same tests without it.
test:
	@tests/setup build run test
	cargo build --locked --package agent --bin engram
	@if cargo nextest --version >/dev/null 2>&1; \
	then set -x; cargo nextest run --locked --workspace --no-fail-fast; \
	else set -x; cargo test --locked --workspace --no-fail-fast --lib --bins --tests; fi
	cargo test --locked --workspace --doc

lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

score:
	@tests/score $(BENCH) $(DIR) $(if $(JSON),--json $(JSON))
