# Shorthands; each line names the command that does the work, for machines without make.
#
# make demo                      tests/demo/demo (VIDEO=file for your own clip, CAMERA=1 or CAMERA=/dev/video2 for a camera)
# make test                      tests/all
# make deb                       cross/package: the Debian package for this machine (ARCH=arm64 for a Jetson)
# make ci                        .ci/run
# make lint                      format and lints
# make score BENCH=av DIR=…      tests/score, a benchmark (tests/score help)

SHELL := /bin/bash
export PATH := $(PATH):$(HOME)/.cargo/bin:/usr/sbin

.PHONY: demo test deb ci lint score

demo:
	@tests/demo/demo $(if $(VIDEO),--video "$(VIDEO)") $(if $(CAMERA),--camera $(filter /%,$(CAMERA)))

test:
	@tests/all

deb:
	@cross/package $(or $(ARCH),$(shell dpkg --print-architecture))

ci:
	@.ci/run

lint:
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

score:
	@tests/score $(BENCH) $(DIR) $(if $(JSON),--json $(JSON))
