"""The lane as a DBOS workflow on SQLite: one step for each effect, recovered at launch.

The executor and the version are named by hand: a workflow is recovered only by an executor of the
same name and version. A workflow that failed is forked from the step that failed, when resumed.
"""

from __future__ import annotations

import subprocess
import sys

from dbos import DBOS, SetWorkflowID

from harness.matrix.work import NAMES, Room


@DBOS.step()
def effect(path: str, name: str) -> str:
    """One effect; its return is recorded, and not run again after that."""
    room = Room(path)
    subprocess.run(room.effect(name), cwd=room.repo, check=True)
    return name


@DBOS.workflow()
def lane(path: str) -> int:
    """All effects, one after the other."""
    return len([effect(path, name) for name in NAMES])


def main(path: str) -> None:
    """Begin the workflow, or wait for the one that was recovered."""
    url = f"sqlite:///{Room(path).at('dbos.sqlite')}"
    named = {"name": "lane", "executor_id": "matrix", "application_version": "1"}
    DBOS(config={**named, "system_database_url": url, "log_level": "CRITICAL"})
    DBOS.launch()
    known = DBOS.list_workflows(sort_desc=True, limit=1)
    if not known:
        with SetWorkflowID("lane-1"):
            handle = DBOS.start_workflow(lane, path)
    elif known[0].status == "ERROR":
        handle = _fork(known[0].workflow_id)
    else:
        handle = DBOS.retrieve_workflow(known[0].workflow_id)
    handle.get_result()
    DBOS.destroy()


def _fork(failed: str) -> object:
    """Another try from the step that failed: what is before it is not run again."""
    last = DBOS.list_workflow_steps(failed)[-1]
    with SetWorkflowID(f"lane-{int(failed.partition('-')[2]) + 1}"):
        return DBOS.fork_workflow(failed, last["function_id"])


if __name__ == "__main__":
    main(sys.argv[1])
