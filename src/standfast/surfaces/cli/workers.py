"""What a lane works with, as the command line gives it: its log, its faces, whom it tells."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from standfast.files import homes
from standfast.git import Git
from standfast.journal.author import Author
from standfast.run.working import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.store import Journal
    from standfast.journal.writing import Writing
    from standfast.protocol.lane_spec import Spec
    from standfast.surfaces.cli.context import Context


def heed_signals() -> None:
    """Whatever asks us to end interrupts us, so that it is said how to go on."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` means it
            signal.signal(number, signal.default_int_handler)


def author(context: Context) -> Author:
    """Who says what is recorded of lanes."""
    return Author("standfast", session=context.config.session, subdir=context.place.subdir)


def worker(
    context: Context,
    tell: Callable[[Spec, str], None],
    render: Callable[[], None] = lambda: None,
) -> Callable[[Journal, Spec], Work]:
    """For any lane, in whatever thread: it has a journal of its own."""
    face = homes.checkpoints_face(context.journal, context.place, context.config.checkpoints_file)
    spare = [face.relative, context.config.orchestration_file, context.config.status_file]
    folder = os.path.dirname(homes.CHECKPOINTS_FILE)
    git = Git(directory=Path(homes.main_root(context.place)))
    who, environ = author(context), dict(context.environ)

    def work(journal: Journal, spec: Spec) -> Work:
        def claim(tx: Writing) -> None:
            homes.claim(tx, journal, face)

        return Work(
            journal=journal,
            spec=spec,
            git=git,
            log_path=os.path.join(face.root, folder, f"{spec.run_id}.jsonl"),
            author=who,
            environ=environ,
            claim=claim,
            render=render,
            tell=lambda words: tell(spec, words),
            spare=[name for name in spare if name],
        )

    return work
