"""Checkpoints that came with a repository: shown as its own, and nothing is moved by them."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from conftest import Cli

pytestmark = pytest.mark.req("SEC-10", "SEC-09")

FILE = "cp.json"
LANE = ("--run-id", "d", "--phase", "P1", "--lane", "PL")
SECRET = "another project's own words"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder, check=True, capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    return done.stdout.strip()


def record(folder: Path, stage: str, status: str, **more: str) -> dict[str, str]:
    first = git(folder, "rev-list", "--max-parents=0", "HEAD")
    return {
        "run_id": "d", "phase": "P1", "lane": "PL", "stage": stage, "status": status,
        "base_branch": "old", "base_sha": first, "head_sha": first, "branch": "lane/P1/PL",
        "log_path": "/nowhere", "timestamp": "2026-01-02T03:04:05Z", "notes": "planted note",
        **more,
    }  # fmt: skip


def records(folder: Path, **more: str) -> list[dict[str, str]]:
    stages = (("before_lane_start", "ready"), ("after_lane_start", "in_progress"),
              ("after_lane_tests", "failed"))  # fmt: skip
    return [record(folder, stage, status, **more) for stage, status in stages]


@pytest.fixture
def origin(repo: Path) -> Path:
    (repo / ".standfast.yaml").write_text(f"checkpoints_file: {FILE}\n", encoding="utf-8")
    git(repo, "branch", "old")
    git(repo, "branch", "lane/P1/PL")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "settings")
    return repo


def cloned(origin: Path, where: Path, **more: str) -> Path:
    """A clone whose owner has committed, changed and made files since."""
    planted = json.dumps(records(origin, **more))
    (origin / FILE).write_text(planted, encoding="utf-8")
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "-m", "checkpoints")
    git(where, "clone", "-q", str(origin), "clone")
    clone = where / "clone"
    (clone / "mine").write_text("mine\n", encoding="utf-8")
    git(clone, "add", "mine")
    git(clone, "commit", "-q", "-m", "mine")
    (clone / "README.md").write_text("changed\n", encoding="utf-8")
    return clone


def lane_of_ones_own(clone: Path) -> Path:
    """A worktree of the user's, of which the planted records speak."""
    tree = clone / ".worktrees" / "PL"
    git(clone, "worktree", "add", "-q", "-b", "lane/P1/PL", str(tree))
    (tree / "work").write_text("work\n", encoding="utf-8")
    git(tree, "add", "work")
    git(tree, "commit", "-q", "-m", "work")
    return tree


@pytest.mark.parametrize("base", ["old", "origin/old", "origin/main"])
def test_checkout_of_the_user_is_moved_by_no_record(
    cli: Cli, origin: Path, tmp_path: Path, base: str
) -> None:
    where = str(tmp_path / "clone")
    clone = cloned(origin, tmp_path, worktree_path=where, branch="main", base_branch=base)
    cli("note", "x", cwd=clone)
    before = git(clone, "for-each-ref"), git(clone, "status", "--short", "--", "README.md")

    for to in ((), ("--to", "before_lane_start")):
        done = cli("lane", "rollback", *LANE, *to, cwd=clone)
        assert (done.returncode, "SF136" in done.stderr) == (93, True), done.stderr
        assert "--trust" not in done.stderr  # nobody can say that it may

    assert (
        git(clone, "for-each-ref"),
        git(clone, "status", "--short", "--", "README.md"),
    ) == before
    assert (clone / "README.md").read_text("utf-8") == "changed\n"


def test_what_another_tool_of_the_users_wrote_moves_no_checkout_of_theirs(
    cli: Cli, repo: Path
) -> None:
    (repo / ".standfast.yaml").write_text(f"checkpoints_file: {FILE}\n", encoding="utf-8")
    git(repo, "branch", "old")
    git(repo, "checkout", "-q", "-b", "work")
    git(repo, "commit", "-q", "--allow-empty", "-m", "mine")
    said = records(repo, worktree_path=str(repo), branch="work")
    (repo / FILE).write_text(json.dumps(said), encoding="utf-8")
    cli("note", "x", cwd=repo)

    done = cli("lane", "rollback", *LANE, cwd=repo)

    assert (done.returncode, "main checkout" in done.stderr) == (93, True), done.stderr


def test_planted_record_is_shown_as_the_repositorys(cli: Cli, origin: Path, tmp_path: Path) -> None:
    clone = cloned(origin, tmp_path, worktree_path="/w")
    cli("note", "x", cwd=clone)

    listed = cli("checkpoint", "list", cwd=clone).stdout
    shown = cli("checkpoint", "show", "CP-002", cwd=clone).stdout
    explained = cli("lane", "resume", *LANE, cwd=clone).stdout

    assert len(re.findall(r"from the repository: planted note", listed)) == 3
    assert re.search(r"HISTORY\nCP-002 .* repository ", shown)
    for each in (shown, explained):
        assert "From the repository: nobody here wrote" in each
    told = json.loads(cli("checkpoint", "list", "--json", cwd=clone).stdout)
    assert told["from_repository"] == ["CP-001", "CP-002", "CP-003"]
    one = json.loads(cli("checkpoint", "show", "CP-002", "--json", cwd=clone).stdout)
    assert one["from_repository"] is True
    assert "from_repository" not in one["checkpoint"]


def test_nothing_is_moved_by_a_planted_record_until_a_person_says_so(
    cli: Cli, origin: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "clone" / ".worktrees" / "PL"
    clone = cloned(origin, tmp_path, worktree_path=str(tree))
    lane_of_ones_own(clone)
    cli("note", "x", cwd=clone)
    before = git(clone, "for-each-ref", "--format=%(refname) %(objectname)")
    first = git(clone, "rev-list", "--max-parents=0", "HEAD")

    refused = cli("lane", "rollback", *LANE, cwd=clone)

    assert (refused.returncode, "SF535" in refused.stderr) == (120, True), refused.stderr
    assert git(clone, "for-each-ref", "--format=%(refname) %(objectname)") == before
    for shown in (str(tree), "lane/P1/PL", first[:12]):  # what would be moved, and where
        assert shown in refused.stderr
    (mark,) = set(re.findall(r"--trust ([0-9a-f]{64})", refused.stderr))
    wrong = cli("lane", "rollback", *LANE, "--trust", mark[::-1], cwd=clone)
    agent = cli("lane", "rollback", *LANE, "--trust", mark, cwd=clone, env={"CLAUDECODE": "1"})
    assert (wrong.returncode, agent.returncode) == (120, 1)
    assert git(clone, "for-each-ref", "--format=%(refname) %(objectname)") == before

    done = cli("lane", "rollback", *LANE, "--trust", mark, cwd=clone)
    again = cli("lane", "rollback", *LANE, cwd=clone)

    assert (done.returncode, again.returncode) == (0, 0), (done.stderr, again.stderr)
    assert git(tree, "rev-parse", "HEAD") == first
    assert git(clone, "for-each-ref", "refs/standfast/backup")


@pytest.mark.parametrize(
    ("field", "value"), [("branch", "theirs"), ("worktree_path", "elsewhere"), ("head_sha", "HEAD")]
)
def test_trust_holds_for_what_was_shown(
    cli: Cli, origin: Path, tmp_path: Path, field: str, value: str
) -> None:
    tree = tmp_path / "clone" / ".worktrees" / "PL"
    clone = cloned(origin, tmp_path, worktree_path=str(tree))
    lane_of_ones_own(clone)
    cli("note", "x", cwd=clone)
    refused = cli("lane", "rollback", *LANE, cwd=clone)
    (mark,) = set(re.findall(r"--trust ([0-9a-f]{64})", refused.stderr))
    git(clone, "branch", "theirs")
    git(clone, "worktree", "add", "-q", str(clone / "elsewhere"), "theirs")
    new = {"head_sha": git(clone, "rev-parse", value)} if value == "HEAD" else {field: value}
    if field == "worktree_path":
        new = {"worktree_path": str(clone / value), "branch": "theirs"}
    added = record(origin, "retry_attempt", "retrying", **{"worktree_path": str(tree), **new})
    theirs = [*records(origin, worktree_path=str(tree)), added]
    (origin / FILE).write_text(json.dumps(theirs), encoding="utf-8")
    git(origin, "commit", "-qam", "more")
    git(clone, "checkout", "-q", "--", FILE)
    git(clone, "-c", "pull.rebase=false", "pull", "-q", "--no-edit")

    done = cli("lane", "rollback", *LANE, "--trust", mark, cwd=clone)

    assert "rolled_back" not in cli("checkpoint", "list", cwd=clone).stdout
    assert done.returncode in (93, 120), done.stderr


def test_record_of_ones_own_carries_nothing_of_a_planted_one(
    cli: Cli, origin: Path, tmp_path: Path
) -> None:
    """Else what the repository says would be the user's with the next write."""
    clone = cloned(origin, tmp_path, worktree_path="/planted")
    cli("note", "x", cwd=clone)

    done = cli("checkpoint", "write", *LANE, "--stage", "retry_attempt", "--status", "retrying",
               "--json", cwd=clone)  # fmt: skip

    said = json.loads(done.stdout)["record"]
    assert "/planted" not in json.dumps(said)
    assert "base_sha" not in said


def test_planted_record_of_a_lane_takes_none_of_its_steps(
    cli: Cli, origin: Path, tmp_path: Path
) -> None:
    """A plan's run has a name that anybody knows: records of it may have been planted before."""
    clone = cloned(origin, tmp_path, worktree_path="/w")
    pulled = [record(clone, "pre_pr", "complete", run_id="n", lane="a"),
              record(clone, "after_lane_tests", "complete", run_id="n", lane="a")]  # fmt: skip
    git(clone, "checkout", "-q", "--", "README.md")
    (origin / FILE).write_text(json.dumps([*records(origin), *pulled]), encoding="utf-8")
    git(origin, "commit", "-qam", "more")
    git(clone, "-c", "pull.rebase=false", "pull", "-q", "--no-edit")
    cli("note", "x", cwd=clone)
    assert "n/P1/a" in json.dumps(cli("lane", "resume", "--run-id", "n", "--phase", "P9",
                                      "--lane", "a", cwd=clone).stderr)  # fmt: skip
    plan = tmp_path / "plan.yaml"
    plan.write_text(f"run: n\nrunner: shell\ntest: touch {tmp_path}/tested\nlanes:\n"
                    "  a: touch made\n", encoding="utf-8")  # fmt: skip
    cli("plan", "trust", str(plan), "--yes", cwd=clone)
    git(clone, "checkout", "-q", "--", ".")

    done = cli("run", str(plan), cwd=clone)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tested").exists()
    assert "made" in git(clone, "ls-tree", "--name-only", "main").split()


@pytest.mark.parametrize("how", ["outside", "link", "folder", "dots"])
def test_log_outside_of_the_repository_is_not_opened(
    cli: Cli, origin: Path, tmp_path: Path, how: str
) -> None:
    outside = tmp_path / "private"
    outside.mkdir()
    (outside / "log.json").write_text(json.dumps({"event": SECRET}), encoding="utf-8")
    path = {"outside": str(outside / "log.json"), "link": "link", "folder": "folder/log.json",
            "dots": "x/../../private/log.json"}[how]  # fmt: skip
    (origin / "link").symlink_to(outside / "log.json")
    (origin / "folder").symlink_to(outside)
    clone = cloned(origin, tmp_path, log_path=str(tmp_path / "clone" / path), worktree_path="/w")
    cli("note", "x", cwd=clone)

    shown = cli("checkpoint", "show", "CP-001", cwd=clone)

    assert shown.returncode == 0, shown.stderr
    assert SECRET not in shown.stdout


def test_log_inside_is_shown(cli: Cli, repo: Path) -> None:
    (repo / ".standfast.yaml").write_text(f"checkpoints_file: {FILE}\n", encoding="utf-8")
    cli("note", "x", cwd=repo)
    folders = (repo, repo / ".git" / "standfast", repo / ".claude")
    for number, folder in enumerate(folders):
        folder.mkdir(exist_ok=True)
        (folder / "log.jsonl").write_text('{"event": "seen here"}\n', encoding="utf-8")
        log = str(folder / "log.jsonl")
        said = [record(repo, "before_lane_start", "ready", run_id=f"r{number}", log_path=log)]
        (repo / FILE).write_text(json.dumps(said), encoding="utf-8")
        shown = cli("checkpoint", "show", "--run-id", f"r{number}", cwd=repo)
        assert "seen here" in shown.stdout, (folder, shown.stderr)


def test_records_of_the_users_own_tools_are_theirs(cli: Cli, repo: Path) -> None:
    """No label and no question: words in no commit, or in one that was made here."""
    (repo / ".standfast.yaml").write_text(f"checkpoints_file: {FILE}\n", encoding="utf-8")
    tree = repo / ".worktrees" / "PL"
    git(repo, "branch", "old")
    git(repo, "worktree", "add", "-q", "-b", "lane/P1/PL", str(tree))
    git(tree, "commit", "-q", "--allow-empty", "-m", "work")
    said = records(repo, worktree_path=str(tree))
    (repo / FILE).write_text(json.dumps(said[:2]), encoding="utf-8")
    git(repo, "add", FILE, ".standfast.yaml")
    git(repo, "commit", "-q", "-m", "mine")
    cli("note", "x", cwd=repo)
    (repo / FILE).write_text(json.dumps(said), encoding="utf-8")

    done = cli("lane", "rollback", *LANE, cwd=repo)

    assert done.returncode == 0, done.stderr
    assert "rom the repository" not in cli("checkpoint", "list", cwd=repo).stdout
