"""Whatever a lane's commits hold: on a new base every byte of them is kept, and always alike."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import git_lanes
from git_lanes import Repo
from standfast.git import branch_advance, replay

NAMES = ["file", "line\nbreak", "\u00fcml", "bytes \udcff", 'quo"te\\', "deep/er/x", "-dash", " "]
GITLINK = "160000"
MODES = ["100644", "100755", "120000", GITLINK]


class Entry(NamedTuple):
    mode: str
    data: bytes


class Made(NamedTuple):
    """A commit to be: who, when and what is said, and the files that it sets or takes away."""

    who: bytes
    at: int
    zone: bytes
    encoding: bytes | None
    message: bytes
    changes: dict[str, Entry | None]


names = st.sampled_from(NAMES)
lines = st.lists(st.sampled_from([b"a\n", b"b\r\n", b"\0\n", b"<<<<<<< \n"]), max_size=8)
contents = st.one_of(st.binary(max_size=40), lines.map(b"".join))


def entry(mode: str, data: bytes) -> Entry:
    link = data.replace(b"\0", b"") or b"target"
    return Entry(mode, {"120000": link, GITLINK: b"%040x" % (len(data) + 1)}.get(mode, data))


entries = st.builds(entry, st.sampled_from(MODES), contents)
people = st.binary(max_size=12).map(
    lambda raw: bytes(each for each in raw if each not in b"<>\n\0")
)
commits = st.builds(
    Made,
    who=people.map(bytes.strip),
    at=st.integers(0, 2**32),
    zone=st.sampled_from([b"+0000", b"-1130", b"+0545"]),
    encoding=st.sampled_from([None, b"latin1", b"nonsense"]),
    message=st.one_of(st.binary(max_size=60), st.just(b""), st.just(b"x" * 300_000)),
    changes=st.dictionaries(names, st.one_of(st.none(), entries), max_size=4),
)
histories = st.lists(commits, min_size=1, max_size=4)


def quoted(name: str) -> bytes:
    inside = b"".join(b"\\%03o" % each for each in os.fsencode(name))
    return b'"' + inside + b'"'


def stream(branch: str, parent: bytes, made: list[Made], folder: str) -> bytes:
    """What `git fast-import` reads; every side has a folder of its own."""
    parts = []
    for number, each in enumerate(made):
        parts.append(b"commit refs/heads/%s\nmark :%d\n" % (branch.encode(), number + 1))
        who = b"%s <%s> %d %s\n" % (each.who, each.who, each.at, each.zone)
        parts.append(b"author " + who + b"committer " + who)
        parts.append(b"encoding %s\n" % each.encoding if each.encoding else b"")
        parts.append(b"data %d\n%s\n" % (len(each.message), each.message))
        parts.append(b"from %s\n" % (parent if number == 0 else b":%d" % number))
        for name, file in each.changes.items():
            path = quoted(f"{folder}/{name}")
            if file is None:
                parts.append(b"D %s\n" % path)
            elif file.mode == GITLINK:
                parts.append(b"M %s %s %s\n" % (file.mode.encode(), file.data, path))
            else:
                head = b"M %s inline %s\n" % (file.mode.encode(), path)
                parts.append(head + b"data %d\n%s\n" % (len(file.data), file.data))
    return b"".join(parts)


def build(top: Path, lane: list[Made], base: list[Made]) -> Repo:
    repo = git_lanes.build(top)
    start = repo.head().encode()
    for branch, made in (("lane", lane), ("main2", base)):
        told = stream(branch, start, made, branch)
        repo.git("fast-import", "--quiet", stdin=told)
    return repo


def files(repo: Repo, commit: str, folder: str) -> list[str]:
    rows = repo.git("ls-tree", "-r", "-z", commit).split("\0")[:-1]
    return [row for row in rows if row.partition("\t")[2].startswith(f"{folder}/")]


def said(repo: Repo, commit: str) -> bytes:
    """Everything of a commit but its tree and its parents."""
    raw = subprocess.check_output(["git", "cat-file", "commit", commit], cwd=repo.top)
    head, _, message = raw.partition(b"\n\n")
    lines = [line for line in head.split(b"\n") if not line.startswith((b"tree ", b"parent "))]
    return b"\n".join(lines) + b"\n\n" + message


def history(repo: Repo, span: str) -> list[str]:
    return repo.git("rev-list", "--reverse", "--topo-order", span).split()


@given(lane=histories, base=histories)
@settings(max_examples=14)
@pytest.mark.req("RUN-04")
def test_every_byte_of_every_commit_is_kept_and_twice_is_the_same(
    lane: list[Made], base: list[Made]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = build(Path(folder), lane, base)
        tip, onto = repo.head("lane"), repo.head("main2")
        old = history(repo, f"{onto}..{tip}")

        done = replay.replay(repo.door, tip, onto)
        new = history(repo, f"{onto}..{done.tip}")

        assert (done.conflicts, done.dropped) == ((), ())
        assert [said(repo, each) for each in new] == [said(repo, each) for each in old]
        for before, after in zip(old, new, strict=True):
            assert files(repo, after, "lane") == files(repo, before, "lane")
            assert files(repo, after, "main2") == files(repo, onto, "main2")
        assert replay.replay(repo.door, tip, onto) == done
        assert replay.replay(repo.door, done.tip, onto).tip == done.tip
        assert replay.holds(repo.door, done.tip, tip)
        joined = replay.join(repo.door, onto, tip, "x")
        assert repo.head(f"{joined}^{{tree}}") == repo.head(f"{done.tip}^{{tree}}")


@pytest.mark.sweep
@given(lane=histories, base=histories)
@settings(max_examples=14)
@pytest.mark.req("RUN-04")
def test_where_both_changed_the_same_files_nothing_is_made_up(
    lane: list[Made], base: list[Made]
) -> None:
    """What comes out without a conflict is, file by file, what one of the two has, or a merge."""
    with tempfile.TemporaryDirectory() as folder:
        repo = git_lanes.build(Path(folder))
        start = repo.head().encode()
        for branch, made in (("lane", lane), ("main2", base)):
            repo.git("fast-import", "--quiet", stdin=stream(branch, start, made, "both"))
        tip, onto = repo.head("lane"), repo.head("main2")

        done = replay.replay(repo.door, tip, onto)

        assert replay.replay(repo.door, tip, onto) == done
        if done.conflicts:
            assert done.tip == tip
            assert all(name.startswith("both/") for name in done.conflicts)
            return
        if onto != tip:
            assert repo.head(f"{onto}^0") in {done.tip, *history(repo, done.tip)}
        kept = [each for each in history(repo, f"{onto}..{tip}") if each not in done.dropped]
        new = history(repo, f"{onto}..{done.tip}")
        assert [said(repo, each) for each in new] == [said(repo, each) for each in kept]


@pytest.mark.sweep
@given(base=histories, data=st.data())
@settings(max_examples=12)
@pytest.mark.req("RUN-04")
def test_a_person_loses_no_byte_when_the_base_moves(base: list[Made], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = git_lanes.build(Path(folder))
        plain = [
            each._replace(
                changes={name: file for name, file in each.changes.items() if _is_file(file)}
            )
            for each in base
        ]
        start = repo.head()
        repo.git("fast-import", "--quiet", stdin=stream("next", start.encode(), plain, "both"))
        mine = data.draw(st.dictionaries(names, contents, max_size=3))
        git_lanes.write(repo.top, {f"both/{name}": text for name, text in mine.items()})
        before = git_lanes.contents(repo.top)

        try:
            branch_advance.advance(repo.door, "main", start, repo.head("next"))
        except branch_advance.BaseRefused:
            assert git_lanes.contents(repo.top) == before
            assert repo.head("main") == start
        else:
            assert repo.head("main") == repo.head("next")
            now = git_lanes.contents(repo.top)
            kept = {f"both/{name}": text for name, text in mine.items()}
            wanted = {
                row.partition("\t")[2]: repo_bytes(repo, row) for row in files(repo, "next", "both")
            }
            assert all(now[name] in {text, wanted.get(name)} for name, text in kept.items())
            assert all(
                wanted[name].startswith(text) for name, text in kept.items() if name in wanted
            )


def _is_file(file: Entry | None) -> bool:
    return file is None or file.mode in {"100644", "100755"}


def repo_bytes(repo: Repo, row: str) -> bytes:
    blob = row.split(" ")[2].partition("\t")[0]
    return subprocess.check_output(["git", "cat-file", "blob", blob], cwd=repo.top)
