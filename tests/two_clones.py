"""Two people's clones of one project, two branches, a branch with another workflow, and real git.

Steps are taken at random. Every word that somebody said by a command, and every word that a
command saw in a file, must be in that clone's journal; no reader changes a byte of a work tree, or
a document; no time runs back; another workflow's words come into no log. In the end everybody
pulls and writes again: then all sections are equal, and stay so.
"""

import contextlib
import io
import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from claude_calls import Claude
from fuses import Death, Fuse
from standfast import clock, disk
from standfast.formats.yaml_text import read_yaml
from standfast.journal.place import find
from standfast.journal.store import Journal
from standfast.protocols.resumption.records import document_records
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.protocols.resumption.rules.staleness import AHEAD_S, seconds
from standfast.surfaces.cli.entry import main

FILE = "ORCHESTRATION.yaml"
DAY_US = 86_400 * clock.MICROSECONDS
READS = (
    *(("status",), ("resumption", "show"), ("resumption", "staleness"), ("checkpoint", "list")),
    *(("brief",), ("doctor",), ("gate", "show"), ("journal", "kept"), ("resumption", "validate")),
)
HOOKS = (("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": "Go on."}),
         ("Stop", {"stop_hook_active": False}))  # fmt: skip
ABOUT = "# of {0}\nworkflow:\n  id: {0}\n"
_now_us = clock.now_us


class Clone:
    """One clone: its files, its journal, its clock, and what must be in its journal."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.skew = 0
        self.said: set[str] = set()
        self.times: dict[str, int] = {}

    def git(self, *words: str, check: bool = False) -> bool:
        done = subprocess.run(["git", *words], cwd=self.root, check=check, capture_output=True)
        return done.returncode == 0

    @property
    def branch(self) -> str:
        done = subprocess.run(
            ["git", "branch", "--show-current"], cwd=self.root, check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    @property
    def text(self) -> str:
        try:
            return (self.root / FILE).read_bytes().decode()
        except FileNotFoundError:
            return ""

    def call(self, *words: str) -> tuple[int, str]:
        """One command, in a process of our own; the clock is this clone's."""
        out = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clock, "now_us", lambda: _now_us() + self.skew)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                status = main(["-C", str(self.root), *words])
        return status, out.getvalue()

    def says(self, *words: str) -> tuple[int, str]:
        """A command that writes; a section nearly of v2.0 that is new here is migrated first."""
        status, told = self.call(*words)
        if status and "standfast resumption migrate" in told:
            done, refused = self.call("resumption", "migrate")
            assert done == 0, refused
            status, told = self.call(*words)
        return status, told

    @contextlib.contextmanager
    def journal(self) -> Iterator[Journal]:
        found = Journal(find(str(self.root), state_home=str(self.root / "state")).folder)
        try:
            yield found
        finally:
            found.let_go()

    def documents(self) -> dict[str, Any]:
        with self.journal() as journal:
            known = document_records.documents(journal.query) if journal.exists else []
            return {each.name: each.section for each in known}

    def events(self) -> str:
        with self.journal() as journal:
            rows = journal.query("SELECT payload FROM events") if journal.exists else []
            return "\n".join(str(row[0]) for row in rows)

    def section(self) -> dict[str, Any]:
        value: Any = read_yaml(self.text.encode(), name=FILE).value
        found: dict[str, Any] = value["resumption"]
        return {**found, "recovery_state": {**found["recovery_state"], "last_checkpoint": None}}


class World:
    """The hub and both clones, and everything that may happen to them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.words = 0
        self.trace: list[str] = []
        first = Clone(folder / "a")
        first.root.mkdir()
        first.git("init", "-q", "-b", "main", check=True)
        (first.root / FILE).write_text(ABOUT.format("first"), encoding="utf-8")
        first.call("resumption", "trigger", "T1", "--phase", "1", "--next-step", "begin")
        first.git("add", "-A", check=True)
        first.git("commit", "-qm", "begun", check=True)
        first.git("branch", "side", check=True)
        first.git("checkout", "-qb", "other", check=True)
        (first.root / FILE).write_text(ABOUT.format("second"), encoding="utf-8")
        first.call("resumption", "trigger", "T1", "--phase", "9", "--next-step", "of another")
        first.git("commit", "-qam", "other", check=True)
        first.git("checkout", "-q", "main", check=True)
        first.git("clone", "-q", "--bare", str(first.root), str(folder / "hub.git"), check=True)
        first.git("remote", "add", "origin", str(folder / "hub.git"), check=True)
        first.git("clone", "-q", str(folder / "hub.git"), str(folder / "b"), check=True)
        second = Clone(folder / "b")
        for branch in ("side", "other"):
            second.git("branch", "-q", branch, f"origin/{branch}", check=True)
        second.git("config", "core.autocrlf", self.dice.choice(["true", "false"]))
        self.clones = [first, second]

    def word(self, clone: Clone) -> str:
        self.words += 1
        which = "second" if "id: second" in clone.text else "first"
        return f"{which}{self.words:04d}{'ab'[self.clones.index(clone)]}"

    # What a person or an agent does.

    def trigger(self, clone: Clone) -> None:
        word, kind = self.word(clone), self.dice.randrange(6)
        words = (
            ("trigger", "T1", "--phase", str(self.dice.randrange(5)), "--next-step", word),
            ("trigger", "T4", "--agent", f"x{self.dice.randrange(4)}", "--result", "PASS",
             "--finding", word),
            ("trigger", "T2", "--add-file", f"{word}.md", "--priority", "2", "--purpose", word),
            ("decide", word),
            ("decide", word, "--rationale", "so"),
            ("trigger", "T3", "--gate", word, *(each for name in WEIGHTS for each in
                                                ("--score", f"{name}=0.9")), "--found", "1"),
        )[kind]  # fmt: skip
        status, told = clone.says("resumption", *words)
        if status == 0:
            clone.said.add(word)
        elif "<<<<<<<" not in clone.text:
            raise AssertionError(f"{words}: {told}")

    def note(self, clone: Clone) -> None:
        word = self.word(clone)
        status, told = clone.call("note", word)
        assert status == 0, told
        clone.said.add(word)

    def adopt(self, clone: Clone) -> None:
        """A person says that the file is right, an old one as well."""
        status, told = clone.says("resumption", "adopt", FILE)
        assert status == 0 or "<<<<<<<" in clone.text, told

    def killed(self, clone: Clone) -> None:
        """Any command may die anywhere; one that reads has changed nothing by then."""
        words = self.dice.choice([
            ("resumption", "trigger", "T1", "--phase", "3", "--next-step", "killed"),
            ("resumption", "trigger", "T4", "--agent", "k", "--result", "PASS", "--finding", "k"),
            ("resumption", "decide", f"{self.word(clone)}, killed"),
            ("note", f"{self.word(clone)}, killed"),
            ("resumption", "adopt", FILE),
            *READS,
        ])  # fmt: skip
        fuse, before = Fuse(1 + self.dice.randrange(25)), clone.text
        with pytest.MonkeyPatch.context() as patch:
            for name in ("fsync", "rename", "link", "unlink"):
                patch.setattr(os, name, fuse.on(getattr(os, name)))
            patch.setattr(disk, "swap", fuse.on(disk.swap))
            with contextlib.suppress(Death):
                clone.call(*words)
        assert words not in READS or clone.text == before, "a reader that died changed the file"

    def edit(self, clone: Clone) -> None:
        """A hand edit by the rules: the next step, an agent, a decision."""
        word, text, kind = self.word(clone), clone.text, self.dice.randrange(3)
        if "<<<<<<<" in text or "next_step: " not in text:
            return
        if kind == 0 and clone.documents() and "decision_log:" in text:
            entry = f"decision_log:\n    - decision: {word}\n      rationale: by hand"
            text = text.replace("decision_log: []", "decision_log:", 1)
            text = text.replace("decision_log:", entry, 1)
        elif kind == 1:
            before = text.partition("next_step: ")[2].partition("\n")[0].rstrip("\r")
            text = text.replace(f"next_step: {before}", f"next_step: {word}", 1)
        elif "agent_summaries: {}" in text:
            line = f"agent_summaries:\n    {word}: DONE. By hand."
            text = text.replace("agent_summaries: {}", line, 1)
        else:
            line = f"agent_summaries:\n    {word}: DONE. By hand."
            text = text.replace("agent_summaries:", line, 1)
        (clone.root / FILE).write_bytes(text.encode())
        self.reads(clone, looks=True)
        if clone.documents():  # where nothing was ever recorded a reader begins nothing
            clone.said.add(word)

    def reads(self, clone: Clone, *, looks: bool = False) -> None:
        """A command that reads; where it need not have looked at the file, a hook as well."""
        before, had = clone.text, clone.documents()
        which = self.dice.randrange(len(READS) + (not looks))
        if which < len(READS):
            clone.call(*READS[which])
        else:
            event, fields = self.dice.choice(HOOKS)
            Claude(clone.root)(event, **fields)
        assert clone.text == before, "a reader changed the file"
        now = clone.documents()
        assert {name: now[name] for name in had} == had, "a reader changed a document"

    # What git does.

    def commit(self, clone: Clone) -> None:
        if "<<<<<<<" not in clone.text:
            clone.git("commit", "-qam", "more")

    def push(self, clone: Clone) -> None:
        self.commit(clone)
        self.pull(clone)
        clone.git("push", "-q", "origin", f"HEAD:{clone.branch}")

    def pull(self, clone: Clone) -> None:
        self.commit(clone)
        how = self.dice.choice(["--no-rebase", "--rebase"])
        if not clone.git("pull", "-q", how, "--no-edit", "origin", clone.branch):
            self.resolve(clone)

    def resolve(self, clone: Clone) -> None:
        """A conflict, after somebody looked at it: either side, whole."""
        self.reads(clone)
        for _ in range(12):
            side = self.dice.choice(["--ours", "--theirs"])
            clone.git("checkout", side, FILE)
            clone.git("add", FILE)
            is_rebase = any((clone.root / ".git" / name).exists() for name in
                            ("rebase-merge", "rebase-apply"))  # fmt: skip
            if is_rebase:
                if not clone.git("-c", "core.editor=true", "rebase", "--continue"):
                    clone.git("rebase", "--skip")
            elif (clone.root / ".git" / "CHERRY_PICK_HEAD").exists():
                clone.git("-c", "core.editor=true", "commit", "-q", "--allow-empty", "-m", "picked")
            else:
                clone.git("commit", "-qm", "merged")
            if "<<<<<<<" not in clone.text and not is_rebase:
                return
        for words in (("rebase", "--abort"), ("merge", "--abort"), ("cherry-pick", "--abort")):
            clone.git(*words)

    def stash(self, clone: Clone) -> None:
        clone.git("stash", "-q")
        self.reads(clone)
        if self.dice.randrange(2):
            self.trigger(clone)
            self.commit(clone)
        if not clone.git("stash", "pop", "-q"):
            clone.git("checkout", "--theirs", FILE)
            clone.git("add", FILE)
            clone.git("stash", "drop", "-q")

    def switch(self, clone: Clone) -> None:
        self.commit(clone)
        clone.git("checkout", "-q", self.dice.choice(["main", "main", "side", "other"]))

    def merge(self, clone: Clone) -> None:
        self.commit(clone)
        if clone.branch == "other":
            return
        other = "side" if clone.branch == "main" else "main"
        words = self.dice.choice([("merge", "-q", "--no-edit", other), ("cherry-pick", other)])
        if not clone.git(*words):
            self.resolve(clone)

    def rewrite(self, clone: Clone) -> None:
        words = self.dice.choice([
            ("commit", "-q", "--amend", "--no-edit", "-a"),
            ("revert", "--no-edit", "HEAD"),
            ("reset", "-q", "--hard", "HEAD"),
            ("reset", "-q", "--hard", "HEAD~1"),
            ("checkout", "HEAD~1", "--", FILE),
        ])  # fmt: skip
        if not clone.git(*words):
            clone.git("revert", "--abort")

    def clocks(self, clone: Clone) -> None:
        clone.skew = self.dice.choice([-DAY_US, 0, 0, DAY_US])

    # Steps.

    OFTEN: ClassVar = {
        "trigger": 8, "note": 2, "killed": 2, "adopt": 1, "edit": 4, "reads": 6, "commit": 4,
        "push": 4, "pull": 4, "stash": 2, "switch": 3, "merge": 2, "rewrite": 2, "clocks": 1,
    }  # fmt: skip

    def step(self) -> None:
        name = self.dice.choices(list(self.OFTEN), list(self.OFTEN.values()))[0]
        clone = self.dice.choice(self.clones)
        self.trace.append(f"{'ab'[self.clones.index(clone)]}.{name}")
        getattr(self, name)(clone)
        self.check(clone)

    def check(self, clone: Clone) -> None:
        everything = clone.events()
        lost = {word for word in clone.said if word not in everything}
        assert not lost, f"in no journal of who saw it: {sorted(lost)}"
        for name, section in clone.documents().items():
            at = seconds(section["recovery_state"]["updated_at"]) or 0
            now = (_now_us() + clone.skew) // clock.MICROSECONDS
            before = clone.times.get(name, 0)
            assert at >= before or before > now + AHEAD_S, f"{name}: {before} to {at}"
            clone.times[name] = at
            words = json.dumps(section["decision_log"])
            assert ("first0" not in words) if name.endswith("second") else ("second0" not in words)

    def settle(self) -> None:
        """Everybody's clock is right; all pull and write, until all have seen all."""
        for clone in self.clones:
            clone.skew = 0
            clone.times.clear()
            for what in ("rebase", "merge", "cherry-pick", "revert"):
                clone.git(what, "--abort")
            clone.git("reset", "-q", "--hard")
            clone.git("stash", "clear")
            clone.git("checkout", "-qf", "main")
        for number in range(3):
            for clone in self.clones:
                self.meet(clone, write=number < 2)
        self.meet(self.clones[0], write=False)
        first, second = (clone.section() for clone in self.clones)
        assert first == second
        for clone in self.clones:
            self.check(clone)
            self.reads(clone)
            logged = {entry["decision"] for entry in clone.section()["decision_log"]}
            assert len(logged) == len(clone.section()["decision_log"])

    def meet(self, clone: Clone, *, write: bool) -> None:
        """Pull, then say something; a conflict is resolved as theirs, and the journal has ours."""
        if not clone.git("pull", "-q", "--no-rebase", "--no-edit", "origin", "main"):
            clone.git("checkout", "--theirs", FILE)
            clone.git("add", FILE)
            clone.git("commit", "-qm", "merged")
        if write:
            self.words += 1
            status, told = clone.says(
                "resumption", "trigger", "T1", "--phase", "4", "--next-step", f"first{self.words}"
            )
            assert status == 0, told
        clone.git("commit", "-qam", "settled")
        pushed = ["git", "push", "-q", "origin", "HEAD:main"]
        done = subprocess.run(pushed, cwd=clone.root, check=False, capture_output=True)
        assert done.returncode == 0, done.stderr


def live(folder: Path, seed: int, steps: int) -> int:
    """One life of both clones; returns the steps taken."""
    world = World(folder, seed)
    try:
        for _ in range(steps):
            world.step()
        world.settle()
    except AssertionError as error:
        told = " ".join(world.trace[-40:])
        raise AssertionError(f"seed {seed}, step {len(world.trace)}: {error}\n{told}") from error
    return steps
