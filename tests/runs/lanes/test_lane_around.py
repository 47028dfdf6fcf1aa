"""A repository around that of a lane."""

from pathlib import Path

import pytest

from lane_runs import WRITES, build


@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("how", ["rm {0}/HEAD", "mv {0}/HEAD {0}/H", "rm -r {0}/refs"])
def test_repository_around_a_broken_one_is_not_taken_for_it(
    world: Path, tmp_path: Path, how: str
) -> None:
    lane = build(tmp_path / "outer")
    lane.git("init", "-q", "-b", "main", cwd=tmp_path / "outer")
    runs = tmp_path / "runs"
    runs.touch()
    agent = f"{WRITES}; git add .; git commit -qm own; {how.format(lane.repo / '.git')}"

    done = lane.run(agent, "--test", f"echo run >> {runs}; test $(wc -l < {runs}) -lt 8")

    assert done.returncode != 0
    assert "error SF" in done.stderr
    assert len(runs.read_text(encoding="utf-8").splitlines()) <= 1
    assert "Traceback" not in done.stderr
