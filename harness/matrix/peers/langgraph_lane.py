"""The lane as a LangGraph graph with a checkpoint in SQLite after each node: a node is an effect.

`sync` writes the checkpoint before the next node begins, `async` while it runs.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from harness.matrix.work import NAMES, Room

if TYPE_CHECKING:
    from collections.abc import Callable


class Lane(TypedDict):
    """The state of the graph."""

    done: list[str]


def node(room: Room, name: str) -> Callable[[Lane], Lane]:
    """One effect as a node."""

    def act(state: Lane) -> Lane:
        subprocess.run(room.effect(name), cwd=room.repo, check=True)
        return {"done": [*state["done"], name]}

    return act


def main(durability: str, path: str) -> None:
    """Begin the thread, or go on with it where its last checkpoint is."""
    room = Room(path)
    graph = StateGraph(Lane)
    for before, name in zip((START, *NAMES), NAMES, strict=False):
        graph.add_node(name, node(room, name))
        graph.add_edge(before, name)
    graph.add_edge(NAMES[-1], END)
    config = {"configurable": {"thread_id": "lane"}}
    with SqliteSaver.from_conn_string(room.at("langgraph.sqlite")) as saver:
        lane = graph.compile(checkpointer=saver)
        is_new = lane.get_state(config).created_at is None
        lane.invoke({"done": []} if is_new else None, config, durability=durability)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
