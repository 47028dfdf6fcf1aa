"""How each client is called, and what is read from what the real programs printed."""

import json
import os
import tracemalloc
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from places import TESTS
from standfast.runners import registry, templates
from standfast.runners.registry import KINDS, KNOWN, Call, Report, Runner

RECORDED = TESTS / "fixtures" / "runners"
VERSIONS = {"claude": "2.1.325", "codex": "0.166.0", "gemini": "0.61.0", "opencode": "1.18.33"}
NOW = datetime(2026, 11, 16, 3, 30, tzinfo=timezone.utc)  # noqa: UP017  # datetime.UTC is the same
NEW_YORK = timezone(timedelta(hours=-5))
SESSION = "11111111-1111-4111-8111-111111111111"


def streams(kind: str, case: str) -> tuple[bytes, bytes]:
    """What the real client printed in one recorded case."""
    path = RECORDED / f"{kind}_{VERSIONS[kind]}_{case}.jsonl"
    err = path.with_suffix(".err")
    return path.read_bytes(), err.read_bytes() if err.exists() else b""


def reading(kind: str, case: str, now: datetime | None = NOW) -> Report:
    return registry.read(kind, *streams(kind, case), now)


def argv(kind: str, *, is_resumed: bool, runner: Runner | None = None) -> list[str]:
    call = Call("/p", SESSION, is_resumed=is_resumed)
    return registry.argv(runner or KNOWN[kind], call)


@pytest.mark.req("RUN-02")
def test_each_client_is_called_anew_and_to_go_on() -> None:
    prints = ["-p", "--output-format", "stream-json", "--verbose"]
    logs = ["--format", "json", "--print-logs", "--log-level", "ERROR"]

    assert argv("claude", is_resumed=False) == ["claude", *prints, "--session-id", SESSION]
    assert argv("claude", is_resumed=True) == ["claude", *prints, "--resume", SESSION]
    assert argv("codex", is_resumed=False) == ["codex", "exec", "--json", "-"]
    assert argv("codex", is_resumed=True) == ["codex", "exec", "--json", "resume", SESSION, "-"]
    assert argv("gemini", is_resumed=False)[-2:] == ["--session-id", SESSION]
    assert argv("gemini", is_resumed=True)[-2:] == ["--resume", SESSION]
    assert argv("opencode", is_resumed=False) == ["opencode", "run", *logs]
    assert argv("opencode", is_resumed=True) == ["opencode", "run", *logs, "--session", SESSION]
    assert argv("shell", is_resumed=False) == ["/bin/sh", "/p"]


@pytest.mark.req("RUN-10")
def test_nothing_that_widens_what_an_agent_may_do_is_passed_by_default() -> None:
    said = [
        word for kind in KINDS for again in (False, True) for word in argv(kind, is_resumed=again)
    ]

    assert not [word for word in said if any(part in word for part in (
        "permission", "danger", "skip", "yolo", "auto", "bypass", "allow", "sandbox", "approve",
    ))]  # fmt: skip


@pytest.mark.req("RUN-02")
def test_flags_of_the_user_come_before_ours_and_templates_are_filled_in() -> None:
    codex = KNOWN["codex"]._replace(command=("codex", "exec", "--sandbox", "workspace-write"))
    own = Runner("mine", "shell", ("agent", "--file={prompt}"), ("agent", "--go-on", "{session}"))
    claude = KNOWN["claude"]._replace(resume=("claude", "--continue", "{session}"))

    assert argv("codex", is_resumed=True, runner=codex) == [
        *codex.command, "--json", "resume", SESSION, "-",
    ]  # fmt: skip
    assert argv("", is_resumed=False, runner=own) == ["agent", "--file=/p"]
    assert argv("", is_resumed=True, runner=own) == ["agent", "--go-on", SESSION]
    assert argv("", is_resumed=True, runner=claude)[:4] == ["claude", "--continue", SESSION, "-p"]


def test_a_session_is_gone_on_with_where_there_is_one() -> None:
    own = Runner("mine", "shell", ("agent",))

    assert [kind for kind in KINDS if registry.can_resume(KNOWN[kind])] == [
        "claude", "codex", "gemini", "opencode",
    ]  # fmt: skip
    assert registry.can_resume(own._replace(resume=("agent", "{session}")))


@pytest.mark.req("SEC-03")
@pytest.mark.parametrize(
    ("name", "command", "is_script"),
    [
        ("shell", ("/bin/sh", "{prompt}"), True),
        ("shell", ("env", "-i", "bash", "{prompt}"), True),
        ("strict", ("/usr/bin/bash", "-eu", "{prompt}"), True),
        ("piped", ("zsh",), True),
        ("mine", ("agent", "{prompt}"), False),
        ("mine", ("sh", "-c", "agent < $STANDFAST_PROMPT"), False),
    ],
)
def test_what_runs_a_task_as_commands_is_known(
    name: str, command: tuple[str, ...], *, is_script: bool
) -> None:
    assert registry.takes_script(Runner(name, "shell", command)) == is_script


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize("kind", list(VERSIONS))
def test_what_an_agent_cost_is_read(kind: str) -> None:
    report = reading(kind, "well")

    assert (report.tokens_in, report.tokens_out, report.last) == (3000, 20, "done")
    assert (report.limit, report.error, report.limit_until_s) == ("", "", 0)
    assert report.session
    assert report.cost_usd == {"claude": "0.012400000000000001", "opencode": "0.0093"}.get(kind, "")


@pytest.mark.req("RUN-10")
def test_a_life_of_a_session_is_not_counted_twice() -> None:
    anew, again = reading("codex", "read_only"), reading("codex", "resumed")
    claude = reading("claude", "well")  # its result says 0.0248: both lives

    assert (anew.session, anew.tokens_in, again.tokens_in) == (again.session, 3000, 6000)
    assert registry.spent([("codex", anew), ("codex", again)]) == (Decimal(0), 6000, 40)
    assert registry.spent([("codex", again), ("codex", Report(session=again.session))])[1] == 6000
    assert registry.spent([("claude", claude), ("claude", claude)]) == (
        Decimal("0.024800000000000002"), 6000, 40,
    )  # fmt: skip


@pytest.mark.req("RUN-06")
@pytest.mark.parametrize(
    ("kind", "case", "until", "says"),
    [
        ("claude", "limit", 1794806790, "5-hour limit"),
        ("claude", "too_many", 0, "Request rejected (429)"),
        ("claude", "waiting", 0, "rate_limit"),
        ("codex", "limit", 1794807000, "usage limit"),
        ("codex", "too_many", 0, "429 Too Many Requests"),
        ("gemini", "limit", int(NOW.timestamp()) + 7199, "exhausted your daily quota"),
        ("gemini", "waiting", 0, "status 429"),
        ("opencode", "limit", 0, "usage limit"),
    ],
)
def test_a_limit_is_told_from_an_error_with_the_time_it_ends(
    kind: str, case: str, until: int, says: str
) -> None:
    report = reading(kind, case)

    assert says in report.limit
    assert (report.limit_until_s, report.error) == (until, "")
    assert report.session


@pytest.mark.req("RUN-06")
def test_a_limit_that_codex_tells_by_its_own_clock_ends_on_the_right_day() -> None:
    def until(said: str, now: datetime) -> int:
        event = {"type": "turn.failed", "error": {"message": f"usage limit, try again at {said}."}}
        return registry.read("codex", json.dumps(event).encode(), b"", now).limit_until_s

    def seconds(*moment: int, zone: timezone = NEW_YORK) -> int:
        return int(datetime(*moment, tzinfo=zone).timestamp())  # type: ignore[misc, arg-type]

    evening = datetime(2026, 12, 31, 23, 50, 30, tzinfo=NEW_YORK)
    assert until("1:05 AM", evening) == seconds(2027, 1, 1, 1, 6)
    assert until("11:50 PM", evening) == seconds(2026, 12, 31, 23, 51)
    assert until("12:10 AM", evening) == seconds(2027, 1, 1, 0, 11)
    assert until("12:10 PM", evening) == seconds(2027, 1, 1, 12, 11)
    assert until("Jan 2nd, 2027 3:00 PM", evening) == seconds(2027, 1, 2, 15, 1)
    assert reading("codex", "limit_days", evening).limit_until_s == seconds(2026, 11, 19, 0, 30)
    for odd in ("25:00 AM", "1:99 PM", "Foo 2nd, 2027 3:00 PM", "Feb 30th, 2027 3:00 PM", "dawn"):
        assert until(odd, evening) == 0
    assert reading("codex", "limit", None).limit_until_s == 0


@pytest.mark.req("RUN-06")
def test_an_older_claude_tells_its_limit_in_its_result() -> None:
    said = {
        "type": "result",
        "is_error": True,
        "result": "Claude AI usage limit reached|1794806790",
    }

    report = registry.read("claude", json.dumps(said).encode())

    assert (report.limit_until_s, report.error) == (1794806790, "")
    assert "usage limit reached" in report.limit


@pytest.mark.req("RUN-06")
def test_a_limit_that_was_got_over_is_none() -> None:
    claude, _ = streams("claude", "waiting")
    codex = b'{"type":"error","message":"stream error: 429 Too Many Requests; retrying"}\n'
    logged = streams("opencode", "limit")[1].replace(b"2026-11-16T03:3", b"2025-11-16T03:3")

    for report in (
        registry.read("claude", claude + streams("claude", "well")[0]),
        registry.read("codex", codex + streams("codex", "well")[0]),
        registry.read("opencode", streams("opencode", "well")[0], logged),
        registry.read("gemini", streams("gemini", "well")[0], streams("gemini", "waiting")[1]),
    ):
        assert (report.limit, report.limit_until_s, report.error) == ("", 0, "")
        assert report.tokens_in == 3000


@pytest.mark.req("RUN-06")
def test_claude_is_stopped_by_a_limit_only_if_it_says_so_at_last() -> None:
    def read(*said: object) -> Report:
        return registry.read("claude", b"\n".join(json.dumps(each).encode() for each in said))

    def event(status: str) -> object:
        info = {"status": status, "resetsAt": 1794806790}
        return {"type": "rate_limit_event", "rate_limit_info": info}

    tries = {"type": "system", "subtype": "api_retry", "error_status": 429, "error": "rate_limit"}
    speaks = {"type": "assistant", "message": {"content": [{"text": "on"}]}}
    failed = {"type": "result", "is_error": True, "result": "API Error: 500"}

    assert read(tries, speaks) == Report(last="on")  # it was killed later, for whatever reason
    assert read(event("rejected"), {"type": "result", "is_error": False}) == Report()
    warned = read(event("allowed_warning"), failed)
    assert (warned.error, warned.limit, warned.limit_until_s) == ("API Error: 500", "", 0)
    assert read(event("rejected"), failed).limit_until_s == 1794806790


@pytest.mark.req("RUN-06")
def test_opencode_gives_up_and_says_how_long_to_wait() -> None:
    data = {"statusCode": 429, "message": "Slow down.", "responseHeaders": {"retry-after": "60"}}

    report = registry.read(
        "opencode", json.dumps({"type": "error", "error": {"data": data}}).encode(), b"", NOW
    )

    assert (report.limit, report.error) == ("Slow down.", "")
    assert report.limit_until_s == int(NOW.timestamp()) + 61


@pytest.mark.parametrize(
    ("kind", "case", "says"),
    [
        ("claude", "refused", "Connection refused"),
        ("codex", "refused", "waiting for network"),
        ("gemini", "refused", "fetch failed"),
        ("gemini", "untrusted", "not running in a trusted directory"),
        ("opencode", "refused", "Unable to connect"),
        ("opencode", "bad_key", "Bad key."),
    ],
)
@pytest.mark.req("RUN-06")
def test_what_is_wrong_and_no_limit_is_an_error_in_its_own_words(
    kind: str, case: str, says: str
) -> None:
    report = reading(kind, case)

    assert says in report.error
    assert (report.limit, report.limit_until_s) == ("", 0)
    assert "[31m" not in report.error


@pytest.mark.req("RUN-06")
def test_disk_whose_quota_is_used_up_is_no_limit_that_time_takes_away() -> None:
    words = "write: Disk quota exceeded (os error 122)"
    said = {"type": "turn.failed", "error": {"message": words}}
    report = registry.read("codex", json.dumps(said).encode(), b"", NOW)

    assert (report.limit, report.error) == ("", words)


@pytest.mark.req("RUN-02")
@pytest.mark.parametrize("kind", ["codex", "gemini", "opencode"])
def test_who_was_killed_has_told_its_session(kind: str) -> None:
    report = reading(kind, "killed")

    assert report.session
    assert (report.limit, report.error) == ("", "")


@pytest.mark.req("RUN-02")
@pytest.mark.parametrize("kind", list(VERSIONS))
def test_a_session_that_is_not_there_is_told_from_one_that_failed(kind: str) -> None:
    report = reading(kind, "gone")

    assert report.is_gone
    assert "session" in report.error.lower() or "thread" in report.error
    assert not any(reading(kind, case).is_gone for case in ("well", "refused", "limit"))


@pytest.mark.parametrize("kind", list(VERSIONS))
def test_output_that_is_torn_anywhere_is_read_as_far_as_it_goes(kind: str) -> None:
    whole = b"".join(streams(kind, case)[0] for case in ("well",))
    sessions = {reading(kind, "well").session, ""}

    for end in range(0, len(whole), 7):
        assert registry.read(kind, whole[:end], b"", NOW).session in sessions
    assert registry.read(kind, b"\xff\0{\n[1]\n{}\n" + whole, b"\xff", NOW).tokens_in == 3000


@pytest.mark.parametrize("kind", list(VERSIONS))
@pytest.mark.parametrize(
    "alien",
    [
        b'{"type":"result","usage":[],"session_id":7,"is_error":true,"stats":"x","total_cost_usd":NaN}',
        b'{"type":"turn.completed","usage":{"input_tokens":-5,"output_tokens":1e400}}',
        b'{"type":"step_finish","sessionID":"--x","part":{"cost":1e999,"tokens":{"input":true}}}',
        b'{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":"soon"}}',
        b'{"type":"error","error":{"data":{"statusCode":429,"responseHeaders":{"retry-after":"9"}}}}',
        b'{"type":"thread.started","thread_id":"; rm -rf x"}',
        b'{"type":"init","session_id":{}}\n{"type":"assistant","message":{"content":[[7]]}}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"type":"result","n":' + b"9" * 10_000 + b"}",
    ],
)
def test_alien_lines_are_passed_over(kind: str, alien: bytes) -> None:
    report = registry.read(kind, alien, alien, NOW)

    assert (report.session, report.tokens_in, report.tokens_out) == ("", 0, 0)
    assert report.cost_usd in {"", "0"}
    assert report.limit_until_s in {0, int(NOW.timestamp()) + 10}
    assert all(len(text) <= templates.LONGEST_WORDS for text in report if isinstance(text, str))


@pytest.mark.parametrize("kind", KINDS)
def test_reading_needs_little_memory_whatever_was_printed(kind: str) -> None:
    long_line = b'{"type":"result","x":"' + b"y" * 10_000_000 + b'"}\n'
    many = b'{"type":"assistant","message":{"content":[{"text":"' + b"z" * 900_000 + b'"}]}}\n'
    out = long_line + many * 6 + b"[[]," * 100_000
    tracemalloc.start()
    try:
        report = registry.read(kind, out, out, NOW)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(report.last) <= templates.LONGEST_WORDS
    assert peak < 8_000_000


def test_many_messages_take_no_memory_each() -> None:
    line = b'{"type":"assistant","message":{"id":"%d","usage":{"input_tokens":1,"x":[%s]}}}\n'
    filler = b",".join([b"[]"] * 100)
    out = b"".join(line % (number, filler) for number in range(3_000))
    tracemalloc.start()
    try:
        report = registry.read("claude", out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert report.tokens_in == 3_000
    assert peak < 2_000_000


def test_a_shell_says_its_last_words() -> None:
    assert registry.read("shell", b"one\ntwo \xff\n\n  \n").last == "two \N{REPLACEMENT CHARACTER}"
    assert registry.read("shell", b"", b"error\n") == Report()
    assert registry.read("shell", os.linesep.encode() * 100).last == ""
    assert registry.read("of tomorrow", b"words\n").last == "words"
