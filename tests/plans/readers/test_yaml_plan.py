"""A plan in our own form says everything that can be said, or every mistake in it is told."""

import pytest

from plan_samples import EVERYTHING, SMALLEST, plan_of, told
from standfast.plans.readers import plan_reader

pytestmark = pytest.mark.req("RUN-01")


def test_smallest_plan_needs_only_lanes() -> None:
    plan = plan_of(SMALLEST, "plans/auth rework.yaml")
    (phase,) = plan.phases
    schema, api, docs = phase.lanes

    assert (plan.run, phase.name, plan.test, plan.merge) == ("auth-rework", "P1", "npm test", "ff")
    assert [task.prompt for task in schema.tasks] == ["Add the users table and its migration."]
    assert (api.after, api.retries, api.line) == (("schema",), 2, 4)
    assert (docs.runner, docs.tasks[0].role, docs.test) == ("codex", "builder", None)


def test_everything_is_read() -> None:
    plan = plan_of(EVERYTHING)
    first, second = plan.phases
    db, api = first.lanes
    login, review = api.tasks

    assert (plan.run, plan.base, plan.runner, plan.merge) == ("auth-rework", "main", "claude", "pr")
    assert (plan.limits.lanes, plan.limits.time_s, str(plan.limits.cost_usd)) == (4, 2700, "20")
    assert (plan.setup, plan.copy, plan.retries, plan.time_s) == ("npm ci", (".env.test",), 1, 1800)
    assert (plan.pr, plan.pr_probe) == ("gh pr create --fill", "gh pr view")
    assert (first.title, second.name, second.line) == ("Foundation", "P2", 40)
    (gate,) = first.gates
    assert (gate.name, gate.role, str(gate.least), gate.iterations) == ("QG-1", "critic", "0.92", 3)
    assert (db.owns, db.test, db.retries) == (("migrations/**",), "make test-db", 2)
    assert (api.time_s, api.after, login.role) == (5400, ("SL-DB",), "builder")
    assert (review.after, review.role, review.runner) == (("login",), "reviewer", "codex")
    assert review.prompt_file == "prompts/review.md"
    assert review.outputs == {"review-security.md": "critical", "review-ux-dx.md": "optional"}
    assert second.lanes[0].tasks[0].prompt == "Document every endpoint."


def test_lane_overrides_what_the_plan_says() -> None:
    plan = plan_of("""\
        test: a
        lanes:
          one: {task: x, setup: "", merge: none, runner: codex, test: "", retries: 0, time: 90}
        """)
    (lane,) = plan.phases[0].lanes

    assert (lane.setup, lane.test, lane.merge, lane.retries, lane.time_s) == ("", "", "none", 0, 90)


def test_tasks_come_in_the_order_of_what_they_wait_for() -> None:
    plan = plan_of("""\
        lanes:
          one:
            tasks:
              last: {prompt: x, after: [first, second]}
              second: {prompt: x, after: first}
              first: x
              whenever: x
        """)

    names = [task.name for task in plan.phases[0].lanes[0].tasks]
    assert names == ["first", "second", "last", "whenever"]


def test_every_mistake_is_told_with_its_line() -> None:
    assert told("""\
        run: ../x
        marge: ff
        merge: fast
        limits: {lanes: 0, cost: 5, time: soon}
        retries: 21
        copy: [/etc/passwd]
        lanes:
          a:
            tsak: do it
            time: 8d
          b: {task: x, runner: cluade, after: [a, z]}
          c/d: x
          e: 7
          f: {task: x, tasks: {g: y}}
          g: {task: ""}
          h: {owns: [../x], task: x}
        """) == [
        "1: the run `../x` may hold only ASCII letters, digits, `.`, `_` and `-`",
        "2: `marge` is not known here",
        "3: `merge` cannot be `fast`",
        "4: `cost` is not known here",
        "4: `lanes` is not a number from 1 to 100",
        "4: `time` is no time such as 90s, 45m or 2h, up to a week",
        "5: `retries` is not a number from 0 to 20",
        "6: the file to copy `/etc/passwd` is absolute",
        "8: the lane `a` has no `task`",
        "9: `tsak` is not known here",
        "10: `time` is no time such as 90s, 45m or 2h, up to a week",
        "11: `b` waits for `z`, and there is no such lane",
        "11: there is no runner `cluade`",
        "12: the lane `c/d` may hold only ASCII letters, digits, `.`, `_` and `-`",
        "13: `e` is a number, not a mapping of keys to values",
        "14: `task` stands beside `tasks`",
        "15: `task` is empty",
        "16: the pattern `../x` has the component `..`, so it does not say plainly where it leads",
    ]


def test_nearest_known_word_is_named() -> None:
    _, found = plan_reader.read(b"lanes:\n  a: {tsk: x, merge: f}\n", "p.yaml")

    assert [each.remedy for each in found] == [
        "Did you mean `task`?",
        "Say what it is to do.",
        "Did you mean `ff`?",
    ]


def test_key_that_stands_twice_hides_no_other_mistake() -> None:
    assert told("""\
        lanes:
          a: x
          b: x
          a: {taks: y}
          c: {task: x, after: q}
        """) == [
        "4: the key `a` stands twice; first in line 2",
        "5: `c` waits for `q`, and there is no such lane",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "1: the plan is empty"),
        ("[]", "1: this is a list, not a mapping of keys to values"),
        ("{}", "1: there are no `lanes`"),
        ("test: x", "1: there are no `lanes`"),
        ("lanes: {}", "1: there is no lane"),
        ("lanes:", "1: `lanes` is nothing, not a mapping of keys to values"),
        ("phases: {}", "1: there is no phase"),
        ("phases: {P1: {name: x}}", "1: the phase `P1` has no `lanes`"),
        ("test: true\nlanes: {a: x}", "1: `test` is true or false, not text"),
        ("lanes: {a: {tasks: {}}}", "1: there is no task"),
        ("lanes: {a: {tasks: {t: {role: x}}}}",
         "1: the task `t` needs either `prompt` or `prompt_file`"),
        ("lanes: {a: x}\nphases: {P1: {lanes: {b: x}}}",
         "1: `lanes` stands beside `phases`"),
        ("phases: {P1: {gates: {Q: {pass: 1}}, lanes: {b: x}}}", "1: the gate `Q` has no `role`"),
        ("phases: {P1: {gates: {Q: {role: r, pass: 2}}, lanes: {b: x}}}",
         "1: `pass` is not a number from 0 to 1"),
        ("retries: 1.5\nlanes: {a: x}", "1: `retries` is not a whole number"),
        *((f"base: {each!r}\nlanes: {{a: x}}", f"1: `{each}` can be no branch")
          for each in ("-x", "main~0", "main^{commit}", "main@{0}", "a..b", "a b", "HEAD", "@",
                       "main:file", "x.lock", "a//b", "a/")),
        *((f'{each}: "tr\\0ue"\nmerge: pr\nlanes: {{a: x}}',
           "1: `tr\\x00ue` can never be started: it holds a NUL")
          for each in ("setup", "test", "pr", "pr_probe")),
        ("lanes: {a: {task: x, after: [b, b]}, b: x}", "1: `b` stands twice in `after`"),
        ("lanes: {a: x, A: y}",
         "1: the lane `A` is there twice, as `a` but for its case; first in line 1"),
        ("lanes: {a: {task: x, outputs: {}}}", "1: `outputs` is not known here"),
        ("lanes: {a: {tasks: {t: {prompt: x, outputs: {a/b: critical}}}}}",
         "1: the output `a/b` may hold only ASCII letters, digits, `.`, `_` and `-`"),
        ("lanes: {a: {tasks: {t: {prompt: x, outputs: {b: soft}}}}}",
         "1: `b` cannot be `soft`"),
        ("a: b: c", "1: not YAML: mapping values are not allowed in this context"),
    ],
)  # fmt: skip
def test_each_mistake_is_told(text: str, says: str) -> None:
    assert says in told(text)


def test_command_that_is_too_long_to_be_started_is_told_in_short() -> None:
    (said,) = told(f"lanes: {{a: {{task: x, test: echo {'x' * 140_000}}}}}")

    assert "140,005 bytes, and a command has 131,071 at most" in said
    assert len(said) < 200


# What no plan may be.


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"lanes: {a: x}\n#" + b"x" * 10_000_000, "10000015 bytes; at most 2097152 are read"),
        (b"lanes: {a: " + b"[" * 70 + b"]" * 70 + b"}", "nested deeper than 64 levels"),
        (b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
            b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9))
            for n in range(ord("b"), ord("k"))),
         "more than 100000 values, aliases written out"),
        (b"lanes:\n  a: x\0y\n", "a NUL byte in the text"),
        (b"lanes:\n  a: \xff\xfe\n", "not UTF-8 text"),
        (b"lanes:\n  a: !!python/object/apply:os.system [ls]\n", "tag"),
    ],
    ids=["10 MB", "deep", "alias bomb", "NUL", "no UTF-8", "tag"],
)  # fmt: skip
def test_what_no_plan_may_be_is_refused_with_one_sentence(data: bytes, says: str) -> None:
    (only,) = told(data)

    assert says in only


def test_byte_order_mark_and_crlf_change_nothing() -> None:
    data = b"\xef\xbb\xbf" + SMALLEST.replace("\n", "\r\n").encode()

    assert plan_of(data) == plan_of(SMALLEST)


@pytest.mark.parametrize(
    ("file", "run"),
    [
        ("a/b/auth.yaml", "auth"),
        ("Auth Rework (v2).yml", "Auth-Rework-v2"),
        ("über.yaml", "ber"),
        ("...yaml", "plan"),
        ("con.yaml", "plan-con"),
        ("x.lock.yaml", "plan-x-lock"),
        ("x" * 300 + ".yaml", "x" * 64),
        ("", "plan"),
    ],
)
def test_run_is_named_after_the_file(file: str, run: str) -> None:
    assert plan_reader.run_name(file) == run


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lanes: {a: {task: x}, b: {task: x, depends_on: a}}", "Write `after`."),
        ("lanes: {a: {task: x, needs: [b]}, b: x}", "Write `after`."),
        ("lanes: {a: {task: x, owned_files: [a]}}", "Write `owns`."),
        ("lanes: {a: {task: x, tests: make}}", "Write `test`."),
        ("lanes: {a: {prompt: x}}", "Write `task`."),
        ("lanes: {a: {tasks: {t: {task: x}}}}", "Write `prompt`."),
        ("name: x\nlanes: {a: x}", "Write `run`."),
        ("branch: main\nlanes: {a: x}", "Write `base`."),
        ("lanes: {a: {task: x, title: A}}", "There is no key for it: say it in the prompt"),
        ("lanes: {a: {task: x, acceptance: ok}}", "There is no key for it: say it in the prompt"),
        ("lanes: [{id: a, task: x}]", "Write `NAME:` for each, with its keys below"),
        ("lanes: {a: {tasks: [x, y]}}", "Write `NAME:` for each, with its keys below"),
    ],
)
def test_key_by_another_name_is_refused_with_ours(text: str, said: str) -> None:
    _, findings = plan_reader.read(text.encode(), "p.yaml")

    assert any(said in each.remedy for each in findings), findings
