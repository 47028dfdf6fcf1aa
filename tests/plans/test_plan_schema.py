"""The schema that editors use and the reader that runs use refuse the same plans."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from places import ROOT
from plan_samples import EVERYTHING, SMALLEST
from standfast.formats import json_schema
from standfast.formats.yaml_text import read_yaml
from standfast.plans import plan_schema
from standfast.plans.findings import errors
from standfast.plans.readers import yaml_plan

pytestmark = pytest.mark.req("RUN-01")

ODD = st.sampled_from(
    [None, True, 0, 1, 3, 21, 0.5, 1.5, -1, "", " ", "x", "ff", "pr", "stop", "45m", "0m", "8x",
     [], ["a"], ["a", 1], [""], {}, {"a": "x"}, {"b": None}, {"_": "x"}]
)  # fmt: skip


def _mapping(keys: tuple[str, ...], known: dict[str, st.SearchStrategy[Any]]) -> Any:
    """Some keys with values that fit, some with values that may not, and at times one too many."""
    either = {key: known.get(key, ODD) | ODD for key in keys}
    return st.fixed_dictionaries({}, optional={**either, "other": ODD})


NAMES = st.sampled_from(["a", "SL-1", "P1", "b c", "x" * 65, "-"])
TASK = st.just("do") | _mapping(yaml_plan.TASK, {"prompt": st.just("do"), "role": st.just("r")})
TASKS = st.dictionaries(NAMES, TASK, max_size=2)
LANE = st.just("do") | _mapping(yaml_plan.LANE, {"task": st.just("do"), "tasks": TASKS})
LANES = st.dictionaries(NAMES, LANE, max_size=2)
GATES = st.dictionaries(NAMES, _mapping(yaml_plan.GATE, {"role": st.just("r")}), max_size=1)
PHASE = _mapping(yaml_plan.PHASE, {"lanes": LANES, "gates": GATES})
PHASES = st.dictionaries(NAMES, PHASE, max_size=2)
LIMITS = _mapping(yaml_plan.LIMITS, {})
PLANS = _mapping(yaml_plan.PLAN, {"lanes": LANES, "phases": PHASES, "limits": LIMITS})


def _by_schema(value: Any) -> list[json_schema.Fault]:
    return list(json_schema.check(value, plan_schema.PLAN))


def _by_reader(text: str) -> list[str]:
    _, found = yaml_plan.read(text.encode(), "plan.yaml", run="r")
    return [f"{each.line}: {each.problem}" for each in errors(found)]


@pytest.mark.parametrize("text", [SMALLEST, EVERYTHING, "lanes: {a: x}"])
def test_good_plans_are_good_by_both(text: str) -> None:
    assert _by_schema(read_yaml(text, name="p").value) == []
    assert _by_reader(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "{}", "[]", "lanes: {}", "lanes: []", "lanes: {a: 1}", "lanes: {a: ''}", "lanes: {a b: x}",
        "lanes: {a: {}}", "lanes: {a: {task: x, tasks: {b: y}}}", "lanes: {a: {tsk: x}}",
        "lanes: {a: {tasks: {b: {prompt: x, prompt_file: y}}}}", "lanes: {a: {tasks: {b: {}}}}",
        "lanes: {a: {task: x, merge: yes}}", "lanes: {a: {task: x, retries: 21}}",
        "lanes: {a: {task: x, time: 0}}", "lanes: {a: {task: x, time: 1d}}",
        "lanes: {a: {task: x, owns: 1}}", "lanes: {a: {task: x, after: [1]}}",
        "{lanes: {a: x}, phases: {P: {lanes: {a: x}}}}", "phases: {P: {}}",
        "phases: {P: {lanes: {a: x}, gates: {Q: {}}}}",
        "phases: {P: {lanes: {a: x}, gates: {Q: {role: r, pass: 2}}}}",
        "phases: {P: {lanes: {a: x}, gates: {Q: {role: r, iterations: 0}}}}",
        "{lanes: {a: x}, limits: {lanes: 0}}", "{lanes: {a: x}, limits: {cost_usd: -1}}",
        "{lanes: {a: x}, on_failure: go}", "{lanes: {a: x}, test: 1}", "{lanes: {a: x}, pr: ''}",
        "{lanes: {a: x}, setup: null}", "{lanes: {a: x}, run: a/b}", "{lanes: {a: x}, more: 1}",
    ],
)  # fmt: skip
def test_bad_plans_are_bad_by_both(text: str) -> None:
    assert _by_schema(read_yaml(text, name="p").value) != []
    assert _by_reader(text) != []


@settings(max_examples=600)
@given(PLANS)
def test_schema_and_reader_agree(value: Any) -> None:
    by_schema, by_reader = _by_schema(value), _by_reader(json.dumps(value))

    assert bool(by_schema) == bool(by_reader), (by_schema, by_reader)


def test_schema_is_published() -> None:
    path = ROOT / "docs" / "reference" / "plan.schema.json"

    assert json.loads(path.read_text(encoding="utf-8")) == plan_schema.PLAN


def test_schema_has_every_key_of_the_reader() -> None:
    assert sorted(plan_schema.PLAN["properties"]) == sorted(yaml_plan.PLAN)
    lane = plan_schema.PLAN["properties"]["lanes"]["additionalProperties"]["anyOf"][1]
    assert sorted(lane["properties"]) == sorted(yaml_plan.LANE)
