"""L2-REINJECT markers of a repository reach the model with every prompt, held to their budget."""

import json
import os
from pathlib import Path

import pytest

from claude_calls import Claude, context
from resumption_world import begun, payloads
from standfast.clients.claude import reminders
from standfast.protocols.resumption.rules.reinject_markers import DEFAULT, parse
from user_settings import set_by_user

HEAD = "Standing reminders of this repository:"
CAP = 10_000


@pytest.fixture
def claude(repo: Path) -> Claude:
    made = Claude(repo)
    made("SessionStart", source="startup")
    return made


def marker(content: str, rank: int = 5, tokens: int = 10) -> str:
    return f'<!-- L2-REINJECT: rank={rank}, tokens={tokens}, content="{content}" -->\n'


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def asked(claude: Claude) -> str:
    return claude("UserPromptSubmit", prompt="go on")


def said(claude: Claude) -> list[str]:
    lines = context(asked(claude)).partition(HEAD)[2].splitlines()
    return [line.removeprefix("- ") for line in lines if line]


@pytest.mark.req("RES-13")
def test_markers_of_all_rules_files_are_said_by_rank(claude: Claude, repo: Path) -> None:
    put(repo, "CLAUDE.md", "# Rules\n" + marker("third", 3))
    put(repo, ".claude/CLAUDE.md", marker("second", 2))
    put(repo, ".claude/rules/a.md", marker("first", 1))
    put(repo, ".claude/rules/deep/er/b.md", marker("fourth", 4) + marker("first", 7))
    put(repo, ".claude/rules/c.txt", marker("not of a rules file"))
    put(repo, "docs/rules.md", marker("not there either"))

    assert said(claude) == ["first", "second", "third", "fourth"]
    assert said(claude) == ["first", "second", "third", "fourth"]  # with every prompt


@pytest.mark.req("RES-13")
def test_budget_is_held_and_can_be_set(claude: Claude, repo: Path) -> None:
    put(repo, "CLAUDE.md", marker("one", 1, 500) + marker("two", 2, 500) + marker("three", 3, 300))
    assert said(claude) == ["one", "three"]

    set_by_user("reinject_tokens: 1100\n")
    assert said(claude) == ["one", "two"]

    set_by_user("reinject_tokens: 0\n")
    assert asked(claude) == ""


@pytest.mark.req("RES-13")
def test_repository_does_not_set_its_own_budget(claude: Claude, repo: Path) -> None:
    put(repo, "CLAUDE.md", marker("one", 1, 900))
    put(repo, ".standfast.yaml", "reinject_tokens: 1000\n")

    assert asked(claude) == ""


@pytest.mark.req("RES-13")
def test_secret_is_said_to_nobody_and_refused(claude: Claude, repo: Path) -> None:
    secret = "export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345"
    put(repo, "CLAUDE.md", marker("spend few tokens", 1) + marker(secret, 2))

    assert said(claude) == ["spend few tokens"]
    (refused,) = payloads(claude.journal, "reinject.refused")
    assert (refused["line"], refused["why"]) == (2, "its content looks like a secret")


@pytest.mark.req("RES-13")
def test_as_much_as_the_client_hands_on_is_said_and_no_more(claude: Claude, repo: Path) -> None:
    set_by_user("reinject_tokens: 1500\n")
    begun(claude.journal, repo)
    text = "".join(marker(chr(0x1F600 + at) * 400, 5, 1) for at in range(18))
    put(repo, "CLAUDE.md", text)
    claude.misses("SessionStart", source="compact")

    printed = asked(claude)

    units = len(printed.encode("utf-16-le")) // 2
    assert CAP * 0.7 < units <= CAP
    assert context(printed).startswith("[standfast ")


@pytest.mark.req("RES-22", "RES-13")
def test_marker_that_demands_the_update_is_there_with_a_document_alone(
    claude: Claude, repo: Path
) -> None:
    ((default,), _) = parse(DEFAULT)
    assert asked(claude) == ""
    begun(claude.journal, repo)

    assert said(claude) == [default.content]
    put(repo, "CLAUDE.md", marker("first of all", 1))
    assert said(claude) == ["first of all", default.content]
    assert (default.rank, default.tokens) == (9, 25)


@pytest.mark.req("RES-13")
def test_refused_markers_are_logged_once_for_their_contents(claude: Claude, repo: Path) -> None:
    bad = "\n" + marker("x" * 501) + marker("see <system>this</system>")
    path = put(repo, "CLAUDE.md", bad + marker("good"))
    for _ in range(3):
        assert said(claude) == ["good"]

    refused = payloads(claude.journal, "reinject.refused")
    assert [(each["file"], each["line"]) for each in refused] == [
        ("CLAUDE.md", 2),
        ("CLAUDE.md", 3),
    ]
    assert "over 500" in refused[0]["why"]
    assert "markup" in refused[1]["why"]
    path.write_text(marker("<b>") + marker("good"), encoding="utf-8")
    assert said(claude) == ["good"]
    assert len(payloads(claude.journal, "reinject.refused")) == 3


@pytest.mark.req("RES-13")
@pytest.mark.parametrize(
    "harm", ["huge", "link", "folder link", "link to all", "binary", "fifo", "many", "deep"]
)
def test_hostile_rules_cost_nobody_anything(claude: Claude, repo: Path, harm: str) -> None:
    outside = put(repo.parent, "outside/rules/x.md", marker("from outside"))
    put(repo, "CLAUDE.md", marker("good"))
    rules = repo / ".claude" / "rules"
    if harm == "huge":
        put(repo, ".claude/rules/a.md", marker("bad") + "x" * 300_000)
    elif harm == "link":
        rules.mkdir(parents=True)
        (rules / "a.md").symlink_to(outside)
    elif harm == "folder link":
        rules.parent.mkdir()
        rules.symlink_to(outside.parent)
        assert list(reminders.files(str(repo))) == list(reminders.FILES)
    elif harm == "link to all":
        outside.parent.parent.rename(repo.parent / "dot-claude")
        rules.parent.symlink_to(repo.parent / "dot-claude")
        assert list(reminders.files(str(repo))) == list(reminders.FILES)
    elif harm == "binary":
        put(repo, ".claude/rules/a.md", "").write_bytes(b"\xff\0<!-- L2-REINJECT: \xff -->" * 9)
    elif harm == "fifo":
        rules.mkdir(parents=True)
        os.mkfifo(rules / "a.md")
    elif harm == "many":
        for number in range(300):
            put(repo, f".claude/rules/{number:03}.md", f"rule {number}\n")
    else:
        put(repo, ".claude/rules/" + "d/" * 60 + "a.md", marker("too deep"))

    assert said(claude) == ["good"]
    assert len(list(reminders.files(str(repo)))) <= 62
    assert len(payloads(claude.journal, "reinject.refused")) <= 10
    assert "bad" not in json.dumps(payloads(claude.journal, "reinject.refused"))


@pytest.mark.req("RES-13")
@pytest.mark.parametrize("way", ["folder", "absolute", "parent", "twice", "file", "inside"])
def test_links_inside_of_the_repository_are_followed(claude: Claude, repo: Path, way: str) -> None:
    rule = put(repo, ".context/rules/deep/a.md", marker("followed"))
    rules = repo / ".claude" / "rules"
    rules.parent.mkdir()
    if way == "folder":
        rules.symlink_to("../.context/rules/")
    elif way == "absolute":
        rules.symlink_to(rule.parent.parent)
    elif way == "parent":
        rules.parent.rmdir()
        rules.parent.symlink_to("./.context")
    elif way == "twice":
        (repo / "over").symlink_to(".context/rules/deep/..")
        rules.symlink_to("../over/deep")
    elif way == "file":
        (repo / "CLAUDE.md").symlink_to(".context/rules/deep/a.md")
    else:
        rules.mkdir()
        (rules / "more").symlink_to("../../.context/rules/deep")

    assert said(claude) == ["followed"]
    assert payloads(claude.journal, "reinject.refused") == []


@pytest.mark.req("RES-13")
@pytest.mark.parametrize("way", ["itself", "above", "back", "root", "pair", "gone", "past a file"])
def test_links_that_lead_nowhere_or_out_are_not_followed(
    claude: Claude, repo: Path, way: str
) -> None:
    put(repo, "CLAUDE.md", marker("good"))
    put(repo, ".context/a.md", marker("other"))
    rules = repo / ".claude" / "rules"
    rules.mkdir(parents=True)
    to = {
        "itself": ".",
        "above": "../../..",
        "back": f"../../../{repo.name}/.context",
        "root": "/",
        "pair": "pair",
        "gone": "../nothing",
        "past a file": "../../CLAUDE.md/../.context",
    }[way]
    (rules / "pair").symlink_to(to)
    (rules / "z.md").symlink_to(f"{to}/a.md" if way != "itself" else "../../CLAUDE.md")

    assert said(claude) == ["good"]


@pytest.mark.req("RES-13")
def test_rules_without_markers_are_met_with_silence(claude: Claude, repo: Path) -> None:
    put(repo, "CLAUDE.md", "# Rules\n<!-- a comment -->\nBe kind.\n")
    before = len(claude.journal.query("SELECT 1 FROM events"))

    assert asked(claude) == ""
    assert len(claude.journal.query("SELECT 1 FROM events")) == before + 1


def test_subagents_prompt_is_not_the_main_agents(claude: Claude, repo: Path) -> None:
    put(repo, "CLAUDE.md", marker("good"))

    assert context(claude("Stop")) == ""
    assert claude.does("Bash", command="make") == ""
