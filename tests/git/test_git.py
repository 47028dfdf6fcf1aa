"""Nothing that a repository says is run, and what commit_durably acknowledges is named for syncing.

Each hostile repository is first shown to be live with plain git, then every verb of the door is
tried on a fresh copy of it.
"""

import hashlib
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import hostile_repos
from hostile_repos import TRAPS, Scene, Trap
from standfast import clock, filesystems
from standfast.errors.base import (
    BadName,
    GitFailed,
    NotARepository,
    ProgramMissing,
    StandfastError,
    TooLarge,
    UnsafePath,
    WrongUsage,
)
from standfast.git import armour, verbs
from standfast.git.command import Git, checked_ref, durable_paths
from synced_files import synced

MESSAGE = "kept\n"


def plain(repo: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=repo, capture_output=True, check=True)
    return os.fsdecode(done.stdout).removesuffix("\n")


@pytest.fixture
def door(repo: Path) -> Git:
    return Git(directory=repo)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return hostile_repos.build_scene(tmp_path)


# Hostile repositories.


def reading_calls(git: Git) -> dict[str, Callable[[], object]]:
    return {
        "head": git.head,
        "branch": git.branch,
        "resolve": lambda: git.resolve("other"),
        "blob_at_head": lambda: git.blob_at_head("data.txt"),
        "blob_in_index": lambda: git.blob_in_index("data.txt"),
        "hash_blob": lambda: git.hash_blob(b"x"),
        "toplevel": git.toplevel,
        "status": lambda: git.read("status", "--porcelain=v2", "-z", "--untracked-files=all"),
        "diff": lambda: git.read("diff"),
        "diff HEAD": lambda: git.read("diff", "HEAD"),
        "diff-files": lambda: git.read("diff-files", "-p"),
        "diff-index": lambda: git.read("diff-index", "-p", "HEAD"),
        "log -p": lambda: git.read("log", "-p", "--all"),
        "show": lambda: git.read("show", "HEAD"),
        "ls-files": lambda: git.read("ls-files", "-z", "--modified", "--others"),
        "filters": lambda: git.read("cat-file", "--filters", "HEAD:both.txt"),
        "textconv": lambda: git.read("cat-file", "--textconv", "HEAD:both.txt"),
        **{
            " ".join(call): partial(git.read, *call, stdin=hostile_repos.ASKED)
            for call in hostile_repos.INERT_CALLS
        },
    }


def writing_calls(git: Git) -> dict[str, Callable[[], object]]:
    new = git.directory.parent / "new worktree"
    return {
        "commit_durably": lambda: git.commit_durably(["data.txt"], MESSAGE),
        "update-index": lambda: git.write("update-index", "data.txt"),
        "commit": lambda: git.write("commit", "--allow-empty", "-m", "x"),
        "commit nothing": lambda: git.write("commit", "-m", "x"),
        "amend": lambda: git.write(
            "commit", "--amend", "--allow-empty", "--trailer", "evil: x", "-m", "y"
        ),
        "tag": lambda: git.write("tag", "-a", "-m", "x", "tag"),
        "worktree add": lambda: git.write("worktree", "add", "--detach", str(new), "HEAD"),
        "checkout": lambda: git.write("checkout", "--force", "easy"),
        "checkout file": lambda: git.write("checkout", "HEAD~1", "--", "data.txt"),
        "switch": lambda: git.write("switch", "--force", "main"),
        "reset": lambda: git.write("reset", "--hard", "start"),
        "merge": lambda: git.write("merge", "--no-ff", "easy"),
        "conflict": lambda: git.write("merge", "other"),
        "undo": lambda: git.write("reset", "--hard", "HEAD"),
        "hash-object": lambda: git.write("hash-object", "-w", "--", "data.txt"),
        "branch": lambda: git.write("branch", "another"),
        "make_durable": git.make_durable,
    }


def refusals(calls: dict[str, Callable[[], object]]) -> dict[str, StandfastError]:
    refused = {}
    for name, call in calls.items():
        try:
            call()
        except StandfastError as error:
            refused[name] = error
    return refused


@pytest.mark.sweep(6)
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
@pytest.mark.req("SEC-01")
def test_the_trap_is_live_for_plain_git(scene: Scene, trap: Trap) -> None:
    trap.plant(scene)
    scene.canary.unlink(missing_ok=True)

    hostile_repos.set_off(scene, trap)

    assert scene.canary.exists() or trap.harmless


@pytest.mark.sweep(6)
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
@pytest.mark.req("SEC-01")
def test_no_verb_sets_off_the_trap(scene: Scene, trap: Trap) -> None:
    trap.plant(scene)
    scene.canary.unlink(missing_ok=True)
    git = Git(directory=scene.repo / trap.folder)
    calls = reading_calls(git) | writing_calls(git)
    scene.write("data.txt", "a LINE\n")  # as long as before, so that git must read it

    refused = refusals(calls)

    assert not scene.canary.exists(), f"ran; refused: {refused}"
    if trap.refused:
        assert set(calls) - set(refused) == {"version"}  # the one that needs no repository
    elif "while reading" not in trap.name:
        expected = {"conflict", "commit nothing"}
        assert set(refused) == expected, {n: str(e) for n, e in refused.items()}


# Calls for which no configuration is listed.


def test_every_verb_and_option_that_is_called_inert_is_tried() -> None:
    tried: dict[str, set[str]] = {}
    for verb, *rest in hostile_repos.INERT_CALLS:
        assert verbs.is_inert(verb, tuple(rest))
        found = {arg for arg in rest if arg.startswith("-")}
        known = verbs.INERT[verb]
        tried.setdefault(verb, set()).update(
            arg if arg in known else arg.partition("=")[0] + "=" for arg in found
        )

    assert tried == {verb: set(options) for verb, options in verbs.INERT.items()}
    assert {call[0] for call in hostile_repos.INERT_CALLS} <= set(verbs.READ_VERBS)


def logging_git(folder: Path) -> tuple[Path, Path]:
    """A program that writes down which verbs it was called with, and the file for that."""
    program, log = folder / "git", folder / "verbs"
    program.write_text(f'#!/bin/sh\necho "$1" >> {log}\nexec git "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program, log


@pytest.mark.parametrize("call", hostile_repos.INERT_CALLS, ids=" ".join)
def test_an_inert_call_is_one_process(scene: Scene, tmp_path: Path, call: tuple[str, ...]) -> None:
    program, log = logging_git(tmp_path)
    git = Git(directory=scene.repo, program=str(program))

    git.read(*call, stdin=hostile_repos.ASKED)

    assert log.read_text(encoding="utf-8").split() == [call[0]]


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("call", hostile_repos.LOOKING_CALLS, ids=" ".join)
def test_a_call_that_could_start_a_program_is_not_inert(
    scene: Scene, tmp_path: Path, call: tuple[str, ...]
) -> None:
    program, log = logging_git(tmp_path)
    git = Git(directory=scene.repo, program=str(program))

    refusals({"it": lambda: git.read(*call, stdin=hostile_repos.ASKED)})

    assert log.read_text(encoding="utf-8").split()[:1] == ["config"]


def runs_something(scene: Scene, call: tuple[str, ...], *, armoured: bool) -> bool:
    """Do it with plain git, or in the armour as gits before 2.45 have it.

    They do not know the variable that keeps others from trying to fetch at all.
    """
    env = armour.surroundings(os.environ, armour.FIXED, may_lock=False)
    assert env.pop("GIT_NO_LAZY_FETCH") == "1"
    subprocess.run(
        ["git", *call],
        cwd=scene.repo,
        env=env if armoured else None,
        input=hostile_repos.ASKED,
        capture_output=True,
        check=False,
    )
    return scene.canary.exists()


@pytest.mark.sweep(5)
@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("remote", hostile_repos.REMOTES)
@pytest.mark.parametrize("call", hostile_repos.FETCHING_CALLS, ids=" ".join)
def test_an_object_that_is_missing_is_asked_of_no_remote(
    scene: Scene, call: tuple[str, ...], remote: str
) -> None:
    hostile_repos.hollow(scene, remote)

    assert not runs_something(scene, call, armoured=True)
    assert runs_something(scene, call, armoured=False), "plain git does not fetch"


@pytest.mark.req("SEC-01")
def test_an_object_that_is_missing_is_looked_for_in_no_bundle(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = tmp_path / "bin" / "git-remote-https"
    helper.parent.mkdir()
    helper.symlink_to(scene.program)
    monkeypatch.setenv("PATH", f"{helper.parent}{os.pathsep}{os.environ['PATH']}")
    hostile_repos.hollow(scene, "none")
    hostile_repos.settings("fetch.bundleURI", "https://git.example.invalid/x")(scene)
    call = hostile_repos.FETCHING_CALLS[0]

    assert not runs_something(scene, call, armoured=True)
    if not runs_something(scene, call, armoured=False):
        pytest.skip("this git knows no bundles: they came with 2.40")


@pytest.mark.req("SEC-01")
def test_a_merge_driver_that_is_switched_off_leaves_a_conflict_to_solve(scene: Scene) -> None:
    hostile_repos.settings("merge.evil.driver", "@", "merge.default", "evil")(scene)
    git = Git(directory=scene.repo)

    with pytest.raises(GitFailed):
        git.write("merge", "other")

    assert b"UU both.txt" in git.read("status", "--porcelain", "-z").split(b"\0")


@pytest.mark.req("SEC-01")
def test_a_program_named_git_in_the_repository_is_not_taken(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile_repos.plant_program_named_git(scene)
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")

    head = Git(directory=scene.repo).head()

    assert not scene.canary.exists()
    assert head == plain(scene.repo.parent, "-C", "repo", "rev-parse", "HEAD")


@pytest.mark.req("SEC-01")
def test_variables_that_steer_git_are_not_passed_on(
    repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))

    top = Git(directory=repo).toplevel()

    assert top == repo
    assert not (tmp_path / "trace").exists()


@pytest.mark.req("SEC-01")
def test_a_work_tree_set_elsewhere_is_refused(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    plain(repo, "config", "core.worktree", str(tmp_path / "elsewhere"))
    door = Git(directory=repo)

    with pytest.raises(UnsafePath):
        door.write("checkout", "--force", "main")
    with pytest.raises(UnsafePath):
        door.read("status")

    assert not (tmp_path / "elsewhere" / "README.md").exists()


@pytest.mark.req("SEC-01")
def test_a_configuration_with_too_many_drivers_is_refused(door: Git) -> None:
    rows = "".join(f'[filter "{number}"]\n\tclean = false\n' for number in range(3000))
    with (door.directory / ".git/config").open("a", encoding="utf-8") as file:
        file.write(rows)

    with pytest.raises(GitFailed, match="more than can be"):
        door.read("status")


@pytest.mark.req("SEC-01")
def test_a_driver_added_between_two_calls_is_switched_off(scene: Scene) -> None:
    git = Git(directory=scene.repo)
    git.read("status")
    hostile_repos.driver("filter=late", "filter.late.clean", "@")(scene)
    scene.write("data.txt", "a LINE\n")

    git.read("diff")

    assert not scene.canary.exists()


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize(
    "args",
    [
        ("st",),
        ("-c", "core.pager=x", "log"),
        ("add", "."),
        ("rm", "README.md"),
        ("fetch", "."),
        ("commit", "-a", "-m", "x"),
        ("commit", "-qam", "x"),
        ("commit", "--all", "-m", "x"),
        (),
    ],
)
def test_a_verb_or_option_outside_the_tables_is_refused(door: Git, args: tuple[str, ...]) -> None:
    with pytest.raises(WrongUsage):
        door.write(*args)


@pytest.mark.parametrize(
    "args",
    [
        ("commit", "-m", "x"),
        ("worktree", "prune"),
        ("branch", "x"),
        ("branch", "--show-current", "--delete", "x"),
        ("symbolic-ref", "HEAD", "x"),
        ("symbolic-ref", "--quiet", "HEAD", "refs/heads/x"),
        ("symbolic-ref", "--quiet", "--delete", "HEAD"),
    ],
)
def test_reading_refuses_what_would_write(door: Git, args: tuple[str, ...]) -> None:
    with pytest.raises(WrongUsage):
        door.read(*args)


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("ref", ["-x", "--output=canary", "", "a\nb", "a\0b", "a\x7f"])
def test_a_name_that_git_could_misread_is_refused(door: Git, ref: str) -> None:
    with pytest.raises(BadName):
        door.resolve(ref)


@pytest.mark.req("SEC-01")
def test_a_branch_that_looks_like_an_option_is_read_as_a_branch(door: Git) -> None:
    plain(door.directory, "update-ref", "refs/heads/--output=canary", "HEAD")
    plain(door.directory, "symbolic-ref", "HEAD", "refs/heads/--output=canary")

    branch = door.branch()

    assert branch == "--output=canary"
    assert not (door.directory / "canary").exists()
    assert checked_ref("main") == "main"


@pytest.mark.parametrize("name", ["plain", "a=b", "a.b.c", "UPPER", "a b", "", "\udcff", "x\ty"])
def test_every_driver_name_is_neutralised_as_git_spells_it(door: Git, name: str) -> None:
    row = f'[filter "{name}"]\n\tclean = loud\n\trequired = true\n'
    config = door.directory / ".git/config"
    config.write_bytes(config.read_bytes() + os.fsencode(row))
    settings = armour.neutralise([f"filter.{name}.clean"])
    env = armour.surroundings(os.environ, settings, may_lock=False)

    argv = ["git", "config", "--get", f"filter.{name}.clean"]
    done = subprocess.run(argv, cwd=door.directory, env=env, capture_output=True, check=True)

    assert done.stdout == b"\n"


@pytest.mark.parametrize(("key", "value"), [*armour.FIXED.items()])
def test_each_fixed_setting_wins_over_the_repository(door: Git, key: str, value: str) -> None:
    plain(door.directory, "config", key, "loud")
    env = armour.surroundings(os.environ, armour.FIXED, may_lock=False)

    argv = ["git", "config", "--get", key]
    done = subprocess.run(argv, cwd=door.directory, env=env, capture_output=True, check=True)

    assert done.stdout.decode() == f"{value}\n"


# What git is asked.


def test_head_and_branch_are_told_before_the_first_commit(tmp_path: Path) -> None:
    plain(tmp_path, "init", "-q", "-b", "trunk")
    door = Git(directory=tmp_path)

    head, branch, blob = door.head(), door.branch(), door.blob_at_head("x")

    assert (head, branch, blob) == (None, "trunk", None)


@pytest.mark.parametrize("packed", [False, True])
def test_a_damaged_head_is_an_error_and_not_an_empty_repository(door: Git, *, packed: bool) -> None:
    commit = plain(door.directory, "rev-parse", "HEAD")
    if packed:
        plain(door.directory, "pack-refs", "--all")
        (door.directory / ".git/objects" / commit[:2] / commit[2:]).unlink()
    else:
        (door.directory / ".git/refs/heads/main").write_bytes(b"")

    with pytest.raises(GitFailed):
        door.head()


def test_a_detached_head_has_no_branch(door: Git) -> None:
    plain(door.directory, "checkout", "-q", "--detach")

    branch, head = door.branch(), door.head()

    assert branch is None
    assert head == plain(door.directory, "rev-parse", "HEAD")


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_hash_blob_agrees_with_git_in_either_object_format(tmp_path: Path, algorithm: str) -> None:
    plain(tmp_path, "init", "-q", f"--object-format={algorithm}")
    (tmp_path / "file").write_bytes(b"a\0b\r\n")
    door = Git(directory=tmp_path)

    ours = door.hash_blob(b"a\0b\r\n")

    assert ours == plain(tmp_path, "hash-object", "file")
    assert len(ours) == 2 * hashlib.new(algorithm).digest_size


def test_blobs_are_told_apart_in_work_tree_index_and_head(door: Git) -> None:
    file = door.directory / "README.md"
    before = door.hash_blob(file.read_bytes())
    file.write_bytes(b"staged\n")
    plain(door.directory, "add", "README.md")
    file.write_bytes(b"not staged\n")

    at_head, in_index = door.blob_at_head("README.md"), door.blob_in_index(file)

    assert (at_head, in_index) == (before, door.hash_blob(b"staged\n"))


def test_a_folder_an_absent_file_and_a_conflict_have_no_blob(scene: Scene) -> None:
    (scene.repo / "folder").mkdir()
    scene.write("folder/file", "x\n")
    scene.git("add", "folder")
    scene.git("commit", "-q", "-m", "folder")
    subprocess.run(["git", "merge", "-q", "other"], cwd=scene.repo, check=False)
    door = Git(directory=scene.repo)

    seen = [door.blob_at_head("folder"), door.blob_in_index("folder"), door.blob_at_head("absent")]

    assert seen == [None, None, None]
    assert door.blob_in_index("both.txt") is None
    assert door.blob_at_head("both.txt") is not None


def test_paths_are_relative_to_the_directory_of_the_door(door: Git) -> None:
    (door.directory / "sub").mkdir()
    (door.directory / "sub" / "file").write_bytes(b"x")
    inner = Git(directory=door.directory / "sub")

    inner.commit_durably(["file"], MESSAGE)

    assert inner.blob_at_head("file") == door.blob_at_head("sub/file") == door.hash_blob(b"x")
    assert inner.blob_at_head("../README.md") == door.blob_at_head("README.md") is not None
    assert inner.blob_in_index("../README.md") == door.blob_in_index("README.md") is not None


def test_a_folder_outside_any_repository_is_said_to_be_that(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(NotARepository):
            Git(directory=folder).head()


def test_a_missing_git_is_said_to_be_missing(repo: Path) -> None:
    with pytest.raises(ProgramMissing):
        Git(directory=repo, program="git-that-is-not-there").head()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to someone else")
@pytest.mark.req("SEC-06")
def test_a_repository_of_another_user_is_refused_without_a_command_to_copy(door: Git) -> None:
    for path in (door.directory, door.directory / ".git"):
        os.chown(path, 12345, 12345)

    with pytest.raises(GitFailed) as caught:
        door.head()

    told = f"{caught.value.problem} {caught.value.remedy}"
    assert "safe.directory" in told
    assert "git config" not in told
    assert str(door.directory) not in told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("hint: one\\nfatal: \\033[31mred\\007\\nhint: run this\\n", "fatal: ?[31mred?"),
        ("hint: run this\\nwhat is wrong\\nrun that\\n", "what is wrong"),
        ("", "git rev-parse ended with status 128"),
    ],
)
def test_a_failure_is_told_in_one_printable_line_without_hints(
    repo: Path, tmp_path: Path, said: str, told: str
) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\nprintf '{said}' >&2\nexit 128\n", encoding="utf-8")
    program.chmod(0o755)

    with pytest.raises(GitFailed) as caught:
        Git(directory=repo, program=str(program)).head()

    assert caught.value.problem == told


@pytest.mark.req("SEC-06")
def test_a_failure_leaves_out_the_command_that_git_advises(tmp_path: Path) -> None:
    plain(tmp_path, "init", "-q")
    (tmp_path / "file").write_bytes(b"x")
    door = Git(directory=tmp_path)
    door.commit_durably(["file"], MESSAGE)
    (tmp_path / "file").write_bytes(b"y")
    door.commit_durably(["file"], MESSAGE)
    plain(tmp_path, "reset", "-q", "--soft", "HEAD^")
    plain(tmp_path, "read-tree", "HEAD")
    plain(tmp_path, "rm", "-q", "--cached", "file")

    with pytest.raises(GitFailed) as caught:
        door.write("commit", "--amend", "-m", "x")

    assert "git reset" not in caught.value.problem


def test_output_over_the_limit_is_an_error_and_not_a_part(door: Git) -> None:
    (door.directory / "big").write_bytes(b"x" * (17 * 1024 * 1024))
    plain(door.directory, "add", "big")

    with pytest.raises(TooLarge):
        door.read("cat-file", "blob", ":big")


def test_reading_leaves_the_index_as_it_is(door: Git) -> None:
    index = door.directory / ".git/index"
    os.utime(door.directory / "README.md", (1, 1))
    before = index.read_bytes()

    door.read("status", "--porcelain", "-z")

    assert index.read_bytes() == before


def test_the_git_directories_are_found_where_a_path_has_a_line_break(tmp_path: Path) -> None:
    repo = tmp_path / "two\nlines"
    repo.mkdir()
    plain(repo, "init", "-q")
    plain(repo, "commit", "-q", "--allow-empty", "-m", "x")
    plain(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))

    main, linked = Git(directory=repo), Git(directory=tmp_path / "linked")

    assert (main.git_directory(), main.common_directory()) == (repo / ".git", repo / ".git")
    assert linked.git_directory() == repo / ".git/worktrees/linked"
    assert linked.common_directory() == repo / ".git"


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("where", ["file", "index", "HEAD"])
@pytest.mark.parametrize("folder", [".", "below"])
def test_a_submodule_is_spared_wherever_it_is_named(
    scene: Scene, tmp_path: Path, where: str, folder: str
) -> None:
    (scene.repo / "below").mkdir()
    scene.write(".gitmodules", '[submodule "in ner"]\n\tignore = none\n')
    if where != "file":
        scene.git("add", ".gitmodules")
        (scene.repo / ".gitmodules").unlink()
    if where == "HEAD":
        scene.git("commit", "-q", "-m", "x")
        scene.git("rm", "-q", "--cached", ".gitmodules")
    program, seen = tmp_path / "git", tmp_path / "seen"
    program.write_text(f'#!/bin/sh\n[ "$1" = reset ] && env > {seen}\nexec git "$@"\n', "utf-8")
    program.chmod(0o755)

    Git(directory=scene.repo / folder, program=str(program)).write("reset", "--quiet")

    assert "=submodule.in ner.ignore\n" in seen.read_text("utf-8")


# Committing.


@pytest.mark.req("SEC-01")
def test_commit_durably_passes_a_refusing_hook_and_takes_only_the_named_paths(door: Git) -> None:
    repo = door.directory
    hook = repo / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    for name in ("wanted", "staged", "untracked"):
        (repo / name).write_text(name, encoding="utf-8")
    plain(repo, "add", "staged")
    (repo / "README.md").write_text("changed\n", encoding="utf-8")

    commit = door.commit_durably(["wanted"], MESSAGE, author="Eve <eve@example.invalid>")

    changed = plain(repo, "show", "--format=%an <%ae>%n%B", "--name-only", commit)
    assert changed.split("\n") == ["Eve <eve@example.invalid>", "kept", "", "", "wanted"]
    assert commit == plain(repo, "rev-parse", "HEAD")
    status = plain(repo, "status", "--porcelain").split("\n")
    assert status == [" M README.md", "A  staged", "?? untracked"]


@pytest.mark.parametrize(
    "name",
    ["two words", "line\nbreak", "-dash", "--all", "*", ":(top)x", "\udcff\udcfe", '"quoted"', "ü"],
)
def test_commit_durably_takes_a_file_of_any_name(door: Git, name: str) -> None:
    (door.directory / name).write_bytes(b"contents")
    (door.directory / "other").write_bytes(b"stays")

    commit = door.commit_durably([name], MESSAGE)

    tree = plain(door.directory, "ls-tree", "-z", "--name-only", commit).split("\0")
    assert set(tree) == {"", "README.md", name}
    assert door.blob_at_head(name) == door.blob_in_index(name) == door.hash_blob(b"contents")


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_the_first_commit_can_be_a_durable_one(tmp_path: Path, algorithm: str) -> None:
    plain(tmp_path, "init", "-q", f"--object-format={algorithm}")
    (tmp_path / "file").write_bytes(b"x")
    door = Git(directory=tmp_path)

    commit = door.commit_durably(["file"], MESSAGE)

    assert commit == door.head() == plain(tmp_path, "rev-parse", "HEAD")


def test_commit_durably_works_on_a_detached_head_and_records_a_deletion(door: Git) -> None:
    plain(door.directory, "checkout", "-q", "--detach")
    (door.directory / "README.md").unlink()

    commit = door.commit_durably(["README.md"], MESSAGE)

    assert plain(door.directory, "rev-parse", "HEAD") == commit
    assert plain(door.directory, "ls-tree", commit) == ""
    assert plain(door.directory, "ls-tree", "--name-only", "main") == "README.md"


@pytest.mark.parametrize("paths", [["README.md"], ["absent"], ["folder"]])
def test_commit_durably_fails_when_there_is_nothing_to_commit(door: Git, paths: list[str]) -> None:
    (door.directory / "folder").mkdir()
    (door.directory / "folder" / "file").write_bytes(b"x")
    before = door.head()

    with pytest.raises(GitFailed):
        door.commit_durably(paths, MESSAGE)

    assert door.head() == before


def test_commit_durably_refuses_no_paths_and_impossible_ones(door: Git) -> None:
    with pytest.raises(WrongUsage):
        door.commit_durably([], MESSAGE)
    for path in ("", "a\0b"):
        with pytest.raises(BadName):
            door.commit_durably([path], MESSAGE)


# Durability.


def listing(top: Path) -> dict[Path, tuple[int, int]]:
    paths = [*top.rglob("*")]
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a filesystem that is not synced as a whole."""
    monkeypatch.setattr(filesystems, "syncs_whole", lambda _: False)


def commit_and_compare(door: Git) -> tuple[set[Path], list[Path]]:
    """Make a commit; what is new or changed in the git directory, and what would be synced."""
    common = door.common_directory()
    (door.directory / "file").write_bytes(os.urandom(20))
    before = listing(common)
    door.commit_durably(["file"], MESSAGE)
    after = listing(common)
    changed = {path for path, facts in after.items() if before.get(path) != facts}
    return changed, durable_paths(door.git_directory(), common)


def test_durable_paths_names_all_that_a_commit_made(door: Git) -> None:
    plain(door.directory, "checkout", "-q", "-b", "deep/er/branch")

    changed, synced = commit_and_compare(door)

    assert any("objects" in path.parts for path in changed)
    assert changed <= set(synced)
    assert {path.parent for path in changed} <= set(synced)


def test_durable_paths_names_all_that_a_commit_in_a_linked_worktree_made(door: Git) -> None:
    linked = door.directory.parent / "linked"
    plain(door.directory, "worktree", "add", "-q", "-b", "linked", str(linked))

    changed, synced = commit_and_compare(Git(directory=linked))

    assert any("worktrees" in path.parts for path in changed)
    assert changed <= set(synced)
    assert {path.parent for path in changed} <= set(synced)


def test_durable_paths_puts_contents_before_the_folders_that_name_them(door: Git) -> None:
    _, synced = commit_and_compare(door)

    place = {path: number for number, path in enumerate(synced)}

    assert all(place[path] < place[path.parent] for path in synced if path.parent in place)
    assert door.directory in place


def test_durable_paths_leaves_out_objects_where_none_was_made(door: Git) -> None:
    git_directory = door.git_directory()

    less = durable_paths(git_directory, git_directory, objects=False)

    left_out = set(durable_paths(git_directory, git_directory)) - set(less)
    assert {path.relative_to(git_directory).parts[0] for path in left_out} == {"objects"}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="nothing tells what is synced")
@pytest.mark.usefixtures("one_by_one")
def test_commit_syncs_what_it_is_made_of_also_what_others_wrote(door: Git) -> None:
    """Objects that were there, and commits below it of any date: no clock says what is synced."""
    top, objects = door.directory, door.git_directory() / "objects"

    def commit(name: str, when: str) -> str:
        (top / name).write_text(name, encoding="utf-8")
        plain(top, "add", name)
        env = {**os.environ, "GIT_COMMITTER_DATE": when}
        subprocess.run(["git", "commit", "-qm", "x"], cwd=top, check=True, env=env)
        return plain(top, "rev-parse", f"HEAD:{name}")

    past = commit("past", "2020-01-01T00:00:00Z")
    later = commit("later", "2099-01-01T00:00:00Z")
    young = commit("young", clock.rfc3339(clock.now_us()))
    (top / "file").write_bytes(b"there")
    there = plain(top, "hash-object", "-w", "file")
    with synced() as seen:
        made = door.commit_durably(["file"], MESSAGE)

    wanted = {objects / name[:2] / name[2:] for name in (past, later, young, there, made)}
    wanted |= {door.git_directory() / plain(top, "symbolic-ref", "HEAD")}
    assert wanted | {path.parent for path in wanted} <= set(seen)


@pytest.mark.usefixtures("one_by_one")
def test_make_durable_does_not_wait_for_a_fifo_or_follow_a_link(door: Git) -> None:
    refs = door.directory / ".git/refs/heads"
    os.mkfifo(refs / "fifo")
    (refs / "link").symlink_to("/dev/zero")

    door.make_durable()

    assert refs / "link" not in durable_paths(door.git_directory(), door.common_directory())


# Worktrees of others.


@pytest.mark.req("PLAT-02")
def test_a_foreign_locked_worktree_stays_as_it_is(scene: Scene) -> None:
    foreign = scene.repo.parent / "foreign"
    scene.git("worktree", "add", "-q", "--detach", str(foreign))
    scene.git("worktree", "lock", "--reason", "not yours", str(foreign))
    (foreign / "data.txt").write_text("theirs\n", encoding="utf-8")
    home = scene.repo / ".git/worktrees/foreign"
    list_command = ("worktree", "list", "--porcelain")
    before = plain(foreign, *list_command).split("\n\n")[1].strip(), listing(foreign), listing(home)
    git = Git(directory=scene.repo)
    scene.write("data.txt", "a LINE\n")

    refusals(reading_calls(git) | writing_calls(git))

    after = plain(foreign, *list_command).split("\n\n")[1].strip(), listing(foreign), listing(home)
    assert after == before
    assert "locked not yours" in after[0]
