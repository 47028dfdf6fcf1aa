"""Lanes in odd places: hostile repositories, careless agents, and deaths at the worst moment."""

import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lane_runs import BRANCH, LANE, WRITES, Lane, build, end_everything, reboot
from standfast.errors import base, lanes
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs import vouched_lanes
from standfast.runs.vouched_lanes import Where


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


# What surrounds a command.


def test_agent_called_from_a_hook_of_git_works_in_its_own_worktree(lane: Lane) -> None:
    own = {"GIT_DIR": f"{lane.repo}/.git", "GIT_INDEX_FILE": f"{lane.repo}/.git/index"}

    done = lane.run("echo x > made; git add made; git commit -qm mine", "--merge", "none", **own)

    assert done.returncode == 0, done.stderr
    assert lane.git("log", "--format=%s", "main") == "first"
    assert lane.git("log", "-n1", "--format=%s", BRANCH) == "mine"


def test_folders_of_effects_are_private(lane: Lane) -> None:
    lane.run()

    top = lane.repo / ".git" / "standfast"
    for folder in (top / "effects", top / "lanes", *(top / "effects").iterdir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [
        path for path in (top / "effects").rglob("*") if path.name in ("out", "order.json")
    ] == []


def test_nobody_who_told_git_a_name_gets_commits_all_the_same(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NAME", "EMAIL"):
        monkeypatch.delenv(f"GIT_AUTHOR_{name}", raising=False)
        monkeypatch.delenv(f"GIT_COMMITTER_{name}", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    lane.git("config", "user.useConfigOnly", "true")

    done = lane.run(WRITES, "--merge", "no-ff")

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made.txt") == "one"


# What repositories bring along.


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-03")
@pytest.mark.parametrize(
    ("key", "value", "url"),
    [
        ("remote.origin.receivepack", "touch {ran}; git-receive-pack", "{remote}"),
        ("core.sshCommand", "touch {ran}; false", "ssh://example.invalid/x"),
        ("core.gitProxy", "touch {ran}", "git://example.invalid/x"),
        ("credential.helper", "!touch {ran}; false", "http://127.0.0.1:9/x"),
        ("core.askPass", "touch {ran}", "http://127.0.0.1:9/x"),
        ("protocol.ext.allow", "always", "ext::touch {ran}"),
        ("remote.origin.vcs", "evil", "{remote}"),
        ("core.fsmonitor", "touch {ran}; false", "{remote}"),
    ],
)
def test_no_program_of_the_repository_is_run_by_a_push(
    lane: Lane, tmp_path: Path, key: str, value: str, url: str
) -> None:
    ran, remote = tmp_path / "ran", tmp_path / "remote.git"
    lane.git("init", "-q", "--bare", str(remote))
    helper = tmp_path / "git-remote-evil"
    helper.write_text(f"#!/bin/sh\ntouch '{ran}'\n", encoding="utf-8")
    helper.chmod(0o755)
    fill = {"ran": str(ran), "remote": str(remote)}
    lane.git("remote", "add", "origin", url.format(**fill))
    lane.git("config", key, value.format(**fill))
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    here = Where(os.environ["XDG_STATE_HOME"], str(lane.repo / ".git/standfast"), str(lane.repo))
    vouched_lanes.trust_addresses(here, [str(remote)], "ann")

    done = lane.run(WRITES, "--merge", "pr", PATH=path)

    assert not ran.exists()
    assert done.returncode == 1  # there is no `gh` here, and mostly no such remote
    assert lane.records()[cp.PRE_PR]["status"] == cp.FAILED
    assert lane.records()[cp.PRE_PR]["last_command"]


@pytest.mark.req("SEC-01", "SEC-03")
def test_an_agent_that_has_git_work_elsewhere_has_failed(lane: Lane, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine\n", encoding="utf-8")
    told = f"git config --worktree core.worktree '{elsewhere}'"

    done = lane.run(f"git config extensions.worktreeConfig true; {told}; {WRITES}")

    assert done.returncode == lanes.LaneFailed.exit_status
    assert "core.worktree makes git work elsewhere" in done.stderr
    assert [each.name for each in elsewhere.iterdir()] == ["mine"]


@pytest.mark.req("SEC-03")
def test_file_that_goes_through_a_filter_is_not_committed_in_plain(lane: Lane) -> None:
    (lane.repo / ".gitattributes").write_text("secret/** filter=crypt\n", encoding="utf-8")
    lane.git("add", ".")
    lane.git("commit", "-qm", "attributes")
    lane.git("config", "filter.crypt.clean", "tr a-z b-za")
    lane.git("config", "filter.crypt.smudge", "tr b-za a-z")
    lane.git("config", "filter.crypt.required", "true")

    done = lane.run("mkdir secret; echo plain > secret/b")

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert "secret/b goes through a filter" in done.stderr
    assert "plain" not in lane.git("log", "-p", "--all")
    os.utime(lane.tree / "secret" / "b", (1, 1))  # git reads what is as young as its index
    lane.git("add", "secret", cwd=lane.tree)
    lane.git("commit", "-qm", "by hand", cwd=lane.tree)
    refused = lane.resume()
    assert refused.returncode == lanes.LaneBlocked.exit_status  # nor is it checked out so
    lane.git("merge", "-q", "--ff-only", BRANCH)
    assert lane.resume().returncode == 0
    assert lane.show("main", "secret/b") == "qmbjo"


@pytest.mark.req("SEC-03")
@pytest.mark.parametrize("name", [".worktrees", ".claude", ".claude/ai-dev-kit"])
def test_links_of_the_repository_lead_nowhere(lane: Lane, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (lane.repo / name).parent.mkdir(exist_ok=True)
    (lane.repo / name).symlink_to(outside)

    done = lane.run()

    refused = (base.UnsafePath.exit_status, lanes.WorktreeElsewhere.exit_status)
    assert done.returncode in refused, done.stderr
    assert list(outside.iterdir()) == []


def test_link_to_a_folder_does_not_keep_the_worktree(lane: Lane) -> None:
    (lane.repo / "d").mkdir()
    (lane.repo / "d" / "x").write_text("1\n", encoding="utf-8")
    (lane.repo / "l").symlink_to("d")
    lane.git("add", ".")
    lane.git("commit", "-qm", "link")

    done = lane.run()

    assert done.returncode == 0, done.stderr
    assert not lane.tree.exists(), done.stderr


# What agents do to their worktrees.


def test_lock_that_a_dead_git_of_the_agent_left_is_taken_away(lane: Lane) -> None:
    done = lane.run('touch "$(git rev-parse --git-dir)/index.lock"; echo x > made')

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made") == "x"


def test_agent_that_makes_a_repository_of_its_own_has_failed(lane: Lane) -> None:
    runner = f"rm .git; git init -q -b {BRANCH} .; echo x > g; git add g; git commit -qm own"

    done = lane.run(runner)

    assert done.returncode == 1
    assert "belongs to another repository now" in done.stderr
    assert (lane.tree / "g").exists()


# Names that cannot be branches.


def test_name_that_is_no_branch_is_refused_and_another_may_follow(lane: Lane) -> None:
    for name in ("HEAD", "-x", "a..b", "a b", "x.lock", "a//b", ".a", "a\\b", "a@{1}"):
        done = lane.run(WRITES, f"--branch={name}")

        assert done.returncode == 2, (name, done.stderr)
        assert "can be no branch" in done.stderr
    assert lane.run(WRITES, "--branch", "fine").returncode == 0


@pytest.mark.parametrize("base", ["main~0", "main^{commit}", "main@{0}"])
def test_base_that_leads_to_a_commit_and_is_no_branch_is_refused(lane: Lane, base: str) -> None:
    done = lane.run(WRITES, f"--base={base}")

    assert done.returncode == 2
    assert "can be no branch" in done.stderr
    assert not lane.tree.exists()


def test_branch_that_git_cannot_have_beside_another_is_refused(lane: Lane) -> None:
    for taken in ("lane", "lane/P1", f"{BRANCH}/below"):
        lane.git("branch", taken)

        done = lane.run()

        assert done.returncode == lanes.BranchTaken.exit_status
        assert f"`{taken}`" in done.stderr
        lane.git("branch", "-D", taken)
    lane.git("branch", "lane")
    assert lane.run(WRITES, "--branch", "fine").returncode == 0


# Going back.


@pytest.mark.req("CKP-05")
def test_rollback_of_a_lane_that_never_began_says_so(lane: Lane) -> None:
    (lane.repo / ".worktrees").write_text("in the way", "utf-8")
    assert lane.run().returncode != 0

    done = lane.call("rollback", *LANE)

    assert done.returncode == lanes.RollbackRefused.exit_status
    assert "has not begun" in done.stderr
    (lane.repo / ".worktrees").unlink()
    assert lane.resume().returncode == 0


@pytest.mark.req("CKP-05", "CKP-11")
def test_rollback_in_the_middle_of_a_merge_is_refused_and_resume_finishes_it(lane: Lane) -> None:
    """As after a death between the files of the base's checkout and its branch."""
    lane.run(WRITES, "--test", "test -e ../../../../go")
    (lane.repo / "go").touch()
    words = lane.argv("resume", *LANE)
    with subprocess.Popen(words, cwd=lane.repo, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        while not (lane.repo / "made.txt").exists() and process.poll() is None:
            pass
        os.kill(process.pid, signal.SIGKILL)
    if lane.records().get(cp.PRE_PR, {}).get("status") == cp.COMPLETE:
        pytest.skip("it was done before it could be killed")

    done = lane.call("rollback", *LANE)

    merged = lane.git("rev-list", "--count", "main") == "2"
    words_ = "the lane is merged" if merged and "cut short" not in done.stderr else "cut short"
    assert done.returncode == lanes.RollbackRefused.exit_status
    assert words_ in done.stderr
    assert lane.resume().returncode == 0
    assert lane.git("status", "--porcelain") == "?? go"


@pytest.mark.req("CKP-05", "EFF-04")
def test_rollback_is_refused_while_a_command_of_the_lane_lives(lane: Lane, tmp_path: Path) -> None:
    """Wherever it stands: an agent may have gone to another folder."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    runner = f"cd /; echo x > '{fifo}'; cat '{fifo}' > /dev/null"
    words = lane.argv("run", *LANE, "--runner", runner, "--task", lane.task("one"))
    with subprocess.Popen(words, cwd=lane.repo, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        fifo.read_text(encoding="utf-8")
        os.kill(process.pid, signal.SIGKILL)

    done = lane.call("rollback", *LANE)

    assert done.returncode == lanes.LaneBusy.exit_status
    assert "lane/r1/P1/SL-1/task-one/1" in done.stderr
    fifo.write_text("go on\n", encoding="utf-8")
    assert lane.resume().returncode == 0


# A base that people work in meanwhile.


@pytest.mark.req("CKP-11")
def test_base_in_two_checkouts_moves_in_both_or_in_none(lane: Lane, tmp_path: Path) -> None:
    other = tmp_path / "other"
    lane.git("worktree", "add", "-q", "-f", str(other), "main")
    (other / "a.txt").write_text("mine\n", encoding="utf-8")

    done = lane.run("echo theirs > a.txt; echo new > new")

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert lane.git("status", "--porcelain") == ""
    assert (other / "a.txt").read_text(encoding="utf-8") == "mine\n"
    lane.git("checkout", "-q", "a.txt", cwd=other)
    assert lane.resume().returncode == 0
    assert lane.git("status", "--porcelain") == lane.git("status", "--porcelain", cwd=other) == ""


@pytest.mark.req("CKP-11")
@pytest.mark.parametrize("act", ["commit", "switch"])
def test_person_who_works_in_the_base_meanwhile_takes_nothing_along(
    lane: Lane, tmp_path: Path, act: str
) -> None:
    """Whatever git of a person gets in between fails or wins, and never holds the lane's change."""
    lane.git("branch", "feature")
    act_line = {
        "commit": "echo $i >> q && git add q && git commit -qm person",
        "switch": "git checkout -q feature && git checkout -q main",
    }[act]
    person = f"cd '{lane.repo}'; for i in $(seq 400); do test -e stop && break; {act_line}; done"
    with subprocess.Popen(["sh", "-c", person], stderr=subprocess.DEVNULL) as busy:
        done = lane.run("echo theirs >> a.txt; echo new > new", "--base", "main")
        (lane.repo / "stop").touch()
        busy.wait(timeout=60)
    while done.returncode == lanes.LaneBlocked.exit_status:
        done = lane.resume()

    assert done.returncode == 0, done.stderr
    lane.git("checkout", "-q", "main")
    changed = lane.git("log", "--format=%s", "main", "--", "new").splitlines()
    assert changed == ["feat(P1-SL-1): Do it."]
    assert lane.git("log", "--format=%s", "feature") == "first"
    staged = lane.git("diff", "--cached", "--name-only").split()
    assert [name for name in staged if name != "q"] == []


# Somebody changes the lane after its tests.


@pytest.mark.req("CKP-14")
def test_lane_that_was_changed_after_its_tests_is_tested_again(lane: Lane) -> None:
    (lane.repo / "a.txt").write_text("mine\n", encoding="utf-8")
    runner = "echo theirs > a.txt; echo ok > h"
    blocked = lane.run(runner, "--test", "grep -q ok h")
    assert blocked.returncode == lanes.LaneBlocked.exit_status
    lane.git("checkout", "-q", "a.txt")
    (lane.tree / "h").write_text("bad\n", encoding="utf-8")
    lane.git("commit", "-qam", "bad", cwd=lane.tree)

    done = lane.resume()

    assert done.returncode == 1
    assert lane.git("rev-list", "--count", "main") == "1"
    assert lane.history()[-1] == (cp.TESTED, cp.FAILED)


@pytest.mark.req("CKP-11")
def test_what_the_tests_left_is_kept_before_the_branch_moves(lane: Lane) -> None:
    moves = f"cd '{lane.repo}' && echo b > b && git add b && git commit -qm other"

    done = lane.run(f"{WRITES}; {moves}", "--test", "echo only here > a.txt")

    assert done.returncode == 0, done.stderr
    assert lane.show("refs/standfast/backup/r1/P1/SL-1/1", "a.txt") == "only here"
    assert lane.show("main", "a.txt") == "a"


# What a power cut leaves of an agent's own git.


@pytest.mark.sweep(2)
@pytest.mark.req("CKP-11")
@pytest.mark.parametrize("what", ["branch", "head", "index", "all"])
def test_worktree_whose_git_was_cut_off_is_put_right(lane: Lane, what: str) -> None:
    lane.run("echo x > made; git add made; git commit -qm mine", "--test", "test -e ../../../../go")
    own = Path(lane.git("rev-parse", "--absolute-git-dir", cwd=lane.tree))
    ref = lane.repo / ".git" / "refs" / "heads" / BRANCH
    for path in {"branch": [ref], "head": [own / "HEAD"], "index": [own / "index"],
                 "all": [ref, own / "HEAD", own / "index"]}[what]:  # fmt: skip
        path.write_bytes(b"\0" * 4 if path.name == "index" else b"")
    (lane.repo / "go").touch()

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made") == "x"


@pytest.mark.req("CKP-11")
def test_objects_that_a_power_cut_tore_are_made_again(lane: Lane, tmp_path: Path) -> None:
    """Git takes an object that is there for whole: a torn one would stay for ever."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    waits = f"test -e '{tmp_path}/go' || {{ echo x > '{fifo}'; sleep 99; }}"
    runner = f"echo new > made; git add made; {waits}"
    words = lane.argv("run", *LANE, "--runner", runner, "--task", lane.task("one"))
    with subprocess.Popen(words, cwd=lane.repo, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        fifo.read_text(encoding="utf-8")
        end_everything(lane, process.pid)
    reboot(lane)
    blob = lane.git("hash-object", str(lane.tree / "made"))
    torn = lane.repo / ".git" / "objects" / blob[:2] / blob[2:]
    torn.chmod(0o644)
    torn.write_bytes(b"")
    (tmp_path / "go").touch()
    assert lane.resume().returncode == lanes.EffectInDoubt.exit_status
    lane.standfast("settle", "lane/r1/P1/SL-1/task-one/1", "again")

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made") == "new"


# Being stopped.


@pytest.fixture
def hung_up_on() -> Iterator[None]:
    """Below `nohup` what is started here would not hear of it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hung_up_on")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_lane_says_what_goes_on_and_resume_waits_for_it(
    lane: Lane, tmp_path: Path, number: signal.Signals
) -> None:
    fifo, ledger = tmp_path / "fifo", tmp_path / "ledger"
    os.mkfifo(fifo)
    runner = f"echo run >> '{ledger}'; echo x > '{fifo}'; cat '{fifo}' > /dev/null; {WRITES}"
    words = lane.argv("run", *LANE, "--runner", runner, "--task", lane.task("one"))
    with subprocess.Popen(words, cwd=lane.repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8") as process:  # fmt: skip
        fifo.read_text(encoding="utf-8")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    fifo.write_text("go on\n", encoding="utf-8")
    done = lane.resume()

    assert process.returncode == 130
    assert "a command that runs goes on" in err
    assert "Resume: standfast" in out
    assert done.returncode == 0, done.stderr
    assert ledger.read_text(encoding="utf-8") == "run\n"


def test_worktree_folder_is_hidden_from_status_even_without_an_exclude_file(lane: Lane) -> None:
    shutil.rmtree(lane.repo / ".git" / "info", ignore_errors=True)

    lane.run(WRITES, "--merge", "none")

    assert lane.git("status", "--porcelain") == ""
