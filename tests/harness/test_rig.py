"""The rig drives the real clients: what the model received is what a test may rely on."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from claude_world import VERSIONS
from harness import rig
from harness.rig.claude import Claude, ClientFailed
from harness.rig.clients import InstallFailed, NpmMissing, install
from harness.rig.model import Model, NeverAsked
from harness.rig.place import OLD_COMPACT_WINDOW, Place, make_place
from harness.rig.play import differences, play
from harness.rig.scenario import Expectation, read_scenario
from harness.rig.script import AGENT, Reply, Rule
from harness.rig.seen import Kind, received
from harness.rig.terminal import Terminal, TmuxMissing
from standfast.errors.base import BadDocument

SCENARIOS = Path(rig.__file__).parent / "scenarios"
NEWEST = "2.1.325"


@pytest.fixture
def newest() -> str:
    return program_of(NEWEST)


@pytest.fixture(params=VERSIONS)
def program(request: pytest.FixtureRequest) -> str:
    return program_of(request.param)


def program_of(version: str) -> str:
    try:
        return install(version)
    except NpmMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(str(tmp_path / "place"))


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as served:
        yield served


def record_hooks(place: Place, *events: str) -> Path:
    """Have the client append every payload of *events* to the file that is given back."""
    log = Path(place.folder, "hooks.jsonl")
    hook = Path(place.folder, "hook.sh")
    hook.write_text(f'#!/bin/sh\nd=$(cat)\nprintf "%s\\n" "$d" >>"{log}"\n', encoding="utf-8")
    hook.chmod(0o755)
    entry: Any = [{"hooks": [{"type": "command", "command": str(hook)}]}]
    place.use_settings({"hooks": dict.fromkeys(events, entry)})
    return log


def payloads(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def bash(command: str) -> tuple[str, dict[str, str]]:
    return ("Bash", {"command": command, "description": "a step"})


# The real clients.


@pytest.mark.parametrize("story", sorted(SCENARIOS.glob("*.yaml")), ids=lambda story: story.stem)
def test_every_published_scenario_comes_to_pass(program: str, place: Place, story: Path) -> None:
    scenario = read_scenario(story.read_bytes(), name=story.name)

    played = play(scenario, program, place)

    assert played.problems == []


def test_scenario_that_expects_what_was_not_shown_says_so(newest: str, place: Place) -> None:
    story = """
    model: [{when: hello, text: hi}, {when: never said, text: x}]
    steps: [{prompt: hello}, {prompt: again}]
    expect:
      - {answering: hello, has: [hello, a brief], lacks: [hello]}
      - {to: summary, has: [hello]}
    """

    played = play(read_scenario(story, name="s.yaml"), newest, place)

    nothing, unused, lacks, has, absent = played.problems
    assert nothing.startswith("nothing was scripted for a request of main")
    assert unused.startswith("never asked for: to main, when 'never said'")
    assert lacks == "main request answering 'hello' lacks 'a brief'"
    assert has == "main request answering 'hello' has 'hello'"
    assert absent == "no summary request answering ''"


def test_hooks_of_the_project_are_called(program: str, place: Place, model: Model) -> None:
    log = record_hooks(place, "SessionStart", "UserPromptSubmit", "PreToolUse", "SessionEnd")
    model.script.rules += [
        Rule(when="hello", reply=Reply(calls=(bash("echo one"),))),
        Rule(when="one", reply=Reply(text="done")),
    ]

    with Claude(program, place, model.url) as claude:
        claude.start()
        result = claude.send("hello")
        status = claude.end()

    heard = payloads(log)
    assert (status, result["result"]) == (0, "done")
    assert [each["hook_event_name"] for each in heard] == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "SessionEnd",
    ]
    assert {each["session_id"] for each in heard} == {claude.session}


def test_subagent_is_told_from_the_main_agent(program: str, place: Place, model: Model) -> None:
    task = {"description": "d", "prompt": "dig", "subagent_type": "general-purpose"}
    model.script.rules += [
        Rule(when="delegate", reply=Reply(calls=((AGENT, task),))),
        Rule(to=Kind.AGENT, when="dig", reply=Reply(calls=(bash("echo dug"),))),
        Rule(to=Kind.AGENT, when="dug", reply=Reply(text="found it")),
        Rule(when="found it", reply=Reply(text="done")),
    ]

    with Claude(program, place, model.url) as claude:
        claude.start()
        result = claude.send("delegate")

    assert result["result"] == "done"
    assert (len(model.of(Kind.MAIN)), len(model.of(Kind.AGENT))) == (2, 2)
    assert model.script.unscripted == []


def test_client_compacts_by_itself_when_replies_say_so(
    program: str, place: Place, model: Model
) -> None:
    log = record_hooks(place, "PreCompact", "SessionStart")
    model.script.rules += [
        *(Rule(reply=Reply(calls=(bash(f"echo step {n}"),))) for n in range(3)),
        Rule(reply=Reply(calls=(bash("echo last"),), tokens=OLD_COMPACT_WINDOW)),
        Rule(to=Kind.SUMMARY, reply=Reply(text="<summary>SUMMARY</summary>")),
        Rule(reply=Reply(text="done")),
    ]

    with Claude(program, place, model.url) as claude:
        claude.start()
        claude.send("go")

    assert "SUMMARY" in model.of(Kind.MAIN)[-1].text
    assert [each.get("trigger") or each.get("source") for each in payloads(log)] == [
        "startup",
        "auto",
        "compact",
    ]


def test_killed_client_leaves_a_shell_that_the_place_can_end(
    newest: str, place: Place, model: Model
) -> None:
    model.script.rules += [Rule(reply=Reply(calls=(bash("echo $$ >pid; exec sleep 600"),)))]
    pid = Path(place.project, "pid")

    with Claude(newest, place, model.url) as claude:
        claude.start()
        claude.say("go")
        claude.wait_for(lambda said: said.get("type") == "assistant")
        until(lambda: pid.exists() and pid.read_text(encoding="utf-8").strip() != "")
        claude.kill(group=True)
        survivors = list(place.leftovers())
    shell = int(pid.read_text(encoding="utf-8"))

    assert shell in survivors
    until(lambda: not list(place.leftovers()))


def test_client_can_be_killed_while_the_model_holds_its_answer(
    newest: str, place: Place, model: Model
) -> None:
    model.script.rules += [
        Rule(when="first", reply=Reply(text="noted")),
        Rule(when="think", reply=Reply(text="too late", hold=True)),
        Rule(when="again", reply=Reply(text="here")),
    ]

    with Claude(newest, place, model.url) as claude:
        claude.start()
        claude.send("first")
        claude.say("think")
        model.wait_for(lambda request: "think" in request.last_user)
        claude.kill()
        claude.resume()
        result = claude.send("again")

    assert result["result"] == "here"
    assert "too late" not in model.of(Kind.MAIN)[-1].text


def test_client_ends_by_a_signal(newest: str, place: Place, model: Model) -> None:
    model.script.rules += [Rule(reply=Reply(text="hi"))]

    with Claude(newest, place, model.url) as claude:
        claude.start()
        claude.send("hello")
        status = claude.end(by=signal.SIGTERM)

    assert status == 128 + signal.SIGTERM


def test_silent_client_is_an_error_with_its_own_words(
    newest: str, place: Place, model: Model
) -> None:
    with Claude(newest, place, model.url) as claude:
        claude.start("--no-such-flag")
        with pytest.raises(ClientFailed, match="no-such-flag"):
            claude.wait_for(lambda _: False)
    with pytest.raises(ClientFailed, match="does not run"):
        claude.say("hello")


def test_person_at_a_terminal_can_clear_and_leave(program: str, place: Place, model: Model) -> None:
    log = record_hooks(place, "SessionStart", "Stop", "SessionEnd")
    model.script.rules += [
        Rule(when="hello", reply=Reply(text="GREETED")),
        Rule(when="once more", reply=Reply(text="AGAIN")),
    ]

    try:
        terminal = Terminal(program, place, model.url)
    except TmuxMissing as missing:
        pytest.skip(str(missing))
    with terminal:
        terminal.start()
        terminal.type("hello")
        terminal.wait_until(lambda: "GREETED" in terminal.screen())
        terminal.type("/clear")
        terminal.wait_until(lambda: '"source":"clear"' in log.read_text(encoding="utf-8"))
        terminal.type("once more")
        terminal.wait_until(lambda: "AGAIN" in terminal.screen())
        terminal.type("/exit")
        terminal.wait_until(lambda: not terminal.is_running())

    heard = payloads(log)
    ends = [each["reason"] for each in heard if each["hook_event_name"] == "SessionEnd"]
    assert ends == ["clear", "prompt_input_exit"]
    assert len({each["session_id"] for each in heard}) == 2
    assert "GREETED" not in model.of(Kind.MAIN)[-1].text


# The model.


def ask(
    model: Model, path: str = "/v1/messages", **body: object
) -> tuple[int, str, dict[str, str]]:
    return post(model, json.dumps(body).encode(), path)


def post(model: Model, data: bytes, path: str = "/v1/messages") -> tuple[int, str, dict[str, str]]:
    request = urllib.request.Request(model.url + path, data=data, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode(), dict(refused.headers)


def said(text: str, **more: object) -> dict[str, Any]:
    tools = [{"name": "Bash", "input_schema": {"properties": {"command": {}}}}]
    return {"tools": tools, "messages": [{"role": "user", "content": text}], **more}


def test_rules_answer_once_in_their_order_and_the_rest_is_told(model: Model) -> None:
    model.script.rules += [
        Rule(when="b", reply=Reply(text="second")),
        Rule(reply=Reply(text="first")),
        Rule(when="c", reply=Reply(text="ever"), always=True),
    ]

    answers = [json.loads(ask(model, **said(text))[1]) for text in ("a", "b", "c", "c", "d")]

    texts = [answer["content"][0]["text"] for answer in answers]
    assert texts[:4] == ["first", "second", "ever", "ever"]
    assert [request.last_user for request in model.script.unscripted] == ["d"]
    assert [request.last_user for request in model.requests] == ["a", "b", "c", "c", "d"]


def test_rule_looks_at_the_last_message_of_the_user_alone(model: Model) -> None:
    model.script.rules += [
        Rule(when="early", reply=Reply(text="wrong")),
        Rule(reply=Reply(text="right")),
    ]
    spoken = [{"role": "user", "content": "early"}, {"role": "user", "content": "late"}]

    answer = json.loads(ask(model, **said("", messages=spoken))[1])

    assert answer["content"][0]["text"] == "right"


def test_reply_is_streamed_as_the_events_of_the_api(model: Model) -> None:
    model.script.rules += [Rule(reply=Reply(text="hi", calls=(bash("ls"),), tokens=7))]

    status, text, headers = ask(model, **said("a", stream=True))

    data = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    kinds = [each["type"] for each in data]
    names = [line[7:] for line in text.splitlines() if line.startswith("event: ")]
    assert (status, headers["content-type"]) == (200, "text/event-stream")
    assert names == kinds
    assert kinds == [
        "message_start",
        *("content_block_start", "content_block_delta", "content_block_stop") * 2,
        "message_delta",
        "message_stop",
    ]
    assert data[0]["message"]["usage"]["input_tokens"] == 7
    assert json.loads(data[5]["delta"]["partial_json"]) == bash("ls")[1]
    assert data[7]["delta"]["stop_reason"] == "tool_use"


def test_error_of_the_api_and_a_count_of_tokens_can_be_scripted(model: Model) -> None:
    model.script.rules += [
        Rule(reply=Reply(status=529, text="busy")),
        Rule(to=Kind.SIDE, reply=Reply(tokens=42)),
    ]

    status, text, _ = ask(model, **said("a"))
    counted = ask(model, "/v1/messages/count_tokens?beta=true", **said("a"))

    assert (status, json.loads(text)["error"]["message"]) == (529, "busy")
    assert json.loads(counted[1]) == {"input_tokens": 42}


def test_older_clients_know_the_agent_tool_by_its_older_name(model: Model) -> None:
    call = (AGENT, {"prompt": "dig"})
    model.script.rules += [Rule(reply=Reply(calls=(call,)), always=True)]
    waits: Any = {"properties": {"run_in_background": {}}}

    old = json.loads(ask(model, **said("a"))[1])["content"]
    new = json.loads(ask(model, **said("a", tools=[{"name": AGENT, "input_schema": waits}]))[1])

    assert [(block["name"], block["input"]) for block in old] == [("Task", {"prompt": "dig"})]
    assert [(block["name"], block["input"]) for block in new["content"]] == [
        (AGENT, {"run_in_background": False, "prompt": "dig"})
    ]


SUMMARY = "Your task is to create a detailed summary of the conversation so far."


@pytest.mark.parametrize(
    ("path", "headers", "body", "kind"),
    [
        ("/v1/messages", {}, said("hello"), Kind.MAIN),
        ("/v1/messages", {}, said(SUMMARY), Kind.SUMMARY),
        ("/v1/messages", {}, said(SUMMARY, tools=[]), Kind.SUMMARY),
        ("/v1/messages", {}, said("a title, please", tools=[]), Kind.SIDE),
        ("/v1/messages", {}, said("quota", max_tokens=1), Kind.SIDE),
        ("/v1/messages/count_tokens", {}, said("hello"), Kind.SIDE),
        ("/v1/messages", {"X-Claude-Code-Agent-Id": "a1"}, said("dig"), Kind.AGENT),
        (
            "/v1/messages",
            {},
            said("dig", system=[{"type": "text", "text": "You are an agent for Claude Code, ok"}]),
            Kind.AGENT,
        ),
        ("/v1/messages", {}, said("please dig here, now"), Kind.AGENT),
    ],
)
def test_requests_are_told_apart(
    path: str, headers: Mapping[str, str], body: Mapping[str, Any], kind: Kind
) -> None:
    assert received(path, headers, body, tasks=["dig here"]).kind is kind


def test_every_word_that_a_model_is_shown_is_in_the_text() -> None:
    body: dict[str, Any] = {
        "system": [{"type": "text", "text": "SYSTEM"}],
        "messages": [
            {"role": "user", "content": "PLAIN"},
            {"role": "assistant", "content": [{"type": "tool_use", "input": {"command": "CALL"}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "RESULT"}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "content": [{"type": "text", "text": "DEEP"}]},
                    {"type": "text", "text": "LAST"},
                ],
            },
            {"role": "system", "content": "REMINDER"},
        ],
    }

    request = received("/v1/messages", {}, body)

    words = ("SYSTEM", "PLAIN", "CALL", "RESULT", "DEEP", "LAST", "REMINDER")
    positions = [request.text.index(word) for word in words]
    assert positions == sorted(positions)
    assert request.last_user == "DEEP\nLAST"


@pytest.mark.parametrize(
    "data", [b"", b"not json", b"[1]", b"null", b"\xff", b"[" * 100_000, b'{"a":']
)
def test_model_refuses_what_is_no_request_and_goes_on(model: Model, data: bytes) -> None:
    refused = post(model, data)[0]
    after = ask(model, **said("hello"))[0]

    assert (refused, after) == (400, 200)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None, "tools": [1]},
        {"messages": [1, None, []], "tools": [{}]},
        {"messages": [{}], "system": 5, "tools": {"a": 1}},
        {"messages": [{"role": 1, "content": {"content": {"text": [[]]}}}], "tools": ["x"]},
    ],
)
def test_request_of_an_odd_shape_is_answered_like_any_other(
    model: Model, body: dict[str, Any]
) -> None:
    model.script.rules += [Rule(reply=Reply(calls=((AGENT, {}),)), always=True)]

    assert ask(model, **body)[0] == 200


def test_model_says_politely_what_it_does_not_have(model: Model) -> None:
    codes = []
    for method, path in (("HEAD", "/"), ("GET", "/"), ("GET", "/v1/models"), ("POST", "/x")):
        data = b"{}" if method == "POST" else None
        request = urllib.request.Request(model.url + path, data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                codes.append(answer.status)
        except urllib.error.HTTPError as refused:
            with refused:
                codes.append(refused.code)

    assert codes == [200, 200, 404, 404]
    assert model.requests == []


def test_waiting_for_a_request_that_never_comes_is_an_error(model: Model) -> None:
    ask(model, **said("hello"))

    with pytest.raises(NeverAsked, match="heard: main"):
        model.wait_for(lambda request: request.kind is Kind.SUMMARY, deadline_s=0.01)


# Scenarios.


@pytest.mark.parametrize(
    ("story", "line", "problem"),
    [
        ("steps: [{prompt: a}]\nsurprise: 1", 2, "`surprise` is not known here"),
        ("model:\n  - text: a\n    txet: b", 3, "`txet` is not known here"),
        ("model:\n  - to: nobody", 2, "`to` is one of main, agent, summary, side"),
        ("model:\n  - tokens: many", 2, "a whole number is needed"),
        ("model:\n  - tokens: -1", 2, "a whole number is needed"),
        ("model:\n  - hold: 1", 2, "true or false is needed"),
        ("model:\n  - text: [a]", 2, "text is needed"),
        ("model:\n  - tool: {name: Edit}", 2, "a mapping is needed"),
        ("model:\n  - agent: dig", 2, "a mapping is needed"),
        ("model: {text: a}", 1, "a list is needed"),
        ("steps:\n  - prompt: a\n  - kill: everybody", 3, "`kill` takes client or group"),
        ("steps:\n  - prompt: a\n    kill: client", 2, "a step does one thing"),
        ("steps:\n  - until: a", 2, "a step does one thing"),
        ("steps:\n  - kill: client\n    until: a", 3, "only a prompt has an `until`"),
        ("steps:\n  - hello", 2, "a mapping is needed"),
        ("expect:\n  - has: a", 2, "a list is needed"),
        ("expect:\n  - has: [1]", 2, "text is needed"),
        ("- a", 1, "a mapping is needed"),
        ("", 1, "a mapping is needed"),
    ],
)
def test_scenario_with_a_mistake_is_refused_in_its_line(
    story: str, line: int, problem: str
) -> None:
    with pytest.raises(BadDocument) as refused:
        read_scenario(story, name="s.yaml")

    assert (refused.value.file, refused.value.line) == ("s.yaml", line)
    assert refused.value.problem.startswith(problem)


def test_scenario_says_all_that_the_rig_can_do() -> None:
    story = """
    about: everything
    model:
      - {to: agent, when: w, always: true, hold: true, tokens: 5, error: 500, text: t}
      - {bash: ls, agent: {prompt: dig, type: Plan}, tool: {name: Edit, input: {a: [1]}}}
    steps:
      - {prompt: p, until: f}
      - {kill: group}
      - {resume: last}
      - {write: {a: b, c: ""}}
      - {end: term}
    expect:
      - {to: summary, answering: q, last: true, has: [a], lacks: [b], once: [c]}
    """

    read = read_scenario(story, name="s.yaml")

    first, second = read.rules
    assert read.about == "everything"
    assert (first.to, first.when, first.always) == (Kind.AGENT, "w", True)
    assert first.reply == Reply(text="t", tokens=5, status=500, hold=True)
    task = {"description": "a task", "prompt": "dig", "subagent_type": "Plan"}
    assert second.reply.calls == (bash("ls"), (AGENT, task), ("Edit", {"a": [1]}))
    assert second.reply.tasks == ("dig",)
    assert [(step.verb, step.value, step.until) for step in read.steps] == [
        ("prompt", "p", "f"),
        ("kill", "group", ""),
        ("resume", "last", ""),
        ("write", "", ""),
        ("end", "term", ""),
    ]
    assert read.steps[3].files == (("a", "b"), ("c", ""))
    (expected,) = read.expectations
    assert expected == Expectation(
        to=Kind.SUMMARY, answering="q", last=True, has=("a",), lacks=("b",), once=("c",)
    )
    assert list(differences(expected, "a c")) == []
    assert list(differences(expected, "b c c")) == [
        "lacks 'a'",
        "has 'b'",
        "has 'c' 2 times, not once",
    ]


# Installing.

NPM = """#!/bin/sh
echo run >>"$COUNT"
mkdir -p node_modules/.bin
printf '#!/bin/sh\\necho "{says}"\\n' >node_modules/.bin/claude
chmod 755 node_modules/.bin/claude
exit {status}
"""


def fake_npm(
    folder: Path, patch: pytest.MonkeyPatch, *, says: str = "1.2.3 (x)", status: int = 0
) -> Path:
    """Put an npm before all others that counts its runs in the file that is given back."""
    folder.mkdir()
    npm = folder / "npm"
    npm.write_text(NPM.format(says=says, status=status), encoding="utf-8")
    npm.chmod(npm.stat().st_mode | stat.S_IXUSR)
    patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    patch.setenv("COUNT", str(folder / "count"))
    return folder / "count"


def test_many_who_ask_at_once_get_one_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = fake_npm(tmp_path / "bin", monkeypatch)
    cache = tmp_path / "cache"
    code = "import sys; from harness.rig.clients import install; "
    code += "print(install('1.2.3', cache=sys.argv[1]))"

    askers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(cache)], stdout=subprocess.PIPE, encoding="utf-8"
        )
        for _ in range(6)
    ]
    answers = {asker.communicate(timeout=60)[0].strip() for asker in askers}

    assert answers == {str(cache / "1.2.3" / "node_modules" / ".bin" / "claude")}
    assert count.read_text(encoding="utf-8") == "run\n"
    assert [path.name for path in cache.iterdir() if not path.name.endswith(".lock")] == ["1.2.3"]


@pytest.mark.parametrize(
    ("says", "status", "problem"),
    [("1.2.3 (x)", 1, "npm failed"), ("9.9.9 (x)", 0, "says: 9.9.9")],
)
def test_npm_that_fails_is_an_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, status: int, problem: str
) -> None:
    fake_npm(tmp_path / "bin", monkeypatch, says=says, status=status)
    cache = tmp_path / "cache"

    with pytest.raises(InstallFailed, match=problem):
        install("1.2.3", cache=str(cache))

    assert [path.name for path in cache.iterdir()] == [".1.2.3.lock"]


def test_missing_npm_is_a_reason_to_skip_and_only_when_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program = tmp_path / "1.2.3" / "node_modules" / ".bin" / "claude"
    program.parent.mkdir(parents=True)
    program.touch()

    assert install("1.2.3", cache=str(tmp_path)) == str(program)
    with pytest.raises(NpmMissing):
        install("1.2.4", cache=str(tmp_path))


@pytest.mark.parametrize("version", ["", "latest", "../1.2.3", "1.2.3 --global", "1.2"])
def test_version_that_is_none_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(InstallFailed, match="is no version"):
        install(version, cache=str(tmp_path))


# Places.


def test_client_gets_nothing_of_the_session_around_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "ANTHROPIC_API_KEY", "https_proxy"):
        monkeypatch.setenv(name, "of another")

    environment = place.environment("http://127.0.0.1:1", {"MORE": "1"})

    assert "of another" not in environment.values()
    assert environment["HOME"] == place.home
    assert (environment["ANTHROPIC_BASE_URL"], environment["MORE"]) == ("http://127.0.0.1:1", "1")
