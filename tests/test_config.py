"""Defaults < user file < project file < environment < flags, and a repository names no command."""

from pathlib import Path

import pytest

from standfast import config
from standfast.config import Config, Source
from standfast.errors.base import BadConfig, BadDocument, BadName, StandfastError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / ".config" / "standfast").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def load(home: Path, project: Path, *flags: str, **environ: str) -> Config:
    return config.load(str(project), {"HOME": str(home), **environ}, flags=flags)


def user_file(home: Path) -> Path:
    return home / ".config" / "standfast" / "config.yaml"


def test_each_source_overrules_the_ones_before(home: Path, project: Path) -> None:
    found = [load(home, project)]
    user_file(home).write_text("lock_timeout_s: 1\ngit: /opt/git\n", encoding="utf-8")
    found.append(load(home, project))
    (project / ".standfast.yaml").write_text("lock_timeout_s: 2\n", encoding="utf-8")
    found.append(load(home, project))
    found.append(load(home, project, STANDFAST_LOCK_TIMEOUT_S="3"))
    found.append(load(home, project, "lock_timeout_s=4", STANDFAST_LOCK_TIMEOUT_S="3"))

    assert [c.lock_timeout_s for c in found] == [10, 1, 2, 3, 4]
    assert [c.sources.get("lock_timeout_s") for c in found] == [
        None,
        Source.USER,
        Source.PROJECT,
        Source.ENVIRONMENT,
        Source.FLAG,
    ]
    assert found[-1].git == "/opt/git"


@pytest.mark.req("SEC-01")
def test_project_file_may_never_name_a_command(home: Path, project: Path) -> None:
    (project / ".standfast.yaml").write_text(
        "lock_timeout_s: 5\ngit: ./evil.sh\n", encoding="utf-8"
    )

    with pytest.raises(BadConfig, match="may not be set by a repository") as caught:
        load(home, project)

    assert caught.value.line == 2
    assert caught.value.file == str(project / ".standfast.yaml")


def test_every_setting_that_runs_or_drops_something_is_closed_to_projects() -> None:
    closed = [key.name for key in config.KEYS if not key.project]
    kept = ["git", "keep_days", "keep_mb"]
    agents = ["context_window", "reinject_tokens", "guard_resumption", "runner", "runners"]
    assert closed == [*kept, *agents, "worktree_roots", "notify"]
    assert not [key.name for key in config.KEYS if key.variable and key.name.startswith("guard")]


@pytest.mark.req("RES-13", "RES-14", "RES-20")
def test_settings_of_the_hooks_are_checked_and_kept(home: Path, project: Path) -> None:
    user_file(home).write_text(
        "context_window: '150000'\nreinject_tokens: 0\nguard_resumption: true\n", "utf-8"
    )
    (project / ".standfast.yaml").write_text("context_tiers: [0.1, 0.2, 0.3, 0.9]\n", "utf-8")

    found = load(home, project)

    assert (found.context_window, found.reinject_tokens) == (150_000, 0)
    assert found.context_tiers == (0.1, 0.2, 0.3, 0.9)
    assert found.guard_resumption is True


@pytest.mark.req("RES-13", "RES-14", "RES-20")
@pytest.mark.parametrize(
    "text",
    [
        *("context_window: 10\n", "context_window: true\n", "context_window: 1e6\n"),
        *("context_tiers: [0.5]\n", "context_tiers: [0.5, 0.4, 0.6, 0.7]\n", "context_tiers: 1\n"),
        *("reinject_tokens: -1\n", "reinject_tokens: 1501\n", "guard_resumption: 1\n"),
        *("guard_resumption: yes please\n", "context_window: 9999999999\n"),
    ],
)
def test_setting_of_the_hooks_that_makes_no_sense_is_refused(
    home: Path, project: Path, text: str
) -> None:
    user_file(home).write_text(text, "utf-8")

    with pytest.raises(BadConfig, match=text.partition(":")[0]):
        load(home, project)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("speed: 9\n", 1, "no setting"),
        ("- a\n", 1, "mapping"),
        ("\nlock_timeout_s: soon\n", 2, "seconds"),
        ("lock_timeout_s: true\n", 1, "seconds"),
        ("lock_timeout_s: -1\n", 1, "seconds"),
        ("lock_timeout_s: 1e9\n", 1, "seconds"),
        ("status_file: ../out.md\n", 1, "status_file"),
        ("status_file: /etc/motd\n", 1, "status_file"),
        ("status_file: .git/hooks/post-commit\n", 1, "status_file"),
        ("status_file: [a]\n", 1, "status_file"),
    ],
)
def test_bad_value_is_refused_with_file_and_line(
    home: Path, project: Path, text: str, line: int, word: str
) -> None:
    (project / ".standfast.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(BadConfig, match=word) as caught:
        load(home, project)

    assert (caught.value.file, caught.value.line) == (str(project / ".standfast.yaml"), line)


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    "data",
    [
        b"a: &x [1]\nb: &y [*x,*x,*x,*x,*x,*x,*x,*x]\n" * 1,
        b"lock_timeout_s: 1\nlock_timeout_s: 2\n",
        b"git: !!python/object/apply:os.system [id]\n",
        b"lock_timeout_s: 1\0\n",
        b"lock_timeout_s: \xff\n",
        b"{" * 5000,
        b"a: 1\n---\nb: 2\n",
        "lock_timeout_s: 1\n".encode("utf-16"),
    ],
)
def test_hostile_document_is_refused_clearly(home: Path, project: Path, data: bytes) -> None:
    (project / ".standfast.yaml").write_bytes(data)

    with pytest.raises(StandfastError) as caught:
        load(home, project)

    assert isinstance(caught.value, BadDocument | BadConfig)
    assert caught.value.file == str(project / ".standfast.yaml")


@pytest.mark.req("SEC-02")
def test_bom_crlf_and_an_empty_file_are_fine(home: Path, project: Path) -> None:
    path = project / ".standfast.yaml"
    path.write_bytes(b"\xef\xbb\xbflock_timeout_s: 7\r\nstatus_file: docs/STATUS.md\r\n")
    found = load(home, project)
    path.write_bytes(b"")

    assert (found.lock_timeout_s, found.status_file) == (7, "docs/STATUS.md")
    assert load(home, project).lock_timeout_s == 10


@pytest.mark.req("SEC-01")
def test_project_file_behind_a_link_is_refused_but_a_persons_own_is_followed(
    home: Path, project: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "dotfiles.yaml"
    elsewhere.write_text("lock_timeout_s: 6\n", encoding="utf-8")
    user_file(home).symlink_to(elsewhere)
    followed = load(home, project)
    (project / ".standfast.yaml").symlink_to(elsewhere)

    with pytest.raises(BadConfig, match="link"):
        load(home, project)

    assert followed.lock_timeout_s == 6


def test_session_comes_from_the_client_and_is_checked(home: Path, project: Path) -> None:
    found = load(home, project, CLAUDE_CODE_SESSION_ID="8f2c-11")

    assert found.session == "8f2c-11"
    with pytest.raises(BadName):
        load(home, project, CLAUDE_CODE_SESSION_ID="../../etc")


@pytest.mark.parametrize("flag", ["speed=9", "lock_timeout_s", "lock_timeout_s=x", "=1"])
def test_bad_flag_is_refused(home: Path, project: Path, flag: str) -> None:
    with pytest.raises(BadConfig):
        load(home, project, flag)


def test_relative_base_folders_are_void(home: Path, project: Path) -> None:
    found = load(home, project, XDG_STATE_HOME="relative")

    assert found.state_home == str(home / ".local/state")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("stages:\n  mine:\n    outputs:\n      a: soft\n      b: nope\n", 5),
        ("stages:\n  plan: {outputs: {a: soft}}\n  mine:\n    outputs:\n      'B D': soft\n", 5),
        ("stages:\n  mine:\n    skill: x\n    expects: none\n", 4),
        ("stages:\n  mine:\n    skil: x\n", 3),
        ("stages:\n  mine:\n    skill: 'a b'\n", 3),
        ("stages:\n  mine:\n    suffix: ' '\n", 3),
        ("stages:\n  mine: 1\n", 2),
        ("context_tiers:\n  - 0.1\n  - 0.2\n  - x\n  - 0.4\n", 4),
    ],
)
def test_line_of_a_faulty_value_is_told_however_deep_it_stands(
    home: Path, project: Path, text: str, line: int
) -> None:
    (project / ".standfast.yaml").write_text(f"# ours\n{text}", encoding="utf-8")

    with pytest.raises(BadConfig) as caught:
        load(home, project)

    assert caught.value.line == line + 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  a: {command: [x]}\n  b:\n    command:\n      - x\n      - {}\n", 6),
        ("  b:\n    command: [x]\n    time: soon\n", 4),
        ("  b:\n    command: [x]\n    env:\n      A: a\n      B: [1]\n", 6),
        ("  b:\n    command: [x]\n    resume: [y]\n", 4),
        ("  b:\n    command: [x]\n    kind: z\n", 4),
        ("  b:\n    command: [x]\n    tim: z\n", 4),
        ("  b:\n    env: {}\n", 2),
        ("  'b c': {command: [x]}\n", 2),
    ],
)
def test_line_of_a_faulty_runner_is_told(home: Path, project: Path, text: str, line: int) -> None:
    user_file(home).write_text(f"runners:\n{text}", encoding="utf-8")

    with pytest.raises(BadConfig) as caught:
        load(home, project)

    assert caught.value.line == line
