"""The launcher lasts: it names what will still be there, and is refused from what will not."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import apsw
import pytest

import standfast
from conftest import Cli
from standfast.clients.hooks import bundle, launcher
from standfast.errors.base import ThrowawayEnvironment

HOME = "/home/ada"


@pytest.mark.req("PLAT-01")
@pytest.mark.parametrize(
    "prefix",
    [
        f"{HOME}/.cache/uv/archive-v0/Qx3/",
        f"{HOME}/.cache/uv/builds-v0/.tmpA/",
        f"{HOME}/.local/pipx/.cache/0a1b2c/",
        f"{HOME}/.cache/pipx/0a1b2c/",
        f"{tempfile.gettempdir()}/tmp.Ab3dE5gH7j/env",
        f"{tempfile.gettempdir()}/tmpx2k4m6q8/env",
    ],
)
def test_environment_that_a_tool_made_for_one_call_is_refused(prefix: str) -> None:
    inside = os.path.join(os.path.realpath(prefix), "lib/standfast/clients/hooks/launcher.py")

    with pytest.raises(ThrowawayEnvironment) as refused:
        launcher.refuse_throwaway(prefix, inside)

    assert "pipx install" in refused.value.remedy


@pytest.mark.req("PLAT-01")
@pytest.mark.parametrize(
    ("prefix", "package"),
    [
        (f"{HOME}/.local/share/uv/tools/standfast", "lib/standfast/clients/hooks/launcher.py"),
        (f"{HOME}/.local/pipx/venvs/standfast", "lib/standfast/clients/hooks/launcher.py"),
        ("/usr", "lib/python3/dist-packages/standfast/clients/hooks/launcher.py"),
        (f"{tempfile.gettempdir()}/tmp.Ab3dE5gH7j/clone/.venv", "../src/standfast/clients/l.py"),
    ],
)
def test_environment_that_somebody_keeps_is_not_refused(prefix: str, package: str) -> None:
    launcher.refuse_throwaway(prefix, os.path.normpath(os.path.join(prefix, package)))


@pytest.mark.req("PLAT-01")
def test_install_from_a_throwaway_environment_changes_nothing(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=tempfile.gettempdir()) as folder:  # tmp and eight letters
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        (packages,) = Path(folder).glob("lib/python3*/site-packages")
        shutil.copytree(Path(standfast.__file__).parent, packages / "standfast")
        (packages / "more.pth").write_text(str(Path(apsw.__file__).parents[1]), encoding="utf-8")

        done = subprocess.run(
            [f"{folder}/bin/python", "-m", "standfast", "install", "claude", "--yes"],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    assert done.returncode == ThrowawayEnvironment.exit_status, done.stdout + done.stderr
    assert "SF405" in done.stderr
    assert not Path(os.environ["HOME"], ".claude").exists()
    assert not Path(launcher.path(os.environ)).exists()


def test_launcher_is_written_once_and_taken_away_whole(tmp_path: Path) -> None:
    environ = {"XDG_DATA_HOME": str(tmp_path / "da'ta here")}

    first, second = launcher.put(environ), launcher.put(environ)
    path = Path(launcher.path(environ))
    mode = path.stat().st_mode & 0o777
    checked = subprocess.run(["/bin/sh", "-n", path], check=False)
    launcher.remove(environ)

    assert (first, second, mode, checked.returncode) == (True, False, 0o755, 0)
    assert list(path.parent.iterdir()) == []


@pytest.mark.req("PLAT-01")
@pytest.mark.parametrize("modules", [b"of the version before", None])
def test_next_command_renews_what_hooks_load_after_an_upgrade(
    cli: Cli, repo: Path, modules: bytes | None
) -> None:
    launcher.put(os.environ)
    beside = Path(launcher.path(os.environ)).with_name(bundle.FILE)
    whole = beside.read_bytes()
    beside.write_bytes(whole if modules is None else modules)
    os.utime(beside, (1, 1))

    assert cli("status", cwd=repo).returncode == 0

    assert bundle.is_current(beside.read_bytes())
    assert beside.stat().st_mtime > 1  # it is not looked at again
    assert cli("status", cwd=repo).returncode == 0


@pytest.mark.req("PLAT-01")
def test_launcher_of_another_installation_is_left_alone(cli: Cli, repo: Path) -> None:
    launcher.put(os.environ)
    path = Path(launcher.path(os.environ))
    path.write_bytes(path.read_bytes().replace(b"/clients/start.py", b"/elsewhere/start.py"))
    beside = path.with_name(bundle.FILE)
    beside.write_bytes(b"another's")
    os.utime(beside, (1, 1))

    assert cli("status", cwd=repo).returncode == 0

    assert beside.read_bytes() == b"another's"
