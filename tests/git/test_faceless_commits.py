"""Random lanes made once more without some files: all else stays, and twice is once."""

import random
import subprocess
from pathlib import Path

import pytest

import git_lanes
from git_lanes import Repo
from standfast.git import faceless_commits, snapshot

FACES = ("ORCHESTRATION.yaml", "deep/records.json")
STEPS = 9


def history(repo: Repo, rng: random.Random) -> None:
    """A lane from main, which moves on; each commits faces and other files, the lane merges."""
    repo.git("branch", "-f", "lane")
    for step in range(STEPS):
        on = rng.choice(("lane", "lane", "main"))
        repo.git("checkout", "-q", on)
        names = rng.sample((*FACES, "a", "b"), rng.randint(1, 3))
        words = (b"", f"{on} {step}\n".encode())
        gone = [name for name in names if (repo.top / name).exists() and rng.random() < 0.3]
        repo.commit({name: None if name in gone else rng.choice(words) for name in names})
        if on == "lane" and rng.random() < 0.4:
            join(repo, rng)


def join(repo: Repo, rng: random.Random) -> None:
    """As an agent resolves it: by whatever it has in mind."""
    words = ("-q", "-m", "join", "--no-ff", *rng.choice(((), ("-s", "ours"), ("-X", "theirs"))))
    done = subprocess.run(["git", "merge", *words, "main"], cwd=repo.top, capture_output=True,
                          check=False)  # fmt: skip
    if done.returncode:
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", "resolved")


@pytest.mark.sweep(4)
@pytest.mark.req("RES-08")
@pytest.mark.parametrize("seed", range(8))
def test_lane_has_of_these_files_what_its_base_has_and_all_else_as_it_was(
    tmp_path: Path, seed: int
) -> None:
    repo = git_lanes.build(tmp_path, {FACES[0]: b"first\n", "a": b"a\n"})
    known = [repo.head()]
    history(repo, random.Random(seed))
    tip, base = repo.head("lane"), repo.head("main")
    known.append(base)

    made = faceless_commits.rebuild(repo.door, tip, known, FACES)
    again = faceless_commits.rebuild(repo.door, made.tip, known, FACES)

    fork = repo.git("merge-base", "main", made.tip)
    assert faceless_commits.files(repo.door, made.tip, FACES) == faceless_commits.files(
        repo.door, fork, FACES
    )
    assert others(repo, made.tip) == others(repo, tip)
    assert again == (made.tip, ())
    assert faceless_commits.rebuild(repo.door, tip, known, FACES) == made
    own = ("log", "--no-merges", "--full-history", "--format=%s", f"main..{made.tip}")
    assert repo.git(*own, "--", *FACES) == ""
    blobs = {each.blob for each in made.said if each.blob}
    told = {repo.git("cat-file", "blob", blob) for blob in blobs}
    assert all(words == "" or words.startswith(("lane", "main", "first")) for words in told)


def others(repo: Repo, commit: str) -> snapshot.Files:
    found = snapshot.files_of(repo.door, commit)
    return {name: entry for name, entry in found.items() if name not in FACES}
