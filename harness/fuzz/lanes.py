"""Targets for lanes: what git prints of commits, files and settings, and what people ask for."""

from __future__ import annotations

import os
from pathlib import Path

from harness.fuzz.target import Target, answered, folder, must, text_of
from standfast.errors.base import WrongUsage
from standfast.git import branches, changes, opened_repository, push_address, replay, worktree_state
from standfast.plans import lane_spec
from standfast.plans.lane_spec import Spec, Task
from standfast.protocols.resumption.rules import critic_scores
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.runs.rules import parking, prompt, spending
from standfast.surfaces.cli import lane_runs

_SPEC = Spec("r", "P1", "SL-1", "main", "lane", "/w", "agent", (Task("t", "x"),))


@answered
def _commit(data: bytes) -> None:
    raw = replay.read_commit(data)
    must(len(raw.tree) in {40, 64}, "a tree without a name")
    must(raw.message in data, "words that are not the commit's")


def _listing(data: bytes) -> None:
    must(all(changes.read_paths(data)), "a file without a name")
    changes.read_filtered(data)
    worktree_state.read_line(Path(folder("line").put("HEAD", data)))
    listed = push_address.read_settings(data)
    must(
        all(map(os.path.isabs, push_address.own_files(listed))),
        "a file that depends on where we are",
    )
    led = opened_repository.opened(folder("opened").put("x", b"gitdir: " + data))
    must(led is None or os.path.isabs(led), "a repository that depends on where we are")
    must(push_address.passed_over(listed).isprintable(), "keys could steer a terminal")


@answered
def _asked(data: bytes) -> None:
    text = text_of(data)
    title = prompt.title(_SPEC, Task("t", text))
    must(title.isprintable() and len(title) < 100, "a subject of many lines")
    must(branches.around(text)[-1] == text, "a name that is lost")
    lane_runs.seconds(text)
    try:
        lane_spec.check(_SPEC._replace(branch=text))
    except WrongUsage:
        return
    must(not text.startswith("-") and ".." not in text and " " not in text, "no branch")


@answered
def _outputs(data: bytes) -> None:
    found = lane_runs.outputs([text_of(data)])
    must(set(found.values()) <= set(lane_spec.TIERS), "a tier that is none")


@answered
def _scores(data: bytes) -> None:
    found = critic_scores.read(text_of(data), name="scores.md")
    must(set(found.scores) == set(WEIGHTS), "a dimension too many or too few")
    must(all(0 <= each <= 1 for each in found.scores.values()), "a score that is none")
    must(found.weakest in found.scores, "a dimension that was not scored")


def _spent(data: bytes) -> None:
    must(0 <= spending.cost(text_of(data)) < 10**9, "a cost that is none")
    facts = dict.fromkeys(("at", "until", "parks"), text_of(data))
    must(parking.number(facts, "until") >= 0, "a time before all times")
    must(parking.is_due(facts, parking.number(facts, "until")), "somebody waits for ever")


TARGETS = (
    Target("gate-scores", "six scores and the findings, or our error", _scores,
           (f"Good.\n{critic_scores.EXAMPLE}\n<!-- AGENT_COMPLETE -->\n".encode(), b"```json\n{}")),
    Target("lane-facts", "an amount, a time, and nobody who waits for ever", _spent,
           (b"0.125", b"1e999", b"NaN", b"1779000000000000", b"-5")),
    Target(
        "commit",
        "a commit's parts, or our error",
        _commit,
        (
            b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent " + b"1" * 40 + b"\n"
            b"author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nwords\n",
            b"author nobody\n\n",
        ),
    ),
    Target(
        "lane-listings",
        "names of files, and settings of the user alone",
        _listing,
        (
            b" M a b\0?? new/\0D  gone\0",
            b"a\0filter\0lfs\0b\0filter\0unspecified\0",
            b"credential.helper\n!x\0core.sshcommand\nssh -v\0alias.x\n!y\0",
            b"ref: refs/heads/main\n",
        ),
    ),
    Target(
        "lane-words",
        "a title of one line, and names that git takes",
        _asked,
        (b"# Add a table\n\nmore", b"lane/P1/SL-1", b"90m", b"feature..x", b"-x"),
    ),
    Target("lane-outputs", "outputs with their tiers, or our error", _outputs,
           (b"review.md", b"a.md=optional", b"../x")),
)  # fmt: skip
