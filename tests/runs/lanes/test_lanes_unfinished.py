"""Which lanes may not be done: found without reading all that are."""

from pathlib import Path

from planted_runs import plant, record, spec
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.protocols.checkpoints.records import checkpoint_records
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.records import lane_records, rollback_records
from standfast.runs.records.rollback_records import Told


def left(journal: Journal) -> list[str]:
    return [each.lane for each in lane_records.unfinished(journal)]


def test_lane_is_done_until_something_is_said_of_it_after_that(tmp_path: Path) -> None:
    plant(tmp_path, lanes=12, done=11)  # L1 and L10, L11 begin alike
    journal = Journal(str(tmp_path / ".git" / "standfast"))
    assert left(journal) == ["L11"]

    back = Told("big", "P1", "L1", cp.STARTED, "0" * 40, "b", (cp.PRE_PR,), ("refs/x",))
    with journal.writing() as tx:
        rollback_records.tell(tx, back, USER)
    assert left(journal) == ["L1", "L11"]

    with journal.writing() as tx:
        checkpoint_records.upsert(tx, record(spec(tmp_path, 2), cp.PRE_PR, cp.ROLLED_BACK), USER)
        lane_records.tell(tx, spec(tmp_path, 3), "task-one", 2, "begun", USER)
    assert left(journal) == ["L1", "L2", "L3", "L11"]
    journal.close()
