"""The harness that saves files while merges land: it finds nothing, and it would."""

from pathlib import Path

import pytest

from harness.faults import saving


@pytest.mark.sweep
@pytest.mark.req("REL-08")
def test_a_merge_that_writes_over_a_save_is_caught(tmp_path: Path) -> None:
    assert saving.plain_git(str(tmp_path / "planted"), 1, saving.ENOUGH).findings
    assert saving.run(str(tmp_path / "ours"), 1, 6).findings == []
