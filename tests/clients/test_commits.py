"""A session is told the commits that it made and that still stand, and nobody else's."""

import subprocess
from pathlib import Path

import pytest

from claude_calls import Claude
from standfast.clients.hooks.checkout import Checkout, Move
from standfast.clients.hooks.commits import read

A, B, C, D = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)


# What the log means.


def test_amended_commit_takes_the_place_of_the_one_before() -> None:
    made, gone = read([Move(B, C, "commit (amend)", "final")], [(B, A, "wip")])

    assert [(m.commit, m.parent, m.replaces) for m in made] == [(C, A, [B])]
    assert gone == []


@pytest.mark.parametrize(
    ("target", "gone"), [(A, [C, B]), (B, [C]), (C, []), (D, [])], ids=["all", "one", "none", "far"]
)
def test_reset_takes_away_what_came_after_its_target(target: str, gone: list[str]) -> None:
    told = [(C, B, "two"), (B, A, "one")]

    assert read([Move(C, target, "reset", "moving to x")], told) == ([], gone)


def test_rebased_commit_replaces_the_one_with_its_subject() -> None:
    moves = [
        Move(B, D, "rebase (start)", "checkout main"),
        Move(D, C, "rebase (pick)", "one"),
        Move(C, C, "rebase (finish)", "returning to refs/heads/x"),
    ]

    made, _ = read(moves, [(B, A, "one")])

    assert [(m.commit, m.replaces) for m in made] == [(C, [B])]


@pytest.mark.parametrize(
    ("action", "subject"),
    [("pull", "Fast-forward"), ("merge main", "Fast-forward"), ("checkout", "moving from a to b")],
)
def test_commits_of_others_are_not_made_by_moving_to_them(action: str, subject: str) -> None:
    assert read([Move(A, B, action, subject)], []) == ([], [])


# In a session.


@pytest.fixture
def git(repo: Path) -> "Git":
    git = Git(repo)
    git("commit", "--allow-empty", "-qm", "root")
    return git


class Git:
    """git in one checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True)

    def commit(self, subject: str, *more: str) -> None:
        self("commit", "--allow-empty", "-qm", subject, *more)


def subjects(brief: str) -> list[str]:
    return [line.split("«")[1][5:-6] for line in brief.splitlines() if "- commit " in line]


def during(claude: Claude, git: Git, command: str, *steps: tuple[str, ...]) -> None:
    """A command of the session in which git does all of this."""
    name = claude.begins("Bash", command=command)
    for step in steps:
        git(*step)
    claude.ends(name, "Bash", command=command)


COMMIT = ("commit", "--allow-empty", "-qm")


def test_what_was_amended_or_taken_back_is_not_told_as_done(repo: Path, git: Git) -> None:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    during(claude, git, "git commit", (*COMMIT, "one"))
    during(claude, git, "git commit", (*COMMIT, "wip"))
    during(claude, git, "git commit --amend", (*COMMIT, "two", "--amend"))
    amended = subjects(claude.wakes())
    during(claude, git, "git reset --hard HEAD~1", ("reset", "-q", "--hard", "HEAD~1"))

    assert amended == ["one", "two"]
    assert subjects(claude.wakes()) == ["one"]


def test_failing_test_is_told_although_its_command_committed_too(repo: Path, git: Git) -> None:
    claude = Claude(repo)
    command = "git commit -qm x && npm test"
    name = claude.begins("Bash", command=command)
    git.commit("x")
    claude(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": command},
        tool_use_id=name,
        error="Exit code 1\n7 of 31 failed",
    )
    text = claude.wakes()

    assert "failed 1" in text
    assert "7 of 31 failed" in text
    assert subjects(text) == ["x"]


@pytest.mark.req("WAKE-08")
def test_commit_belongs_to_the_session_whose_command_commits(repo: Path, git: Git) -> None:
    first, second = Claude(repo, "first"), Claude(repo, "second")
    for claude in (first, second):
        claude("SessionStart", source="startup")
    fetching = first.begins("Bash", command="git fetch")
    committing = second.begins("Bash", command="git commit -qm mine")
    git.commit("mine")
    first.ends(fetching, "Bash", command="git fetch")
    second.ends(committing, "Bash", command="git commit -qm mine")
    first.does("Bash", command="ls")

    assert subjects(first.wakes()) == []
    assert subjects(second.wakes()) == ["mine"]


def test_call_of_a_session_that_is_over_hides_nobody_elses_commit(repo: Path, git: Git) -> None:
    dead, claude = Claude(repo, "dead"), Claude(repo)
    dead("SessionStart", source="startup")
    dead.begins("Bash", command="sleep 99")
    dead("SessionEnd", reason="other")
    claude("SessionStart", source="startup")
    during(claude, git, "make release", (*COMMIT, "release"))

    assert subjects(claude.wakes()) == ["release"]


def test_history_of_another_repository_is_not_this_sessions_work(repo: Path, git: Git) -> None:
    vendor = Git(repo / "vendor")
    git("clone", "-q", ".", "vendor")
    vendor.commit("theirs")
    claude = Claude(repo)
    command = {"command": "cd vendor"}
    name = claude.begins("Bash", **command)
    claude(
        "PostToolUse",
        cwd=str(repo / "vendor"),
        tool_name="Bash",
        tool_input=command,
        tool_use_id=name,
        tool_response={"stdout": ""},
    )

    assert Checkout(str(repo)).id != Checkout(str(repo / "vendor")).id
    assert subjects(claude.wakes()) == []


def test_commit_of_a_command_in_the_background_is_seen_and_its_end_told(
    repo: Path, git: Git
) -> None:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    given = {"command": "sleep 5; git commit -qm late"}
    claude.does("Bash", response={"backgroundTaskId": "b1"}, **given)
    claude("Stop", background_tasks=[{"id": "b1"}])
    git.commit("late")
    claude("Stop", background_tasks=[])
    text = claude.wakes()

    assert subjects(text) == ["late"]
    assert "ended in the background, how is not recorded" in text
    assert "IN FLIGHT" not in text


def test_commit_is_seen_later_where_the_end_of_its_call_was_told_late(repo: Path, git: Git) -> None:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    name = claude.begins("Bash", command="git commit -qm kept")
    git.commit("kept")
    ended = {"id": name, "tool": "Bash", "words": "git commit -qm kept"}
    with claude.journal.writing() as tx:  # as a spool gives it back: nobody looked at the log
        from standfast.journal.author import Author

        author = Author("claude", session=claude.session)
        tx.append("tool.ended", ended, author, origin="spool boot 1")
    claude.does("Bash", command="ls")

    assert subjects(claude.wakes()) == ["kept"]
