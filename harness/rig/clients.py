"""Pinned versions of the real clients, installed once from npm and shared by every test.

A version is installed beside its place and moved there in one step, under a lock: whoever
finds it finds all of it. Only a missing npm is a reason to skip; an npm that fails is an error.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.rig.rig_error import RigError

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAUDE = "claude"
PACKAGES = {
    CLAUDE: "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
}
PINNED = {CLAUDE: "2.1.325", "codex": "0.166.0", "gemini": "0.61.0", "opencode": "1.18.33"}
NPM_TIMEOUT_S = 600
VERSION_TIMEOUT_S = 60

_VERSION = re.compile(r"[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}")
_CHECKOUT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 2))


class NpmMissing(RigError):
    """There is no npm here: the real clients cannot be installed."""


class InstallFailed(RigError):
    """Npm ran and did not give the program that was asked for."""


def cache_folder() -> str:
    """Where versions are kept: what the environment names, the checkout's build folder, a cache."""
    named = os.environ.get("STANDFAST_CLIENT_CACHE")
    if named:
        return os.path.abspath(named)
    if os.path.isfile(os.path.join(_CHECKOUT, "pyproject.toml")):
        return os.path.join(_CHECKOUT, "build", "clients")
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(_real_home(), ".cache")
    return os.path.join(caches, "standfast", "clients")


CACHE = cache_folder()  # at import: tests pin the environment to a world without it


def install(version: str, *, client: str = CLAUDE, cache: str = CACHE) -> str:
    """The path of the program of *client* in *version*, installed if it is not there yet."""
    if not _VERSION.fullmatch(version):
        raise InstallFailed(f"{version!r} is no version: three numbers are needed")
    folder = version if client == CLAUDE else f"{client}-{version}"
    place = os.path.join(cache, folder)
    program = os.path.join(place, "node_modules", ".bin", client)
    if os.path.exists(program):
        return program
    npm = shutil.which("npm")
    if npm is None:
        raise NpmMissing(f"npm is not installed, so {client} {version} cannot be tried")
    os.makedirs(cache, exist_ok=True)
    with _one_installer(cache, folder):
        if not os.path.exists(program):
            _install_beside(npm, client, version, place)
    return program


@contextmanager
def _one_installer(cache: str, folder: str) -> Iterator[None]:
    with open(os.path.join(cache, f".{folder}.lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install_beside(npm: str, client: str, version: str, place: str) -> None:
    staging = tempfile.mkdtemp(prefix=f".{version}.", dir=os.path.dirname(place))
    try:
        with open(os.path.join(staging, "package.json"), "w", encoding="utf-8") as file:
            file.write("{}\n")
        wanted = f"{PACKAGES[client]}@{version}"
        _run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error", wanted], staging)
        _check_version(os.path.join(staging, "node_modules", ".bin", client), version)
        os.chmod(staging, 0o755)  # whoever else tests in this checkout
        os.rename(staging, place)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _check_version(program: str, version: str) -> None:
    """Npm can succeed without the install script that puts the real program in its place."""
    with tempfile.TemporaryDirectory() as home:  # some write there when they are only asked
        said = _run([program, "--version"], os.path.dirname(program), VERSION_TIMEOUT_S, home)
    if version not in said.split():
        name = os.path.basename(program)
        raise InstallFailed(f"{name} {version} was installed, but says: {said.strip()[:200]}")


def _run(argv: list[str], folder: str, timeout: int = NPM_TIMEOUT_S, home: str = "") -> str:
    # The real home: npm's own settings are there, also when a test has pinned another.
    environment = {**os.environ, "HOME": home or _real_home()}
    try:
        ended = subprocess.run(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallFailed(f"{os.path.basename(argv[0])}: {error}") from error
    if ended.returncode != 0:
        raise InstallFailed(f"{os.path.basename(argv[0])} failed: {ended.stderr.strip()[-2000:]}")
    return ended.stdout


def _real_home() -> str:
    return pwd.getpwuid(os.getuid()).pw_dir
