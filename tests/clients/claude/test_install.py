"""`install` and `uninstall` change settings by our hooks alone, and hooks prove that they work."""

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from standfast import disk
from standfast.clients.claude import client_version, self_test, settings_file
from standfast.clients.claude.settings_text import find
from standfast.errors.base import Conflict, Unsupported
from standfast.surfaces.cli.entry import main

NEW, OLD, OLDEST = "2.1.325", "2.0.76", "1.0.128"
HOOKS = {NEW: 13, OLD: 10, OLDEST: 8}
MINE = """\
{
\t// what I like
\t"model": "opus",
\t"statusLine": {"type": "command", "command": "~/line.sh"},
\t"hooks": {
\t\t"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], /* loud */
\t},
}"""


@pytest.fixture(autouse=True)
def home(world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without Claude Code, whatever this machine has."""
    programs = world / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("XDG_DATA_HOME", str(world / "home/.local/share"))
    return world / "home"


@pytest.fixture
def file(home: Path) -> Path:
    (home / ".claude").mkdir()
    return home / ".claude" / "settings.json"


def put_claude(home: Path, says: str, at: str = "../bin/claude") -> None:
    program = home / at
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
    program.chmod(0o755)


def launcher(home: Path) -> Path:
    return home / ".local/share/standfast/hook"


def ours(file: Path) -> list[str]:
    return [each.event for each in find(file.read_text(encoding="utf-8"), name=str(file))]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# What each version gets.


@pytest.mark.req("PLAT-01")
@pytest.mark.parametrize("number", [NEW, OLD, OLDEST])
def test_a_version_gets_the_hooks_that_it_knows_and_they_answer(
    cli: Cli, home: Path, number: str
) -> None:
    put_claude(home, f"{number} (Claude Code)")

    done = cli("install", "claude", "--yes")

    count = HOOKS[number]
    assert done.returncode == 0, done.stderr
    assert (
        f"Claude Code {number}, for you, in every repository (~/.claude/settings.json)"
        in done.stdout
    )
    assert f"Done. {count} of {count} hooks answered." in done.stdout
    value = json.loads((home / ".claude/settings.json").read_text(encoding="utf-8"))
    entries = [entry for groups in value["hooks"].values() for entry in groups[0]["hooks"]]
    call = (
        {"command": str(launcher(home)), "args": ["claude"]}
        if number == NEW
        else {"command": f"{launcher(home)} claude"}
    )
    assert entries == [{"type": "command", **call, "timeout": 10}] * count
    assert launcher(home).stat().st_mode & 0o111


@pytest.mark.parametrize("number", [NEW, OLD])
def test_a_launcher_whose_path_needs_quotes_is_called_all_the_same(
    cli: Cli, home: Path, file: Path, number: str
) -> None:
    put_claude(home, number)
    data = home / "my $HOME; it's"

    done = cli("install", "claude", "--yes", env={"XDG_DATA_HOME": str(data)})

    assert done.returncode == 0, done.stderr
    assert (data / "standfast/hook").exists()
    assert len(ours(file)) == HOOKS[number]


@pytest.mark.parametrize("says", ["command not found", "", "2.x", "99", "v2.1.325"])
def test_a_version_that_cannot_be_read_gets_what_every_version_knows(
    cli: Cli, home: Path, says: str
) -> None:
    put_claude(home, says)

    done = cli("install", "claude", "--dry-run", "--json")

    told = json.loads(done.stdout)
    assert (told["version"], len(told["hooks"])) == (None, HOOKS[OLDEST])


def test_without_the_program_only_safe_hooks_are_installed_and_that_is_said(cli: Cli) -> None:
    done = cli("install", "claude", "--dry-run")

    assert done.returncode == 0
    assert f"+ {HOOKS[OLDEST]} hooks" in done.stdout
    assert "its version could not be read" in done.stdout


@pytest.mark.parametrize("place", client_version.ELSEWHERE)
def test_the_program_is_also_found_where_its_installers_put_it(
    cli: Cli, home: Path, place: str
) -> None:
    put_claude(home, "2.1.400 (Claude Code)", at=place)

    told = json.loads(cli("install", "claude", "--dry-run", "--json").stdout)

    assert (told["version"], len(told["hooks"])) == ("2.1.400", HOOKS[NEW])


def test_a_program_that_hangs_is_not_waited_for(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_claude(home, "'; exec sleep 600; echo '")
    put_claude(home, OLD, at=client_version.ELSEWHERE[0])
    monkeypatch.setattr(client_version, "_TIMEOUT_S", 0.3)

    assert client_version.installed(os.environ) == (2, 0, 76)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("steps", [(NEW, OLD), (OLD, NEW), (NEW, OLDEST, NEW)])
def test_after_an_upgrade_or_downgrade_install_gives_what_the_new_version_knows(
    cli: Cli, home: Path, file: Path, steps: tuple[str, ...]
) -> None:
    file.write_text(MINE, encoding="utf-8")
    for number in steps:
        put_claude(home, number)
        assert cli("install", "claude", "--yes").returncode == 0

    assert len(ours(file)) == HOOKS[steps[-1]]
    assert cli("uninstall", "claude", "--yes").returncode == 0
    assert file.read_text(encoding="utf-8") == MINE


# Asking.


def test_without_a_terminal_the_change_is_shown_and_nothing_is_written(
    cli: Cli, home: Path, file: Path
) -> None:
    file.write_text(MINE, encoding="utf-8")
    before = everything(home)

    done = cli("install", "claude")

    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert '+\\t\\t"SessionStart": [' in done.stdout
    assert "= your hook and your status line stay as they are" in done.stdout
    assert everything(home) == before


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_dry_run_writes_nothing_and_colours_its_diff(
    cli: Cli, home: Path, file: Path, verb: str
) -> None:
    file.write_text('{"model": "opus"}\n', encoding="utf-8")
    if verb == "uninstall":
        assert cli("install", "claude", "--yes").returncode == 0
    before = everything(home)

    done = cli(verb, "claude", "--dry-run", "--yes", env={"FORCE_COLOR": "1"})

    assert done.returncode == 0
    assert "\x1b[32m+{" in done.stdout
    assert "\x1b[1;31m-{" in done.stdout
    assert everything(home) == before


def in_terminal(answer: bytes, *arguments: str) -> tuple[int, str]:
    """Run a command with a terminal for its streams, and answer its question."""
    primary, secondary = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "standfast", *arguments],
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
    )
    os.close(secondary)
    said = b""
    try:
        while b"[Y/n] " not in said:
            said += os.read(primary, 4096)
        os.write(primary, answer)
        while part := os.read(primary, 4096):
            said += part
    except OSError:  # the other side has closed: it ended
        pass
    finally:
        os.close(primary)
    return child.wait(60), said.decode()


@pytest.mark.parametrize(("answer", "written"), [(b"\n", True), (b"y\n", True), (b"n\n", False)])
def test_in_a_terminal_the_cost_is_told_before_a_person_is_asked(
    home: Path, answer: bytes, *, written: bool
) -> None:
    put_claude(home, OLDEST)

    status, said = in_terminal(answer, "install", "claude")

    told, _, after = said.partition("Write it? [Y/n] ")
    assert " ms a call" in told
    assert ("8 of 8 hooks answered" in after) is written
    assert status == (0 if written else 1)
    assert launcher(home).exists() is written
    assert (home / ".claude/settings.json").exists() is written


# The user's file.


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "text",
    [
        MINE.encode(),
        MINE.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf{}",
        b"",
        b'{"hooks": {"Stop": [], "Other": [{"matcher": "x"}]}}\n',
    ],
)
def test_uninstall_gives_the_file_back_to_the_byte(
    cli: Cli, home: Path, file: Path, text: bytes
) -> None:
    put_claude(home, OLDEST)
    file.write_bytes(text)
    file.chmod(0o640)

    assert cli("install", "claude", "--yes").returncode == 0
    installed = file.read_bytes()
    assert cli("uninstall", "claude", "--yes").returncode == 0

    assert len(installed) > len(text)
    assert file.read_bytes() == text
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert not launcher(home).exists()
    assert not list(file.parent.glob(".*"))


def test_a_file_that_was_not_there_is_gone_again(cli: Cli, home: Path) -> None:
    put_claude(home, OLDEST)
    cli("install", "claude", "--yes")
    assert (home / ".claude/settings.json").exists()

    done = cli("uninstall", "claude", "--yes")

    assert ".git/standfast" in done.stdout
    assert "standfast events" in done.stdout
    assert not (home / ".claude/settings.json").exists()


def test_what_was_edited_meanwhile_stays(cli: Cli, home: Path) -> None:
    put_claude(home, OLDEST)
    cli("install", "claude", "--yes")
    file = home / ".claude/settings.json"
    value = json.loads(file.read_text(encoding="utf-8"))
    value["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "mine"})
    file.write_text(json.dumps({"model": "opus", **value}, indent=4), encoding="utf-8")

    cli("uninstall", "claude", "--yes")

    assert json.loads(file.read_text(encoding="utf-8")) == {
        "model": "opus",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]},
    }


def test_a_second_install_changes_nothing(cli: Cli, home: Path, file: Path) -> None:
    put_claude(home, OLDEST)
    file.write_text(MINE, encoding="utf-8")
    cli("install", "claude", "--yes")
    before, inode = everything(home), file.stat().st_ino

    done = cli("install", "claude")

    assert done.returncode == 0
    assert "8 of 8 hooks answered." in done.stdout
    assert (everything(home), file.stat().st_ino) == (before, inode)


def test_a_file_that_the_client_ignores_is_written_with_a_warning(
    cli: Cli, home: Path, file: Path
) -> None:
    put_claude(home, OLDEST)
    file.write_text(MINE, encoding="utf-8")

    done = cli("install", "claude", "--dry-run")

    assert "! Claude Code ignores this file: line 2 is no plain JSON" in done.stdout


def test_a_link_stays_and_the_file_behind_it_is_written(
    cli: Cli, home: Path, file: Path, tmp_path: Path
) -> None:
    put_claude(home, OLDEST)
    behind = tmp_path / "dotfiles.json"
    behind.write_text(MINE, encoding="utf-8")
    file.symlink_to(behind)

    cli("install", "claude", "--yes")

    assert file.is_symlink()
    assert len(ours(behind)) == HOOKS[OLDEST]
    cli("uninstall", "claude", "--yes")
    assert file.is_symlink()
    assert behind.read_text(encoding="utf-8") == MINE


def test_a_link_to_nothing_gets_its_file_and_loses_it_again(
    cli: Cli, home: Path, file: Path, tmp_path: Path
) -> None:
    put_claude(home, OLDEST)
    file.symlink_to(tmp_path / "later.json")

    cli("install", "claude", "--yes")
    made = (tmp_path / "later.json").exists()
    cli("uninstall", "claude", "--yes")

    assert made
    assert file.is_symlink()
    assert not (tmp_path / "later.json").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_of_the_file_stays_its_owner(cli: Cli, home: Path, file: Path) -> None:
    put_claude(home, OLDEST)
    file.write_text(MINE, encoding="utf-8")
    os.chown(file, 12345, 54321)

    cli("install", "claude", "--yes")

    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 54321)
    assert len(ours(file)) == HOOKS[OLDEST]


# Refusals.


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ('{\n "a": 1\n "b": 2\n}', "a comma is missing (column 2)", 3),
        ('{\n  "a": tru\n}', "not `tru` (column 8)", 2),
        ('{"a": 1', "a comma is missing (column 8)", 1),
        ('{"a": "x\n"}', "a string without an end (column 7)", 1),
        ("{} {}", "more text after the end (column 4)", 1),
        ("// nothing\n", "the text ends too early (column 1)", 2),
        ("{}\n/* x", "a comment without an end (column 1)", 2),
        ("{'a': 1}", "a key in double quotes is expected (column 2)", 1),
        ('{"a" 1}', "a colon is missing (column 6)", 1),
        ("[" * 65, "nested deeper than 64 levels (column 65)", 1),
        ("[]", "the settings are no object", 1),
        ('{\n"hooks": []}', "`hooks` is no object", 2),
        ('{"hooks": null}', "`hooks` is no object", 1),
        ('{"hooks": {\n"Stop": {}}}', "an event in `hooks` is no list", 2),
        ('{"hooks": {},\n"hooks": {}}', "the key `hooks` stands twice", 2),
        ('{"hooks": {"Stop": [],\n"Stop": []}}', "the key `Stop` stands twice", 2),
        ('{"a": "\0"}', "a NUL byte in the text", 1),
    ],
)
def test_settings_that_cannot_be_understood_are_left_alone(
    cli: Cli, home: Path, file: Path, verb: str, text: str, problem: str, line: int
) -> None:
    file.write_text(text, encoding="utf-8")
    before = everything(home)

    done = cli(verb, "claude", "--yes", "--json")

    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["file"], error["line"]) == ("SF103", str(file), line)
    assert problem in error["problem"]
    assert everything(home) == before


def test_a_read_only_file_is_left_alone(cli: Cli, home: Path, file: Path) -> None:
    put_claude(home, OLDEST)
    file.write_text(MINE, encoding="utf-8")
    file.chmod(0o444)
    before = everything(home)

    done = cli("install", "claude", "--yes")

    assert done.returncode == 25
    assert "the file is read-only" in done.stderr
    assert str(file) in done.stderr
    assert everything(home) == before


@pytest.mark.parametrize("kind", ["folder", "fifo", "loop", "link into nowhere"])
def test_what_is_no_file_is_refused(
    cli: Cli, home: Path, file: Path, tmp_path: Path, kind: str
) -> None:
    put_claude(home, OLDEST)
    if kind == "folder":
        file.mkdir()
    elif kind == "fifo":
        os.mkfifo(file)
    else:
        file.symlink_to(file if kind == "loop" else tmp_path / "missing" / "settings.json")

    done = cli("install", "claude", "--yes")

    assert done.returncode == 30
    assert str(file) in done.stderr
    assert not launcher(home).exists()


def test_an_unknown_client_is_refused_with_those_there_are(cli: Cli) -> None:
    done = cli("install", "emacs")

    assert done.returncode == 2
    assert "there is no client `emacs`" in done.stderr
    assert "claude" in done.stderr


def test_hooks_that_stop_answering_are_taken_out_again(
    home: Path, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put_claude(home, OLDEST)
    file.write_text(MINE, encoding="utf-8")
    swap = disk.swap

    def swap_and_break(*names: int | str) -> bool:
        # As if the environment went away at this very moment.
        launcher(home).write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        return swap(*names)  # type: ignore[arg-type]

    monkeypatch.setattr(disk, "swap", swap_and_break)
    monkeypatch.setattr(self_test, "_LATE_S", 0)

    status = main(["install", "claude", "--yes"])

    assert status == 1
    said = capsys.readouterr().err
    assert "Only 0 of 8 hooks answered, not Stop, SessionStart, " in said
    assert "as they were" in said
    assert file.read_text(encoding="utf-8") == MINE
    assert not launcher(home).exists()


def test_a_second_uninstall_finds_nothing(cli: Cli, file: Path) -> None:
    file.write_text(MINE, encoding="utf-8")

    done = cli("uninstall", "claude")

    assert done.returncode == 0
    assert "Nothing of Standfast is in ~/.claude/settings.json." in done.stdout
    assert file.read_text(encoding="utf-8") == MINE


@pytest.mark.req("PLAT-01")
def test_a_no_leaves_the_launcher_of_another_standfast_as_it_was(home: Path, file: Path) -> None:
    put_claude(home, OLDEST)
    theirs = home / ".local/share/standfast/hook"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")

    status, _ = in_terminal(b"n\n", "install", "claude")

    assert status == 1
    assert theirs.read_text(encoding="utf-8") == "#!/bin/sh\nexit 0\n"
    assert [path.name for path in theirs.parent.iterdir()] == ["hook"]


# Somebody else writes at the same time.


def change_while(file: Path, edits: int) -> settings_file.Change:
    made = 0

    def edit(text: str | None) -> str:
        nonlocal made
        made += 1
        if made <= edits:
            file.write_text(f"theirs {made}", encoding="utf-8")
        return f"{text} and ours"

    target = settings_file.SettingsFile(str(file), str(file))
    return settings_file.change(target, edit)


def test_what_somebody_wrote_meanwhile_is_what_gets_edited(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("theirs", encoding="utf-8")

    change = change_while(file, edits=2)

    assert file.read_text(encoding="utf-8") == "theirs 2 and ours"
    assert change.before == b"theirs 2"


def test_edit_at_the_last_instant_is_put_back_and_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("theirs", encoding="utf-8")
    swap, late = disk.swap, iter([b"theirs, late"])

    def edited_before(*names: int | str) -> bool:
        for data in late:  # after the last look, before the exchange
            file.write_bytes(data)
        return swap(*names)  # type: ignore[arg-type]

    monkeypatch.setattr(disk, "swap", edited_before)
    change_while(file, edits=0)

    assert file.read_text(encoding="utf-8") == "theirs, late and ours"


def test_draft_of_an_install_that_was_killed_goes_unless_it_holds_somebodys_words(
    cli: Cli, file: Path
) -> None:
    same = file.with_name(".settings.json.0123456789ab.draft")
    edited = file.with_name(".settings.json.ba9876543210.draft")
    file.parent.mkdir(parents=True, exist_ok=True)
    for kept in (file, same):
        kept.write_text('{"model": "some"}', encoding="utf-8")
    edited.write_text('{"model": "what somebody wrote in that very moment"}', encoding="utf-8")

    cli("install", "claude", "--yes")

    assert not same.exists()
    assert "very moment" in edited.read_text(encoding="utf-8")


def test_a_file_that_never_rests_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("theirs", encoding="utf-8")

    with pytest.raises(Conflict):
        change_while(file, edits=99)

    assert file.read_text(encoding="utf-8") == "theirs 3"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["settings.json"]


@pytest.mark.prove
def test_installs_at_once_give_one_result(home: Path, file: Path) -> None:
    put_claude(home, OLDEST)
    file.write_text(MINE, encoding="utf-8")
    command = [sys.executable, "-m", "standfast", "install", "claude", "--yes"]

    children = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(4)]

    assert [child.wait(120) for child in children] == [0] * 4
    assert sorted(ours(file)) == sorted(set(ours(file)))
    assert len(ours(file)) == HOOKS[OLDEST]


# One checkout, and what is left where.


def test_a_project_is_installed_into_its_own_local_settings(
    cli: Cli, home: Path, repo: Path
) -> None:
    put_claude(home, OLDEST)
    (repo / "deep").mkdir()

    done = cli("install", "claude", "--project", "--yes", cwd=repo / "deep")

    assert done.returncode == 0, done.stderr
    assert "in this checkout" in done.stdout
    assert "keep this file out of commits" in done.stdout
    assert len(ours(repo / ".claude/settings.local.json")) == HOOKS[OLDEST]
    assert not (home / ".claude").exists()


def test_the_launcher_stays_as_long_as_one_of_two_settings_calls_it(
    cli: Cli, home: Path, repo: Path
) -> None:
    put_claude(home, OLDEST)
    for scope in ("--user", "--project"):
        cli("install", "claude", scope, "--yes", cwd=repo)

    cli("uninstall", "claude", "--user", "--yes", cwd=repo)
    after_first = launcher(home).exists()
    cli("uninstall", "claude", "--project", "--yes", cwd=repo)

    assert after_first
    assert not launcher(home).exists()


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("at", [".claude", ".claude/settings.local.json"])
def test_a_repository_cannot_lead_the_install_elsewhere(
    cli: Cli, home: Path, repo: Path, tmp_path: Path, at: str
) -> None:
    put_claude(home, OLDEST)
    target = tmp_path / "outside"
    target.mkdir()
    (target / "settings.local.json").write_text("{}", encoding="utf-8")
    (repo / at).parent.mkdir(exist_ok=True)
    (repo / at).symlink_to(target if at == ".claude" else target / "settings.local.json")

    done = cli("install", "claude", "--project", "--yes", cwd=repo)

    assert done.returncode == 30
    assert (target / "settings.local.json").read_text(encoding="utf-8") == "{}"


def test_outside_a_repository_there_is_no_project(cli: Cli, tmp_path: Path) -> None:
    done = cli("install", "claude", "--project", "--yes", cwd=tmp_path)

    assert done.returncode == 41


@pytest.mark.req("CLI-02")
def test_proving_leaves_nothing_behind(cli: Cli, world: Path, home: Path, repo: Path) -> None:
    put_claude(home, OLDEST)

    cli("install", "claude", "--yes", cwd=repo, env={"TMPDIR": str(repo / ".git")})

    assert not (repo / ".git/standfast").exists()
    assert not list((repo / ".git").glob("standfast*"))
    assert sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()) == [
        ".claude/settings.json",
        ".local/share/standfast/hook",
        ".local/share/standfast/hook.modules",
    ]


@pytest.mark.req("CLI-01")
def test_json_tells_the_same(cli: Cli, home: Path, file: Path) -> None:
    put_claude(home, OLDEST)

    unasked = cli("install", "claude", "--json")
    done = cli("install", "claude", "--yes", "--json")
    gone = cli("uninstall", "claude", "--yes", "--json")

    told = json.loads(unasked.stdout)
    assert (unasked.returncode, told["written"]) == (1, False)
    assert "--yes" in told["remedy"]
    assert told["diff"].count("\n+") > HOOKS[OLDEST]
    told = json.loads(done.stdout)
    assert (told["written"], told["silent"], told["file"]) == (True, [], str(file))
    assert len(told["answered"]) == HOOKS[OLDEST]
    assert told["median_ms"] > 0
    assert json.loads(gone.stdout)["hooks"] == []


def test_draft_of_a_killed_install_is_gone_when_everything_is_in_place(
    cli: Cli, file: Path
) -> None:
    file.write_text(MINE, encoding="utf-8")
    assert cli("install", "claude", "--yes").returncode == 0
    draft = file.with_name(".settings.json.0123456789ab.draft")  # what stood there, exchanged
    draft.write_text(MINE, encoding="utf-8")
    other = file.with_name(".settings.json.ba9876543210.draft")
    other.write_text(MINE.replace("opus", "sonnet"), encoding="utf-8")  # somebody's last words

    again = cli("install", "claude", "--yes")

    assert again.returncode == 0
    assert not draft.exists()
    assert other.exists()


@pytest.mark.parametrize("other", [False, True])
def test_folder_that_only_we_needed_goes_with_the_project_hooks(
    cli: Cli, repo: Path, *, other: bool
) -> None:
    if other:
        (repo / ".claude").mkdir()
        (repo / ".claude" / "notes.md").write_text("mine", encoding="utf-8")
    assert cli("install", "claude", "--project", "--yes", cwd=repo).returncode == 0
    mode = (repo / ".claude" / "settings.local.json").stat().st_mode & 0o777
    assert mode == disk.tree_mode()

    assert cli("uninstall", "claude", "--project", "--yes", cwd=repo).returncode == 0

    assert (repo / ".claude").exists() is other
    assert not (repo / ".claude" / "settings.local.json").exists()


def test_status_tells_the_truth_of_hooks(repo: Path, cli: Cli) -> None:
    def hooks() -> str:
        return str(json.loads(cli("status", "--json", cwd=repo).stdout)["hooks"])

    said = [hooks()]
    for words in (("note", "x"), ("install", "claude", "--yes"), ("off",), ("on",)):
        cli(*words, cwd=repo)
        said.append(hooks())
    cli("uninstall", "claude", "--yes", cwd=repo)
    said.append(hooks())
    cli("install", "claude", "--project", "--yes", cwd=repo)
    said.append(hooks())

    gone, on = "not_installed", "on"
    assert said == [gone, gone, on, "off", on, gone, on]


def test_home_that_is_no_utf8_is_named_with_what_helps(repo: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd-\udcff"
    odd.mkdir()
    env = {name: each for name, each in os.environ.items() if not name.startswith("XDG_")}

    done = subprocess.run(
        [sys.executable, "-m", "standfast", "install", "claude", "--yes"], cwd=repo,
        env={**env, "HOME": str(odd)}, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip

    assert done.returncode == Unsupported.exit_status, done.stderr
    assert "XDG_DATA_HOME" in done.stderr
    assert not (odd / ".claude").exists()
