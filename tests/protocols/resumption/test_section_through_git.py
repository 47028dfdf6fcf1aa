"""Facts that arrive through git are facts: tried as people work, by commands and real git."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from claude_calls import Claude
from conftest import Cli
from resumption_files import FILE, section
from run_worlds import night
from standfast.app.faces import CHECKPOINTS_FILE

pytestmark = pytest.mark.req("RES-24")
READS = [
    ("resumption", "show"),
    ("resumption", "staleness"),
    ("resumption", "validate"),
    ("gate", "show"),
    ("status",),
    ("events",),
    ("checkpoint", "list"),
    ("ps",),
    ("doctor",),
    ("journal", "kept"),
]

HOOKS: list[tuple[str, dict[str, Any]]] = [
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "Go on."}),
    ("SubagentStop", {"agent_id": "a1", "agent_type": "x", "stop_hook_active": False}),
    ("Stop", {"stop_hook_active": False}),
    ("SessionEnd", {"reason": "exit"}),
]


def git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=root, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout


def commit(root: Path, *words: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", " ".join(words) or "more")


def trigger(cli: Cli, root: Path, *words: str) -> None:
    done = cli("resumption", "trigger", *words, cwd=root)
    assert done.returncode == 0, done.stderr


def edit(root: Path, old: str, new: str) -> None:
    text = (root / FILE).read_text(encoding="utf-8")
    assert old in text
    (root / FILE).write_text(text.replace(old, new), encoding="utf-8")


def shown(cli: Cli, root: Path) -> Any:
    return json.loads(cli("resumption", "show", "--json", cwd=root).stdout)


def step(root: Path) -> object:
    return section(root)["recovery_state"]["next_step"]


@pytest.fixture
def clones(repo: Path, cli: Cli, tmp_path: Path) -> tuple[Path, Path]:
    """Two people's clones of one project, each at home in its own."""
    (repo / FILE).write_text("# ours\nworkflow: {id: w-1}\n", encoding="utf-8")
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "begin")
    commit(repo)
    hub = str(tmp_path / "hub.git")
    git(tmp_path, "clone", "-q", "--bare", str(repo), hub)
    git(repo, "remote", "add", "origin", hub)
    git(repo, "fetch", "-q", "origin")
    git(repo, "branch", "-q", "-u", f"origin/{git(repo, 'branch', '--show-current').strip()}")
    git(tmp_path, "clone", "-q", hub, "other")
    return repo, tmp_path / "other"


def test_committed_edit_is_not_taken_back_by_a_command_that_reads(cli: Cli, repo: Path) -> None:
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    commit(repo)
    edit(repo, "next_step: A", 'next_step: "HAND"')
    commit(repo)
    before = hashlib.sha256((repo / FILE).read_bytes()).hexdigest()

    for words in READS:
        cli(*words, cwd=repo)
        assert hashlib.sha256((repo / FILE).read_bytes()).hexdigest() == before, words
        assert git(repo, "status", "--porcelain") == ""
    told = cli("resumption", "show", cwd=repo).stdout
    assert re.search(r"^NEXT +not yet taken: «HAND»$", told, re.MULTILINE)
    assert shown(cli, repo)["not_yet_taken"] == ["recovery_state.next_step"]
    assert "HAND" in cli("status", cwd=repo).stdout
    trigger(cli, repo, "T4", "--agent", "x", "--result", "PASS", "--finding", "Good")

    assert step(repo) == "HAND"
    assert shown(cli, repo)["not_yet_taken"] == []


@pytest.mark.req("CKP-01")
def test_hook_that_fires_no_trigger_changes_no_byte_of_a_work_tree(cli: Cli, repo: Path) -> None:
    (repo / ".standfast.yaml").write_text("status_file: status.md\n", encoding="utf-8")
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    cli("note", "stays", cwd=repo)
    lane = ("--run-id=r", "--phase=P1", "--stage=pre_pr", "--status=ready", "--base-branch=main")
    assert cli("checkpoint", "write", *lane, cwd=repo).returncode == 0
    edit(repo, "next_step: A", 'next_step: "HAND"')
    for file, old, new in (("status.md", "stays\n", "stays\n- by hand\n"),
                           (CHECKPOINTS_FILE, '"notes":""', '"notes":"by hand"')):  # fmt: skip
        text = (repo / file).read_text(encoding="utf-8")
        assert old in text
        (repo / file).write_text(text.replace(old, new), encoding="utf-8")
    commit(repo)
    (repo / FILE).write_bytes((repo / FILE).read_bytes() + b"# of a colleague\n")
    before = git(repo, "diff")
    claude = Claude(repo)
    for event, fields in HOOKS:
        claude(event, **fields)
        claude.does("Bash", command="true")
        assert git(repo, "diff") == before, event
    assert git(repo, "status", "--porcelain").split() == ["M", FILE]
    trigger(cli, repo, "T4", "--agent", "x", "--result", "PASS", "--finding", "Good")

    assert step(repo) == "HAND"


def test_colleagues_newer_section_is_taken_after_a_pull(
    cli: Cli, clones: tuple[Path, Path]
) -> None:
    mine, theirs = clones
    trigger(cli, theirs, "T1", "--phase", "2", "--next-step", "theirs")
    commit(theirs)
    git(theirs, "push", "-q")
    newer = section(theirs)["recovery_state"]["updated_at"]
    git(mine, "pull", "-q")
    told = shown(cli, mine)

    assert told["resumption"]["recovery_state"]["next_step"] == "theirs"
    assert "recovery_state.next_step" in told["not_yet_taken"]
    assert step(mine) == "theirs", "a command that reads"
    assert cli("note", "mine", cwd=mine).returncode == 0
    found = section(mine)["recovery_state"]
    assert (found["next_step"], found["updated_at"]) == ("theirs", newer)


def test_older_section_after_a_pull_loses_and_is_kept_and_named(
    cli: Cli, clones: tuple[Path, Path]
) -> None:
    mine, theirs = clones
    trigger(cli, theirs, "T1", "--phase", "2", "--next-step", "theirs, older")
    trigger(cli, mine, "T1", "--phase", "3", "--next-step", "mine")
    trigger(cli, mine, "T1", "--phase", "4", "--next-step", "mine, newer")
    (mine / FILE).write_bytes((theirs / FILE).read_bytes())
    done = cli("note", "go on", cwd=mine)

    assert step(mine) == "mine, newer"
    (digest,) = set(re.findall(r"journal kept ([0-9a-f]{12})", done.stderr))
    assert "theirs, older" in cli("journal", "kept", digest, cwd=mine).stdout


def test_two_decisions_of_one_number_are_both_in_both_clones(
    cli: Cli, clones: tuple[Path, Path]
) -> None:
    mine, theirs = clones
    assert cli("resumption", "decide", "ours", cwd=mine).stdout == "Recorded RD-001\n"
    assert cli("resumption", "decide", "theirs", cwd=theirs).returncode == 0
    commit(theirs)
    git(theirs, "push", "-q")
    commit(mine)
    subprocess.run(["git", "pull", "-q", "--no-rebase"], cwd=mine, check=False, capture_output=True)
    git(mine, "checkout", "--theirs", FILE)
    commit(mine, "merge")
    trigger(cli, mine, "T1", "--phase", "2")
    commit(mine)
    git(mine, "push", "-q")
    git(theirs, "pull", "-q")
    trigger(cli, theirs, "T1", "--phase", "3")
    commit(theirs)
    git(theirs, "push", "-q")
    git(mine, "pull", "-q")
    trigger(cli, mine, "T1", "--phase", "4")
    logs = [section(each)["decision_log"] for each in clones]

    assert {entry["decision"] for entry in logs[0]} == {"ours", "theirs"}
    assert logs[0] == logs[1]
    assert [entry.get("was") for entry in logs[0]] == [None, "RD-001"]


@pytest.mark.parametrize(
    "moves",
    [
        [("stash",), ("stash", "pop")],
        [("checkout", "--", FILE)],
        [("reset", "-q", "--hard", "HEAD")],
        [("checkout", "-q", "HEAD~1", "--", FILE)],
        [("revert", "--no-edit", "HEAD")],
    ],
    ids=lambda moves: moves[0][0],
)
def test_old_copy_that_git_brings_back_undoes_nothing(
    cli: Cli, repo: Path, moves: list[tuple[str, ...]]
) -> None:
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    commit(repo)
    trigger(cli, repo, "T1", "--phase", "2", "--next-step", "B")
    commit(repo)
    is_dirty = moves[0][0] in {"stash", "reset"} or moves[0] == ("checkout", "--", FILE)
    if is_dirty:
        trigger(cli, repo, "T1", "--phase", "3", "--next-step", "C")
    before = section(repo)["recovery_state"]["updated_at"]
    for words in moves:
        git(repo, *words)
        cli("status", cwd=repo)
    trigger(cli, repo, "T4", "--agent", "x", "--result", "PASS", "--finding", "Good")

    assert step(repo) == ("C" if is_dirty else "B")
    assert section(repo)["recovery_state"]["updated_at"] > before


def test_line_ends_that_git_changed_are_no_news(cli: Cli, repo: Path) -> None:
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    (repo / FILE).write_bytes((repo / FILE).read_bytes().replace(b"\n", b"\r\n"))

    assert shown(cli, repo)["not_yet_taken"] == []
    assert "NOT YET TAKEN" not in cli("status", cwd=repo).stdout


def test_times_never_run_backwards_however_many_come_in_a_second(cli: Cli, repo: Path) -> None:
    times = []
    for phase in range(1, 5):
        trigger(cli, repo, "T1", "--phase", str(phase))
        times.append(section(repo)["recovery_state"]["updated_at"])

    assert times == sorted(set(times))


def test_what_a_reader_saw_is_kept_if_git_takes_it_away_again(cli: Cli, repo: Path) -> None:
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    commit(repo)
    edit(repo, "next_step: A", "next_step: only seen")
    for _ in range(3):
        cli("status", cwd=repo)
    git(repo, "checkout", "--", FILE)
    kept = json.loads(cli("journal", "kept", "--json", cwd=repo).stdout)

    assert [each["why"] for each in kept] == ["found in the file, not yet taken"]
    assert "only seen" in cli("journal", "kept", kept[0]["digest"], cwd=repo).stdout


# A document is a path and a workflow.


def two_workflows(cli: Cli, repo: Path) -> None:
    """A branch each, the same path, another workflow."""
    (repo / FILE).write_text("workflow: {id: one}\n", encoding="utf-8")
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "of one")
    cli("resumption", "decide", "in one", cwd=repo)
    commit(repo, "one")
    git(repo, "checkout", "-qb", "two")
    (repo / FILE).write_text("workflow:\n  id: two  # another\n", encoding="utf-8")
    trigger(cli, repo, "T1", "--phase", "7", "--next-step", "of two")
    assert cli("resumption", "decide", "in two", cwd=repo).stdout.startswith("Recorded RD-001")
    commit(repo, "two")


def test_branch_with_another_workflow_is_another_document(cli: Cli, repo: Path) -> None:
    two_workflows(cli, repo)
    for branch, phase, words in (("-", 1, "one"), ("-", 7, "two"), ("-", 1, "one")):
        git(repo, "checkout", "-q", branch)
        for command in READS:
            cli(*command, cwd=repo)
        assert git(repo, "status", "--porcelain") == ""
        assert shown(cli, repo)["resumption"]["recovery_state"]["current_phase"] == phase
        log = section(repo)["decision_log"]
        assert [(e["id"], e["decision"]) for e in log] == [("RD-001", f"in {words}")]
        trigger(cli, repo, "T4", "--agent", words, "--result", "PASS", "--finding", "Good")
        assert {name[:3] for name in section(repo)["agent_summaries"]} == {words}
        assert step(repo) == f"of {words}"
        git(repo, "checkout", "-q", "--", FILE)


@pytest.mark.parametrize(
    "names_it_first", [True, False], ids=["its name is taken out", "never named"]
)
def test_file_without_a_workflow_is_the_document_whose_section_it_has(
    cli: Cli, repo: Path, *, names_it_first: bool
) -> None:
    if names_it_first:
        (repo / FILE).write_text("workflow: {id: one}\n", encoding="utf-8")
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "of one")
    if names_it_first:
        edit(repo, "workflow: {id: one}", "workflow: {}")
    cli("resumption", "decide", "in one", cwd=repo)
    commit(repo, "one")
    git(repo, "checkout", "-qb", "two")
    (repo / FILE).write_text("workflow: {id: two}\n", encoding="utf-8")
    trigger(cli, repo, "T1", "--phase", "7", "--next-step", "of two")
    cli("resumption", "decide", "in two", cwd=repo)
    commit(repo, "two")
    git(repo, "checkout", "-q", "-")
    before = shown(cli, repo)["resumption"]
    trigger(cli, repo, "T4", "--agent", "x", "--result", "PASS", "--finding", "Good")

    assert (before["recovery_state"]["current_phase"], step(repo)) == (1, "of one")
    assert [entry["decision"] for entry in section(repo)["decision_log"]] == ["in one"]
    git(repo, "checkout", "-qf", "two")
    assert shown(cli, repo)["resumption"]["recovery_state"]["next_step"] == "of two"


def test_brief_tells_no_decision_of_a_workflow_that_is_not_there(cli: Cli, repo: Path) -> None:
    two_workflows(cli, repo)
    assert cli("note", "noted in two", cwd=repo).returncode == 0
    commit(repo)
    Claude(repo)("SessionStart", source="startup")
    both = [cli("brief", cwd=repo).stdout]
    git(repo, "checkout", "-q", "-")
    both.append(cli("brief", cwd=repo).stdout)

    assert ["in one" in told for told in both] == [False, True]
    assert ["in two" in told for told in both] == [True, False]


def test_note_goes_to_the_document_of_this_checkout(cli: Cli, repo: Path) -> None:
    two_workflows(cli, repo)
    assert cli("note", "noted in two", cwd=repo).stdout.startswith("Recorded RD-002")
    commit(repo)
    git(repo, "checkout", "-q", "-")
    cli("note", "noted in one", cwd=repo)

    assert [e["decision"] for e in section(repo)["decision_log"]] == ["in one", "noted in one"]


def test_decision_for_one_file_is_written_into_that_file_alone(cli: Cli, repo: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        trigger(cli, repo, "T1", "--phase", "1", "--file", name)
    cli("resumption", "decide", "for a", "--file", "a.yaml", cwd=repo)
    cli("resumption", "decide", "for b", "--file", "b.yaml", cwd=repo)

    assert [e["decision"] for e in section(repo, "a.yaml")["decision_log"]] == ["for a"]
    assert [(e["id"], e["decision"]) for e in section(repo, "b.yaml")["decision_log"]] == [
        ("RD-001", "for b")
    ]


def test_linked_worktree_with_another_workflow_has_a_document_of_its_own(
    cli: Cli, repo: Path, tmp_path: Path
) -> None:
    two_workflows(cli, repo)
    tree = tmp_path / "tree"
    git(repo, "worktree", "add", "-q", str(tree), "HEAD~1")
    trigger(cli, tree, "T1", "--phase", "2", "--next-step", "moved on")

    assert section(repo)["recovery_state"]["current_phase"] == 7
    assert shown(cli, tree)["resumption"]["recovery_state"]["next_step"] == "moved on"


def test_file_that_names_its_workflow_later_stays_the_same_document(cli: Cli, repo: Path) -> None:
    trigger(cli, repo, "T1", "--phase", "3", "--next-step", "go on")
    text = (repo / FILE).read_text(encoding="utf-8")
    (repo / FILE).write_text(f"workflow:\n  id: late\n{text}", encoding="utf-8")
    cli("resumption", "decide", "kept", cwd=repo)
    trigger(cli, repo, "T4", "--agent", "x", "--result", "PASS", "--finding", "Good")
    found = section(repo)

    assert found["recovery_state"]["current_phase"] == 3
    assert [e["decision"] for e in found["decision_log"]] == ["kept"]
    assert cli("journal", "verify", cwd=repo).returncode == 0


def test_brief_after_a_switch_tells_of_the_workflow_that_is_there(cli: Cli, repo: Path) -> None:
    two_workflows(cli, repo)
    git(repo, "checkout", "-q", "-")
    plans = json.loads(cli("status", "--json", cwd=repo).stdout)["documents"]

    assert [(each["file"], each["phase"]) for each in plans if each.get("phase") == 1] != []
    assert "phase 1" in cli("status", cwd=repo).stdout


# A person's word.


def test_person_says_that_the_file_is_right_a_rewind_included(cli: Cli, repo: Path) -> None:
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    commit(repo)
    trigger(cli, repo, "T1", "--phase", "2", "--next-step", "B")
    cli("resumption", "decide", "stays", cwd=repo)
    commit(repo)
    before = section(repo)["recovery_state"]["updated_at"]
    git(repo, "checkout", "-q", "HEAD~1", "--", FILE)
    told = cli("resumption", "adopt", FILE, cwd=repo)

    assert told.stdout.startswith(f"Adopted {FILE} as it stands; replaced: recovery_state")
    found = section(repo)
    assert (found["recovery_state"]["next_step"], found["recovery_state"]["current_phase"]) == (
        "A",
        1,
    )
    assert found["recovery_state"]["updated_at"] > before
    assert [entry["decision"] for entry in found["decision_log"]] == ["stays"]
    assert cli("journal", "verify", cwd=repo).returncode == 0
    trigger(cli, repo, "T4", "--agent", "x", "--result", "PASS", "--finding", "Good")
    assert step(repo) == "A"


def test_person_adopts_a_file_as_people_write_it(cli: Cli, repo: Path) -> None:
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    edit(repo, "decision_log: []", "decision_log:\n    - decision: by hand\n      rationale: so")
    done = cli("resumption", "adopt", cwd=repo)

    assert done.returncode == 0, done.stderr
    (entry,) = section(repo)["decision_log"] or shown(cli, repo)["resumption"]["decision_log"]
    assert (entry["id"], entry["decision"]) == ("RD-001", "by hand")


def test_agent_adopts_nothing(cli: Cli, repo: Path) -> None:
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    done = cli("resumption", "adopt", cwd=repo, env={"CLAUDECODE": "1"})

    assert done.returncode != 0


@pytest.mark.parametrize("words", [("a.yaml", "b.yaml"), ("nowhere.yaml",), ("../x.yaml",)])
def test_what_cannot_be_adopted_is_refused_in_words(
    cli: Cli, repo: Path, words: tuple[str, ...]
) -> None:
    done = cli("resumption", "adopt", *words, cwd=repo)

    assert done.returncode not in {0, 1}
    assert "Traceback" not in done.stderr


# Who may write it.

ASKS = """\
for words in "resumption decide x" "resumption trigger T1 --phase 9" "gate record Q evidence=1"; do
  unset $(env | grep -o '^STANDFAST_[A-Z_]*')
  {python} -m standfast -C {repo} $words >> {said} 2>&1
done; echo x > made"""


@pytest.mark.req("RES-08")
def test_agent_of_a_lane_writes_no_section(world: Path, tmp_path: Path, cli: Cli) -> None:
    made = night(tmp_path / "lane")
    trigger(cli, made.repo, "T1", "--phase", "1", "--next-step", "lead")
    said = made.top / "said"
    made.agent(ASKS.format(python=sys.executable, repo=made.repo, said=said))
    done = made.call("run", made.plan("run: night\nlanes: {one: x}\n"))

    assert done.returncode == 0, done.stderr
    assert said.read_text(encoding="utf-8").count("asks to write the section") == 3
    assert section(made.repo)["decision_log"] == []


def test_show_says_on_which_branch_the_one_state_was_written(cli: Cli, repo: Path) -> None:
    trigger(cli, repo, "T1", "--phase", "1", "--next-step", "A")
    commit(repo)
    assert "BRANCH" not in cli("resumption", "show", cwd=repo).stdout
    git(repo, "checkout", "-qb", "side")
    trigger(cli, repo, "T1", "--phase", "2", "--next-step", "B")
    commit(repo)
    git(repo, "checkout", "-q", "-")
    told = cli("resumption", "show", cwd=repo).stdout

    assert re.search(r"^BRANCH +last written on side; this is main", told, re.MULTILINE)
    assert "it shows an earlier state" in told
    assert re.search(r"^NEXT +B$", told, re.MULTILINE)
