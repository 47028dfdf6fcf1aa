"""Whatever a command is given, it answers: done, or one clear refusal with its code and remedy.

Here: the command line, the environment, the streams and the limits of the process. What was
recorded before is still there after each attack; a refusal records nothing.
"""

import os
import pty
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from attacks import (
    STANDFAST,
    TIMEOUT_S,
    Answer,
    call,
    decisions,
    done,
    fair,
    record,
    refused,
    run,
    shell,
    unprivileged,
)
from standfast.errors.base import (
    AnswerLost,
    BadConfig,
    BadDocument,
    BadName,
    DiskFailed,
    NotARepository,
    StandfastError,
    TooLarge,
    WrongUsage,
)

STRANGER = 54_321  # a uid that no password file knows

HOSTILE = {
    "parent": "../x",
    "absolute": "/etc/passwd",
    "long": "a" * 10_000,
    "newline": "a\nb",
    "escape": "a\x1b]0;title\x07",
    "c1": "a\x9b31m",
    "override": "a\u202eb",
    "tags": "a\U000e0041\U000e0042",
    "option": "-rf",
    "git": ".git",
    "dots": "..",
    "bytes": "a\udcff\udcfe",
}
NOT_A_NAME = {**HOSTILE, "emoji": "\U0001f600", "empty": "", "space": "a b", "lock": "a.lock"}
NOT_A_PATH = {key: text for key, text in HOSTILE.items() if key != "option"} | {
    "inside git": "a/.GIT/config",
    "backslash": "a\\b",
    "doubled": "a//b",
}
NAMES_ASKED = (
    ("note", "--by", "words"),
    ("note", "--run", "words"),
    ("events", "--kind"),
    ("events", "--run"),
    ("events", "--session"),
    ("events", "--actor"),
)


# Names.


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("asked", NAMES_ASKED, ids=lambda asked: f"{asked[0]}{asked[1]}")
def test_name_is_refused_by_every_option_when_it_is_hostile(
    repo: Path, asked: tuple[str, ...]
) -> None:
    record(repo, "kept")
    command, option, *words = asked

    for name in NOT_A_NAME.values():
        refused(call("-C", str(repo), command, f"{option}={name}", *words), BadName)

    assert decisions(repo) == ["kept"]


@pytest.mark.req("SEC-01", "CTX-14")
def test_role_is_refused_when_it_is_hostile(repo: Path) -> None:
    record(repo, "kept")

    for name in NOT_A_NAME.values():
        error = BadName if name else WrongUsage
        refused(call("-C", str(repo), "context", "write", "--", name), error)

    assert not (repo / "session").exists()


@pytest.mark.req("SEC-01", "CTX-07", "CTX-13")
def test_context_file_is_refused_when_its_path_is_hostile(repo: Path) -> None:
    record(repo, "kept")
    before = sorted(repo.iterdir())

    for path in [*NOT_A_PATH.values(), *(f"{path}/x.context.md" for path in NOT_A_PATH.values())]:
        for action in ("validate", "migrate"):
            assert fair(call("-C", str(repo), "context", action, "--", path)).status != 0

    assert sorted(repo.iterdir()) == before
    assert decisions(repo) == ["kept"]


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("command", ["events", "status"])
def test_path_is_refused_when_it_is_hostile(repo: Path, command: str) -> None:
    record(repo, "kept")

    for path in NOT_A_PATH.values():
        refused(call("-C", str(repo), command, f"--dir={path}"), BadName)


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("name", HOSTILE)
def test_name_is_refused_by_the_real_command_line_when_it_is_hostile(repo: Path, name: str) -> None:
    record(repo, "kept")

    answer = run("note", os.fsencode(f"--by={HOSTILE[name]}"), "words", cwd=repo)

    refused(answer, BadName)
    assert len(answer.err) < 1_000
    assert decisions(repo) == ["kept"]


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("variable", ["STANDFAST_SESSION", "CLAUDE_CODE_SESSION_ID"])
def test_session_is_refused_when_the_environment_gives_a_hostile_one(
    repo: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(repo, "kept")

    for name in HOSTILE.values():
        monkeypatch.setenv(variable, name)
        refused(call("-C", str(repo), "note", "words"), BadName)

    monkeypatch.delenv(variable)
    assert decisions(repo) == ["kept"]


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_decision_is_one_safe_line_whatever_its_words(repo: Path, text: str) -> None:
    answer = fair(run("note", "--", os.fsencode(text), cwd=repo))

    if answer.status == TooLarge.exit_status:
        assert decisions(repo) == []
    else:
        assert len(decisions(repo)) == 1
        fair(call("-C", str(repo), "status"))
        fair(call("-C", str(repo), "events"))
        assert fair(call("-C", str(repo), "journal", "verify")).status == 0


COMMAND_LINES: dict[str, tuple[tuple[str, ...], type[StandfastError]]] = {
    "no such command": (("../x",), WrongUsage),
    "command with controls": (("\x1b[31m",), WrongUsage),
    "command with C1 controls as JSON": (("\x9b31m", "--json"), WrongUsage),
    "no such flag": (("status", "--\x9b31m", "--json"), WrongUsage),
    "no such flag, turned around": (("status", "--\u202ex"), WrongUsage),
    "-C without a directory": (("-C",), WrongUsage),
    "a note without words": (("note",), WrongUsage),
    "a note of spaces": (("note", " \n\t "), WrongUsage),
    "a note that is too long": (("note", "a" * 2_001), TooLarge),
    "a count that is none": (("events", "-n", "x" * 5_000), WrongUsage),
    "a count of many digits": (("events", "-n", "9" * 5_000), WrongUsage),
    "a negative count": (("events", "-n", "-1"), WrongUsage),
    "a setting without a value": (("--set", "git", "status"), BadConfig),
    "a setting that is none": (("--set", "\x1b[31m=1", "status"), BadConfig),
    "a setting without a name": (("--set", "=1", "status"), BadConfig),
    "a wait that is not a number": (("--set", "lock_timeout_s=nan", "status"), BadConfig),
    "a wait without end": (("--set", "lock_timeout_s=inf", "status"), BadConfig),
    "a negative wait": (("--set", "lock_timeout_s=-1", "status"), BadConfig),
    "a face outside": (("--set", "status_file=../x", "status"), BadConfig),
    "output without export": (("journal", "verify", "-o", "x"), WrongUsage),
    "export into nowhere": (("journal", "export", "-o", "no/such/folder/x"), DiskFailed),
    "export over a file": (("journal", "export", "-o", "/etc/passwd"), DiskFailed),
}


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("case", COMMAND_LINES)
def test_command_line_is_refused_when_it_asks_for_nonsense(repo: Path, case: str) -> None:
    record(repo, "kept")
    argv, cause = COMMAND_LINES[case]

    answer = call("-C", str(repo), *argv) if argv != ("-C",) else call(*argv)

    refused(answer, cause)
    assert decisions(repo) == ["kept"]


# Directories.


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("kind", ["file", "fifo", "missing", "loop", "dangling", "escape", "bytes"])
def test_directory_is_refused_when_it_is_none(repo: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / {"escape": "a\x1b[31m", "bytes": "a\udcff"}.get(kind, "target")
    match kind:
        case "file":
            target.write_bytes(b"")
        case "fifo":
            os.mkfifo(target)
        case "loop":
            target.symlink_to(target)
        case "dangling":
            target.symlink_to(tmp_path / "nowhere")

    refused(run("-C", os.fsencode(target), "status", cwd=repo), NotARepository)
    refused(call("-C", str(target), "note", "words"), NotARepository)
    assert "SF402" in fair(call("-C", str(target), "doctor")).out


@pytest.mark.req("SEC-01", "PLAT-03")
@pytest.mark.parametrize("mode", [0o000, 0o100, 0o400], ids=oct)
def test_directory_without_rights_is_answered(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(mode)

    try:
        for command in (("status",), ("note", "words")):
            fair(run("-C", str(folder), *command, cwd=tmp_path, through=unprivileged()))
    finally:
        folder.chmod(0o700)


@pytest.mark.req("PLAT-03")
def test_current_directory_is_refused_when_it_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()

    answer = run("status", cwd=gone, through=shell(f"rmdir '{gone}'"))

    refused(answer, NotARepository)


@pytest.mark.req("SEC-01")
def test_repository_folder_with_controls_in_its_name_is_shown_safely(tmp_path: Path) -> None:
    repo = tmp_path / "a\x1b]0;title\x07\u202eb"
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    folder = record(repo, "kept")
    (folder / "status.md").write_text("not a face\n", encoding="utf-8")

    for command in (("note", "more"), ("status",), ("status", "--json"), ("doctor",), ("events",)):
        fair(run(*command, cwd=repo))

    assert decisions(repo) == ["kept", "more"]


@pytest.mark.req("PLAT-03")
def test_repository_folder_that_is_not_utf8_is_answered(tmp_path: Path) -> None:
    repo = tmp_path / "a\udcff"
    subprocess.run(["git", "init", "-q", os.fsencode(repo)], check=True)

    note = fair(run("note", "words", cwd=repo))
    status = fair(run("status", cwd=repo))

    assert (note.status == 0) == (status.status == 0 and "words" in status.out)


@pytest.mark.req("SEC-01")
def test_terminal_never_sees_controls_in_a_path(tmp_path: Path) -> None:
    repo = tmp_path / "a\x1b]0;title\x07"
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    record(repo, "kept")

    for command in (("journal", "path"), ("journal", "export", "-o", str(repo / "b\x1b[31m"))):
        shown = on_terminal(*command, cwd=repo)
        assert b"\x1b]0;" not in shown
        assert b"\x1b[31m" not in shown


def on_terminal(*args: str, cwd: Path) -> bytes:
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [*STANDFAST, *args],
            cwd=cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "NO_COLOR": "1"},
            timeout=TIMEOUT_S,
            check=False,
        )
        os.write(theirs, b"\x00")  # so that reading never waits
        return os.read(ours, 1 << 16)
    finally:
        os.close(ours)
        os.close(theirs)


# Streams.


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_note_is_recorded_when_streams_are_closed(repo: Path, closed: str) -> None:
    record(repo, "kept")

    answer = run("note", "more", cwd=repo, through=shell(f"exec {closed}"))

    assert answer.status == 0
    assert "Traceback" not in answer.err
    assert decisions(repo) == ["kept", "more"]
    assert "Recorded" not in everything_below(repo / ".git")


def everything_below(folder: Path) -> str:
    files = (path for path in folder.rglob("*") if path.is_file())
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize(
    ("redirection", "stdin"),
    [
        ("exec <&-", b""),
        ("true", b""),
        ("true", b"\xff\xfe"),
        ("true", b"a\0b"),
        ("true", b"a" * 70_000),
    ],
    ids=["closed", "empty", "not UTF-8", "NUL", "long"],
)
def test_note_from_stdin_is_refused_when_it_cannot_be_read(
    repo: Path, redirection: str, stdin: bytes
) -> None:
    answer = run("note", "-", cwd=repo, stdin=stdin, through=shell(redirection))

    refused(answer, WrongUsage, BadDocument, TooLarge)
    assert decisions(repo) == []


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize("command", [("status",), ("events",), ("journal", "export")])
def test_output_that_cannot_be_written_is_told(repo: Path, command: tuple[str, ...]) -> None:
    record(repo, "kept")

    answer = run(*command, cwd=repo, through=shell("exec >/dev/full"))

    refused(answer, AnswerLost)


@pytest.mark.req("PLAT-03")
def test_note_is_kept_when_nobody_can_be_told(repo: Path) -> None:
    answer = run("note", "kept", cwd=repo, through=shell("exec >/dev/full 2>/dev/full"))

    assert answer.status == AnswerLost.exit_status
    assert decisions(repo) == ["kept"]


# Limits and surroundings.


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize("descriptors", [5, 7, 8, 10, 12])
def test_note_is_recorded_or_refused_when_descriptors_run_out(repo: Path, descriptors: int) -> None:
    record(repo, "kept")

    answer = run("note", "more", cwd=repo, through=shell(f"ulimit -n {descriptors}"))

    if "standfast" not in answer.err and answer.status not in {0, DiskFailed.exit_status}:
        pytest.skip("the interpreter itself did not start")
    fair(answer)
    recorded = answer.status == 0 and "Recorded" in answer.out
    assert decisions(repo)[:1] == ["kept"]
    assert decisions(repo)[1:] in ([["more"]] if recorded else [[], ["more"]])


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize("blocks", [0, 1, 40, 1_000])
def test_note_is_refused_and_works_again_when_files_may_not_grow(repo: Path, blocks: int) -> None:
    refused(run("note", "first", cwd=repo, through=shell(f"ulimit -f {blocks}")), DiskFailed)

    before = decisions(repo)
    done(run("note", "second", cwd=repo))

    assert before == []
    assert decisions(repo) == ["second"]
    assert fair(call("-C", str(repo), "journal", "verify")).status == 0


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize("locale", ["C", "POSIX", "xx_YY.nonsense"])
def test_words_are_kept_whatever_the_locale(repo: Path, locale: str) -> None:
    surroundings = {"LC_ALL": locale, "LANG": locale, "PYTHONIOENCODING": None, "PYTHONUTF8": None}

    done(run("note", "caf\u00e9 \u4f60\u597d \U0001f600".encode(), cwd=repo, env=surroundings))
    fair(run("status", cwd=repo, env=surroundings))

    assert decisions(repo) == ["caf\u00e9 \u4f60\u597d \U0001f600"]


@pytest.mark.req("PLAT-03")
def test_commands_answer_when_the_environment_is_empty(tmp_path: Path) -> None:
    nothing = dict.fromkeys(os.environ)
    state = tmp_path / "home"

    done(run("note", "kept", cwd=tmp_path, env={**nothing, "HOME": str(state)}))
    told = done(run("status", cwd=tmp_path, env={**nothing, "HOME": str(state)}))
    fair(run("status", cwd=tmp_path, env={**nothing, "HOME": "relative"}))

    assert "kept" in told.out
    assert not (tmp_path / "relative").exists()


@pytest.mark.req("PLAT-03")
def test_state_goes_nowhere_relative_when_nobody_has_a_home(tmp_path: Path) -> None:
    """A user without a line in the password file, and no HOME: `~` is not a folder's name."""
    if os.geteuid() != 0:
        pytest.skip("only root can become such a user")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # one that all may enter
        folder = Path(name)
        folder.chmod(0o777)
        answer = as_another_user(folder, ("note", "words"), home=None)

        assert not (folder / "~").exists()
        fair(answer)


def as_another_user(
    folder: Path, args: tuple[str, ...], *, home: str | None, uid: int = STRANGER
) -> Answer:
    """Everything is loaded before the uid changes: the interpreter may be out of reach then."""
    script = (
        "import os, sys, json, hashlib, tempfile, traceback, subprocess, difflib, threading\n"
        "import ctypes, selectors, unicodedata, pkgutil, importlib, yaml, standfast\n"
        "for m in pkgutil.walk_packages(standfast.__path__, 'standfast.'):\n"
        "    if 'testing' not in m.name and not m.name.endswith('__main__'):\n"
        "        importlib.import_module(m.name)\n"
        "from standfast.surfaces.cli.entry import main\n"
        "uid = int(sys.argv[1]); os.setgroups([]); os.setgid(uid); os.setuid(uid)\n"
        "os.chdir(sys.argv[2]); sys.exit(main(sys.argv[3:]))\n"
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    env.pop("HOME", None)
    env |= {} if home is None else {"HOME": home}
    env["TMPDIR"] = str(folder)
    ended = subprocess.run(
        [sys.executable, "-c", script, str(STRANGER), str(folder), *args],
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )
    return Answer(argv=args, status=ended.returncode, out=ended.stdout, err=ended.stderr)


@pytest.mark.req("PLAT-03")
def test_repository_of_another_user_is_read_or_refused_and_never_written(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # one that all may enter
        repo = Path(name) / "repo"
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        repo.parent.chmod(0o755)
        home = Path(name) / "home"
        home.mkdir()
        home.chmod(0o777)
        folder = record(repo, "kept")
        before = contents_below(folder)

        for args in (
            ("note", "words"),
            ("status",),
            ("events",),
            ("doctor",),
            ("journal", "verify"),
        ):
            fair(as_another_user(repo, args, home=str(home)))

        assert contents_below(folder) == before


def contents_below(folder: Path) -> dict[str, bytes]:
    shared = (".db-shm",)  # readers mark there how far they have read
    return {
        str(path): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(shared)
    }


@pytest.mark.req("PLAT-03")
def test_owner_can_go_on_after_root_worked_in_the_repository() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # one that all may enter
        repo = Path(name)
        subprocess.run(["git", "init", "-q", name], check=True)
        for path in (repo, *repo.rglob("*")):
            os.chown(path, STRANGER, STRANGER)
        done(run("note", "by root", cwd=repo, env={"GIT_CONFIG_COUNT": "0"}))

        answer = as_another_user(repo, ("note", "by the owner"), home=name)
        told = as_another_user(repo, ("status",), home=name)

        assert answer.err == ""
        assert "by root" in done(told).out
        assert "by the owner" in told.out
        assert {path.stat().st_uid for path in (repo / ".git" / "standfast").rglob("*")} == {
            STRANGER
        }


# Modes.


@pytest.mark.req("SEC-06")
@pytest.mark.parametrize("mask", ["000", "022", "077"])
def test_state_is_private_whatever_the_umask(repo: Path, mask: str) -> None:
    folder = repo / ".git" / "standfast"

    for words in ("one", "two", "three"):
        done(run("note", words, cwd=repo, through=shell(f"umask {mask}")))

    assert modes(folder) == {"folders": {0o700}, "files": {0o600}}


@pytest.mark.req("SEC-06")
def test_state_becomes_private_when_its_folder_was_open_to_all(repo: Path) -> None:
    folder = repo / ".git" / "standfast"
    folder.mkdir()
    folder.chmod(0o777)

    done(run("note", "words", cwd=repo))

    assert modes(folder) == {"folders": {0o700}, "files": {0o600}}


@pytest.mark.req("SEC-06")
def test_state_outside_git_and_the_inbox_are_private(tmp_path: Path, world: Path) -> None:
    """With a state folder that is a file, a note can only go to the inbox."""
    done(run("note", "words", cwd=tmp_path, through=shell("umask 000")))
    closed = world / "closed"
    closed.mkdir(mode=0o500)
    run("note", "words", cwd=tmp_path, env={"XDG_STATE_HOME": str(closed)}, through=unprivileged())

    private = modes(world / "home" / ".local" / "state" / "standfast")
    left = modes(world / "t")

    assert private == {"folders": {0o700}, "files": {0o600}}
    assert left["files"] == {0o600}


def modes(folder: Path) -> dict[str, set[int]]:
    found = [folder, *folder.rglob("*")]
    return {
        "folders": {stat.S_IMODE(path.lstat().st_mode) for path in found if path.is_dir()},
        "files": {stat.S_IMODE(path.lstat().st_mode) for path in found if not path.is_dir()},
    }
