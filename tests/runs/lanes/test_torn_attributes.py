"""A power cut tears attributes too: what is put back is as a fresh checkout has it."""

import subprocess
from pathlib import Path

import pytest

import lane_runs
from lane_runs import Lane, end_at, resumed

ATTRIBUTES = """\
*.txt text eol=crlf
*.u16 text working-tree-encoding=UTF-16LE-BOM
*.id ident
"""
RULES = (".gitattributes", "deep/.gitattributes", ".gitignore")
CONVERTED = {
    "crlf.txt": b"line of text\r\n" * 2_000,
    "wide.u16": b"\xff\xfe" + ("w\u00f6rter und\n" * 1_500).encode("utf-16-le"),
    "deep/one.id": b"$Id$\n" + b"x\n" * 4_000,
    "deep/a.bat": b"rem\r\n" * 2_000,
    "plain": b"plain\n" * 2_000,
}
# The first run leaves what a cut may leave, and never ends; the next one keeps what it was told.
AGENT = """\
if [ -e {mark} ]; then cat > {told}; echo more > made.txt; exit 0; fi
{tears}
echo words > words
touch {mark}; sleep 600
"""
TEARS = {
    "all files": "git ls-files | while read name; do : > $name; done",
    "the attributes, and the rest at a page": (
        "for name in {rules}; do : > $name; done\n"
        "for name in {names}; do head -c 4096 $name > torn; cat torn > $name; done; rm torn"
    ),
    "the rest at a page": (
        "for name in {names}; do head -c 4096 $name > torn; cat torn > $name; done; rm torn"
    ),
}


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    made = lane_runs.build(tmp_path)
    (made.repo / "deep").mkdir()
    (made.repo / ".editorconfig").write_text("root = true\n" * 9, encoding="utf-8")
    (made.repo / ".gitattributes").write_text(ATTRIBUTES, encoding="utf-8")
    (made.repo / "deep/.gitattributes").write_text("*.bat text eol=crlf\n", encoding="utf-8")
    (made.repo / ".gitignore").write_text("/secret\n/empty\n", encoding="utf-8")
    for name, data in CONVERTED.items():
        (made.repo / name).write_bytes(data)
    made.git("add", ".")
    made.git("commit", "-qm", "second")
    return made


def cut(lane: Lane, tmp_path: Path, tears: str, more: str = "") -> None:
    """Everything is gone in the middle of the agent, and the machine has come up again."""
    mark = tmp_path / "mark"
    torn = TEARS[tears].format(rules=" ".join(RULES), names=" ".join(CONVERTED))
    script = AGENT.format(mark=mark, told=tmp_path / "told", tears=f"{more}\n{torn}")
    end_at(mark, lane, "--merge", "none", "--runner", script)
    lane_runs.reboot(lane)


def as_checked_out(lane: Lane, tmp_path: Path) -> dict[str, bytes]:
    """What a fresh clone has."""
    fresh = tmp_path / "fresh"
    said = ("git", "clone", "-q", "-b", "main", str(lane.repo), str(fresh))
    subprocess.run(said, check=True, cwd=tmp_path)
    return {name: (fresh / name).read_bytes() for name in (*CONVERTED, *RULES, ".editorconfig")}


@pytest.mark.sweep(3)
@pytest.mark.req("REL-10")
@pytest.mark.parametrize("tears", TEARS)
def test_what_is_put_back_is_what_a_fresh_checkout_has(
    lane: Lane, tmp_path: Path, tears: str
) -> None:
    cut(lane, tmp_path, tears)
    resumed(lane)

    whole = as_checked_out(lane, tmp_path)
    assert {name: (lane.tree / name).read_bytes() for name in whole} == whole
    assert lane.git("diff", "--name-only", "main", "lane/P1/SL-1").split() == ["made.txt", "words"]
    told = (tmp_path / "told").read_text(encoding="utf-8")
    assert all(f"- {name}\n" in told for name in CONVERTED)


@pytest.mark.req("REL-10")
def test_attributes_that_the_agent_changed_do_not_hide_what_is_torn(
    lane: Lane, tmp_path: Path
) -> None:
    more = "echo '*.none text' > .gitattributes"
    cut(lane, tmp_path, "the rest at a page", more)
    resumed(lane)

    assert (lane.tree / "crlf.txt").read_bytes() == CONVERTED["crlf.txt"]
    assert (lane.tree / "wide.u16").read_bytes() == CONVERTED["wide.u16"]
    assert (lane.tree / ".gitattributes").read_text(encoding="utf-8") == "*.none text\n"


@pytest.mark.req("REL-10")
def test_what_git_ignores_is_kept_nowhere_and_named_to_nobody(lane: Lane, tmp_path: Path) -> None:
    more = "echo words > secret; : > empty"
    cut(lane, tmp_path, "all files", more)
    resumed(lane)

    ref = "refs/standfast/backup/r1/P1/SL-1/1"
    assert lane.git("ls-tree", "--name-only", ref, "secret", "empty") == ""
    assert lane.show(ref, ".gitignore") == "", "what was there is kept"
    assert "- empty" not in (tmp_path / "told").read_text(encoding="utf-8")
