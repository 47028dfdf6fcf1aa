# Everything runs in an environment that make builds for itself, from hash-pinned locks.
VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
MATRIX := build/matrix-venv

.PHONY: help demo wake storm fuzz faults matrix night test prove lint format bench docs lock clean

help:            ## what there is to make
	@grep -E '^[a-z]+: .*##|^[a-z]+:  +##' Makefile | sed -E 's/:.*## /	/' | expand -t 10

demo: $(READY)   ## the main job, to watch: a run is killed with -9 again and again, nothing happens twice
	@$(BIN)/standfast demo

wake: $(READY)   ## Claude Code is compacted and killed with -9, and told where it was
	@$(BIN)/python -m harness.demo

storm: $(READY)  ## the journal alone: many writers, kill -9 among them, nothing lost
	@$(BIN)/python -m harness.storm_demo

fuzz: $(READY)   ## every parser, guided by coverage; ARGS="--seconds 600 --seed 2 json yaml"
	@tools/venv.sh $(VENV) requirements/dev.lock requirements/fuzz.lock
	@$(BIN)/python -m harness.fuzz $(ARGS)

faults: $(READY) ## everything that could lose our data, tried: an hour or more, build/faults.json
	@$(BIN)/python -m harness.faults $(ARGS)

matrix:          ## lanes killed anywhere and resumed, beside DBOS and LangGraph: about half an hour, build/matrix.json
	@tools/venv.sh $(MATRIX) requirements/dev.lock requirements/matrix.lock
	@$(MATRIX)/bin/python -m harness.matrix $(ARGS)

night: $(READY)  ## a run of real Claude Code and Codex, killed 50 times and rebooted: some minutes, build/night.json
	@$(BIN)/python -m harness.night $(ARGS)

test: $(READY) lint   ## every test that any machine can do; ends with the requirement rows that were proved
	@$(BIN)/python tools/run_tests.py test

prove: $(READY)  ## whole sweeps, then what needs the machine to itself: ratios, power cuts, storms, a night
	@$(BIN)/python tools/run_tests.py prove

lint: $(READY)   ## style, types and layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache --no-logo 2>&1 | tail -n 4

format: $(READY) ## let ruff put the source in order
	@$(BIN)/ruff check --fix-only . && $(BIN)/ruff format .

bench: $(READY)  ## absolute figures: a table, a picture and build/bench.json
	@tools/venv.sh $(VENV) requirements/dev.lock requirements/bench.lock
	@$(BIN)/python -m bench

docs: $(READY)   ## write the generated reference pages anew
	@$(BIN)/python tools/reference.py

lock:            ## resolve the dependencies anew (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --group dev pyproject.toml -o requirements/dev.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --group bench -c requirements/dev.lock pyproject.toml -o requirements/bench.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --group fuzz -c requirements/dev.lock pyproject.toml -o requirements/fuzz.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --group matrix -c requirements/dev.lock pyproject.toml -o requirements/matrix.lock

clean:           ## remove what make made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): requirements/dev.lock pyproject.toml tools/venv.sh
	@echo "making the environment in $(VENV) (once)"
	@tools/venv.sh $(VENV) requirements/dev.lock
