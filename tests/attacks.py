"""How an attacker calls Standfast, and what every answer is held to, whatever was asked.

`run` is the real command line in a process of its own, bounded in time. `call` is the same entry
point inside the test's process, for attacks that come by the hundred. Both hand back an Answer,
and `fair` refuses one that no user should ever see.
"""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from standfast.errors import base, lanes, plans
from standfast.errors.base import StandfastError
from standfast.surfaces.cli.entry import main

TIMEOUT_S = 30
STANDFAST = (sys.executable, "-m", "standfast")
DONE, CHECK_FAILED = 0, 1

BY_CODE: Mapping[str, type[StandfastError]] = {
    kind.code: kind
    for kind in {**vars(base), **vars(lanes), **vars(plans)}.values()
    if isinstance(kind, type) and issubclass(kind, StandfastError)
}
DOCUMENTED = {DONE, CHECK_FAILED} | {
    kind.exit_status for code, kind in BY_CODE.items() if code not in {"SF000", "SF001"}
}

_CODE = re.compile(r"\bSF\d{3}\b")
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_DESTROYS = re.compile(
    r"\b(?:rm|rmdir|shred|unlink|mv|dd|truncate|kill|pkill|chmod|chown)\s+[-/.\w]"
    r"|\bgit\s+(?:-\S+\s+)*(?:reset|clean|checkout|restore|push|gc|rm|stash)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a call gave back."""

    argv: tuple[str, ...]
    status: int
    out: str
    err: str

    @property
    def error(self) -> dict[str, object]:
        """What `--json` says last, if that is an error."""
        last = self.out.rstrip("\n").rpartition("\n")[2]
        return dict(json.loads(last)["error"]) if last.startswith('{"error": ') else {}

    @property
    def code(self) -> str | None:
        """The code of the error it tells of, if it tells of one."""
        if self.error:
            return str(self.error["code"])
        for line in self.err.splitlines():
            if line.startswith("error SF"):
                return line[len("error ") :][:5]
        return None


def run(
    *args: str | bytes,
    cwd: Path,
    stdin: bytes = b"",
    env: Mapping[str, str | None] | None = None,
    through: Sequence[str] = (),
) -> Answer:
    """Call the real command line; None takes a variable away, *through* is put before it."""
    surroundings: dict[str, str] = {**os.environ}
    for name, value in (env or {}).items():
        surroundings.pop(name, None)
        if value is not None:
            surroundings[name] = value
    done = subprocess.run(
        [*through, *STANDFAST, *args],
        cwd=cwd,
        input=stdin,
        env=surroundings,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Answer(
        argv=tuple(map(os.fsdecode, args)),
        status=done.returncode,
        out=done.stdout.decode("utf-8"),  # strict: output is UTF-8, whatever was asked
        err=done.stderr.decode("utf-8"),
    )


def shell(redirection: str) -> tuple[str, ...]:
    """Run the command through a shell that first redirects or limits something."""
    return ("bash", "-c", f'{redirection}; exec "$@"', "bash")


def call(*args: str, stdin: bytes = b"") -> Answer:
    """Call the entry point in this process, its streams captured."""
    with _streams(stdin) as (out, err):
        try:
            status = main(list(args))
        except SystemExit as left:  # argparse's --help
            status = int(left.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        said, complained = out.getvalue(), err.getvalue()
    return Answer(argv=args, status=status, out=said.decode(), err=complained.decode())


@contextlib.contextmanager
def _streams(stdin: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="utf-8"))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding="utf-8"))
        yield out, err


def fair(answer: Answer) -> Answer:
    """Refuse an answer that no user should ever see; give a fair one back."""
    said = answer.out + answer.err
    assert "Traceback" not in said, answer
    assert answer.status in DOCUMENTED, answer
    assert not _STEERS.search(said), answer
    assert not _DESTROYS.search(said), answer
    if answer.status not in {DONE, CHECK_FAILED}:
        _explained(answer)
    return answer


def _explained(answer: Answer) -> None:
    code = answer.code
    assert code is not None, answer
    assert BY_CODE[code].exit_status == answer.status, answer
    if answer.error:
        assert answer.error["remedy"], answer
    else:
        assert answer.err.rstrip().splitlines()[-1].startswith("  "), answer


def refused(answer: Answer, *causes: type[StandfastError]) -> Answer:
    """Refuse any answer but a fair refusal for one of these causes."""
    fair(answer)
    assert answer.code in {cause.code for cause in causes}, answer
    return answer


def done(answer: Answer) -> Answer:
    """Refuse any answer but a fair success."""
    fair(answer)
    assert answer.status == DONE, answer
    return answer


# What is there before and after an attack.


def decisions(repo: Path) -> list[str]:
    """The words of every decision, as `status` tells them."""
    told = json.loads(done(call("-C", str(repo), "status", "--json", "--all")).out)
    return [str(decision["text"]) for decision in told["decisions"]]


def record(repo: Path, *words: str) -> Path:
    """Record decisions, and give the folder of the journal that they are in."""
    for text in words:
        done(call("-C", str(repo), "note", text))
    return repo / ".git" / "standfast"


def forget(path: Path) -> None:
    """Take away whatever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def unprivileged() -> tuple[str, ...]:
    """What to put before a command so that the modes of files bite; skips where nothing does."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root without setpriv: modes do not bite")
    return ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


def with_mounts() -> tuple[str, ...]:
    """A way into a mount namespace of our own; skips where the system gives none."""
    for way in (("unshare", "-m"), ("unshare", "-rm")):
        if shutil.which("unshare") is None:
            break
        probe = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
        if subprocess.run([*way, *probe], capture_output=True, check=False).returncode == 0:
            return way
    pytest.skip("this system lets nobody mount")
