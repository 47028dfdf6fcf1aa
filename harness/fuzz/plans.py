"""Targets for plans: whatever a file holds is a plan that can be run, or told line by line."""

from __future__ import annotations

import os

from harness.fuzz.target import Target, answered, folder, must, taken, text_of
from standfast.formats import durations
from standfast.plans import plan_file, plan_writer, trust
from standfast.plans.checks import lane_waves, owned_patterns
from standfast.plans.findings import errors
from standfast.plans.readers import plan_reader
from standfast.surfaces.cli import plan_picture
from standfast.surfaces.cli.screen import Screen
from standfast.text import is_hidden

_RUNNERS = ("claude", "codex", "shell")
_PLAIN, _DRAWN = Screen(color=False, width=80), Screen(color=True, width=80, draws=True)


def _read(name: str, data: bytes) -> None:
    plan, found = plan_reader.read(data, name, runners=_RUNNERS)
    lines = data.count(b"\n") + 1
    for each in found:
        must(1 <= each.line <= lines, f"a finding on a line that is not there: {each}")
        must(not any(map(is_hidden, str(each))), f"a finding that hides something: {each!r}")
        must(each.problem, "a finding that says nothing")
    must((plan is None) == bool(errors(found)), "a plan with errors, or none without a reason")
    if plan is None:
        return
    with taken():
        waves = lane_waves.waves(plan)
        listed = sorted(name for wave in waves for name in wave.lanes)
        must(
            listed == sorted(lane.name for _, lane in plan.lanes()), "a lane in no wave, or in two"
        )
        plan_picture.tree(plan, _PLAIN)
        plan_picture.tree(plan, _DRAWN)
        must("\x1b" not in plan_picture.mermaid(plan), "a label that acts on a terminal")
        again, _ = plan_reader.read(plan_writer.write(plan).encode(), "again.yaml")
        must(again is not None, "in our own form it is no plan")
        must(again and lane_waves.waves(again) == waves, "in our own form it is another plan")


def _yaml(data: bytes) -> None:
    _read("plan.yaml", data)


def _markdown(data: bytes) -> None:
    _read("plan.md", data)


@answered
def _pattern(data: bytes) -> None:
    one, _, other = text_of(data).partition("\n")
    checked = [owned_patterns.pattern(each, what="the pattern") for each in (one, other or one)]
    work = owned_patterns.Work(100_000)
    first, second = (owned_patterns.shapes(each) for each in checked)
    must(all(owned_patterns.overlap(each, each, work) for each in first), "it fits no path at all")
    for each in first:
        for against in second:
            both = owned_patterns.overlap(each, against, work)
            must(both == owned_patterns.overlap(against, each, work), "it depends on who is first")


def _time(data: bytes) -> None:
    found = durations.seconds(text_of(data))
    must(found is None or 0 < found <= durations.LONGEST_S, "a time that is none")


@answered
def _trusted(data: bytes) -> None:
    here = folder("trust")
    here.put("prompts/a.md", data)
    plan = here.put("plan.yaml", b"lanes: {a: {tasks: {t: {prompt_file: prompts/a.md}}}}")
    loaded = plan_file.load(plan, here.path)
    must((loaded.plan is None) == bool(errors(loaded.findings)), "a plan with errors")
    home = os.path.join(here.path, "home")
    trust.trust(home, here.path, loaded, at="now", by="me")
    must(trust.is_trusted(home, here.path, loaded), "it was trusted")
    (kept,) = os.listdir(os.path.join(home, trust.FOLDER))
    here.put(os.path.join("home", trust.FOLDER, kept), data)
    must(not trust.is_trusted(home, here.path, loaded), "any file will do")
    os.unlink(os.path.join(home, trust.FOLDER, kept))


_YAML = (
    b"""\
test: make
lanes:
  a: do it
  b: {after: a, task: x, retries: 2, owns: [src/**]}
""",
    b"""\
run: r
runner: claude
limits: {lanes: 2, time: 45m, cost_usd: 2.5}
copy: [.env]
phases:
  P1:
    name: One
    gates: {QG-1: {role: critic, pass: 0.9}}
    lanes:
      a:
        tasks:
          t: {prompt: x, outputs: {o.md: optional}}
          u: {prompt_file: p.md, after: t, role: r, runner: codex}
  P2: {lanes: {b: {task: x, after: P1/a, time: 90}}}
""",
    b"""\
lanes:
  a: {task: x, after: b}
  b: {task: x, after: a}
  c: {task: x, owns: [a/*, b]}
  d: {task: x, owns: 'a/{b,c}', runner: nobody}
  e: {tsk: 1}
""",
)
_TEAM = (
    b"""# Queue

## Step by Step Tasks
Wave 1:
1. **Table**
   - Task ID: table
2. `mail-words`: move them (after 1)
- Goal: a start

### Phase two: the worker
#### 2.1 Loop (Wave 2)
- **Task ID**: loop
- **Depends On**: Wave 1, 1.1-1.2
#### B. Load
- **Task ID**: load
- **Depends On**: nothing, can go with 2.1
- Parallel: false
### Final wave
#### 7. End
- **Task ID**: end
- **Depends On**: 7, all previous tasks
""",
    b"# X\n## Tasks\n### 1. Base\n#### 1.1 a\n- Task ID: a\n### 2. b (after 1)\n- Task ID: b\n",
    b"""\
# Plan
## Objective
All.
## Step by Step Tasks
### 1. One
- **Task ID**: one
- **Assigned To**: ann
- **Context Files**: `a.py`, b.py
- Do it
### 2. Two
* **Task ID:** two
* **Depends On:** 1-1
* **Validate**: `make`
* **Parallel**: false
* **Spawn Wave**: 2
* **Retries**: 1
## Team Orchestration
### Team Members
- Name: ann
  - Agent Type: builder
  - Model: m
| Name | Role | Spawn Wave |
|---|---|---|
| bob | writes | 2 |
### Spawn Waves
- Wave 1: ann - one
## Validation Commands
- `make test`
```sh
$ make lint
```
""",
    b"## Step by Step Tasks\n### Setup the thing\n- **Task ID**\n### 2) x\n- Depends On: none\n",
    b"""\
# Plan: x
- **Parallelism mode**: sequential
## Step by Step Tasks
### Step 1: One
**Task ID:** one
**Verify:**
```sh
# look
$ go test ./...
ok
```
**Acceptance Criteria:**
- good
### Step 2: {name}
**Task ID:** two
**Depends On:** all previous tasks
- Verify: run `make` and look at `x`
- Test: pytest -q && ruff check
<!-- ### 3. three
-->
## Acceptance Criteria
1. fast
## Validation Commands
npm test
""",
)
_PHASE = (
    b"""# P4: Offline

## Lane Overview
| Lane | Depends On | Owned Files | Tests |
|---|---|---|---|
| SL-A | - | `a/**` (except `a/gen`), everything under b/ | `make a` |
| SL-B | none, can run with SL-A | - | - |

## Swim Lanes
### Wave 1
### 3.1 SL-A \xc2\xb7 Alpha
- Verify: `make a`
### SL-B | Beta (Wave 2)
- Owned files: `b/**`
### Gamma (SL-C)
Do it.
""",
    b"""\
# P1: One
Retries: 1
## Lane Index & Dependencies
| Lane | Depends on | Parallel-safe |
|---|---|---|
| SL-1 | (none) | yes |
| SL-2 | SL-1 | no |
## Swim Lanes
### SL-1 -- One
- **Scope**: x
- **Owned files**: `src/**`, b.py
| Task ID | Task Type | Depends On | Test Command(s) |
|--|--|--|--|
| T1 | impl | T2 | `a \\| b` |
| T2 | test | - | make<br>make x |
### SL-2 -- Two
#### Scope
Do it.
| Task ID | Depends On |
|--|--|
| U1 | T1 |
## Test Execution Plan
- `make`
## Acceptance Criteria
- good
""",
    b"""\
---
a: b
---
## Lane Index
- **SL-1**: Depends on: none; Blocks: SL-2
  - Retries: 2
## Swim Lanes
### SL-1
Do.
### SL-2
Do.
""",
    b"""\
# Phase 2 - Two
## B. Interface Freeze Gates
- [ ] IF-0-P2-A: types (owner: SL-A)
## C. Lane Index & Dependencies (draft)
```
- SL-A -- One
  - Depends on: (none - first), IF-1-P1-X, Phase 1
  - Blocks: SL-B
- SL-B -- Two
  - Depends on: IF-0-P2-A, all other lanes, legal sign-off
  - Parallel-safe: no (depends on SL-A)
```
```mermaid
graph TD
  SL-A[One] --> SL-B
```
## Overview
### Data
| a | b |
## IV. Swim Lanes
### SL-A -- One
**Owned Files**
- `a/**`
**Interfaces Provided**
- IF-0-P2-A
| Task ID | Task Type | Depends On | Tests Owned Files | Test Command(s) | Acceptance Criteria |
|--|--|--|--|--|--|
| A1 | test | - | `t/a.py` | `pytest t && mypy .` | red |
| A2 | verify | all above | - | Manual check | - |
### SL-B -- Two
Scope: b
Verify: make test passes
## H. Test Execution Plan
### SL-A
- `make a`
| Lane | Command |
|--|--|
| all | `make` |
""",
)

TARGETS = (
    Target("plan-yaml", "a plan that can be run, or findings with lines", _yaml, _YAML, inputs=600),
    Target("plan-team", "the same of a team plan", _markdown, _TEAM, inputs=600),
    Target("plan-phase", "the same of a phase plan", _markdown, _PHASE, inputs=600),
    Target(
        "plan-patterns",
        "an overlap is one whoever is asked first",
        _pattern,
        (b"src/**\nsrc/a/*.py", b"a/{b,c}/[xy]?\n**/*.md", b"x", b"../y"),
    ),
    Target("plan-times", "a time up to a week, or none", _time, (b"90s", b"1.5h", b"45", b"")),
    Target("plan-trust", "only what a person trusted is", _trusted, (b"Do it.", b"{}", b"\0")),
)
