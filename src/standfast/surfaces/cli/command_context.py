"""What every command starts from: the place, the settings, the journal; each made on first use."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from standfast import config, disk, xdg
from standfast.authorship import USER
from standfast.errors.base import NotARepository, NothingFound, StandfastError
from standfast.git import git_program
from standfast.journal import place
from standfast.journal.author import Author
from standfast.journal.fallback import lost_calls
from standfast.journal.journal_file import ID
from standfast.journal.store import Journal
from standfast.journal.tables.schema import ANY_DOCUMENT
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.config import Config
    from standfast.journal.place import Place
    from standfast.journal.retention.retention_limits import Limits
    from standfast.protocols.resumption.files.untaken_edits import Waiting
    from standfast.protocols.resumption.records.followers import Ask
    from standfast.surfaces.cli.screen import Screen

_LEADS_NOWHERE = (
    "`.git` leads to {}, which is not there, so this folder has a journal of its own. Where its"
    " repository was moved, `git worktree repair` there, with this path, brings them together"
)


class Context:
    """One call of one command."""

    def __init__(
        self,
        *,
        directory: str,
        environ: Mapping[str, str],
        flags: Sequence[str],
        screen: Screen,
        json: bool,
    ) -> None:
        self.directory = directory
        self.environ = environ
        self.flags = flags
        self.screen = screen
        self.json = json
        self.trouble: list[StandfastError] = []
        self.waiting: list[Waiting] = []  # what files say that is not taken yet
        self._healed = False

    @cached_property
    def place(self) -> Place:
        """Where the journal of this directory is."""
        try:
            if not stat.S_ISDIR(os.stat(os.path.realpath(self.directory)).st_mode):
                raise NotARepository("this is not a directory", file=self.directory)
        except OSError as error:
            reason = error.strerror or "it cannot be found"
            raise NotARepository(f"no such directory: {reason}", file=self.directory) from error
        return place.find(self.directory, state_home=xdg.state_home(self.environ))

    @cached_property
    def config(self) -> Config:
        """The settings; from here on git is the one that they name."""
        found = config.load(self.place.root, self.environ, flags=self.flags)
        git_program.choose(found.git)
        return found

    @cached_property
    def journal(self) -> Journal:
        """The journal, opened when it is first asked something."""
        return Journal(
            self.place.folder,
            lock_timeout_s=self.config.lock_timeout_s,
            state_home=xdg.state_home(self.environ),
        )

    @cached_property
    def who(self) -> str:
        """Who says what this call says: the agent whose command it is, else the user.

        One that we began goes by its lane, whatever its variables say; a client's by its client.
        """
        from standfast.surfaces.cli import persons

        return persons.agent(self) or USER

    @property
    def author(self) -> Author:
        """The same, with the session and the part of the repository."""
        return Author(self.who, session=self.config.session, subdir=self.place.subdir)

    def short(self, path: str) -> str:
        """A path as people say it: from the root of the repository where it is below that."""
        try:
            return path.removeprefix(self.place.root + os.sep)
        except StandfastError:  # there is no place: that is what is being told
            return path

    def may_write(self) -> None:
        """Refuse to leave prompts and decisions in somebody else's folder."""
        from standfast import scratch_folder

        scratch_folder.sweep(self.config.temporaries[0])
        place.refuse_foreign(self.place)
        self.journal.make_if_gone()

    def heal(
        self,
        *,
        checkpoints: bool = False,
        resumption: str | None = None,
        writes: bool = False,
    ) -> None:
        """Take in strays and keep the faces; what cannot be done now is told, not fatal.

        The faces of *checkpoints* and of a *resumption* section are written even where there was
        no file yet: their own command was called. A command that only reads changes nothing in a
        work tree; what it finds there that is not taken yet is in `waiting`. Where the journal was
        taken away it makes none: that is for whoever has something to record.
        """
        self._healed = True
        writes = writes or checkpoints or resumption is not None
        from standfast.app import faces

        try:
            if not self._take_strays(writes=writes):
                return
            for outcome in faces.keep_all(
                self.journal,
                self.place,
                self.config.status_file,
                self.config.checkpoints_file,
                checkpoints=checkpoints,
                writes=writes,
            ):
                if outcome.refused is not None:
                    self.trouble.append(outcome.refused)
            if writes:
                self._keep_documents(resumption)
            else:
                self._look_at_documents()
            self._keep_states()
            self._mirror()
            self._keep_limits()
        except NothingFound:
            return
        except StandfastError as error:
            self.trouble.append(error)
        except OSError as error:
            self.trouble.append(disk.disk_error(error, error.filename or self.place.folder))

    def _take_strays(self, *, writes: bool) -> bool:
        """What was kept elsewhere comes home; False where there is no journal, and none is made."""
        from standfast.journal.fallback import strays

        is_there = self.journal.exists  # first: who may not look is told so, once
        marks = list(lost_calls.marks(self.environ, self.place.folder))
        waiting = strays.look(self.journal, self.config.temporaries, marks=marks)
        self._tell_absence()
        if not (is_there or writes) and os.path.lexists(f"{self.place.folder}{ID}"):
            return False
        begins = writes and not is_there and self.has_checkpoints()
        if not (is_there or begins or waiting):
            return False
        self.may_write()
        if begins:
            self.journal.make()
        if waiting:
            strays.merge(self.journal, self.config.temporaries, marks=marks)
        return True

    def _tell_absence(self) -> None:
        """A journal that was taken away is told of until somebody has seen to it."""
        if os.path.lexists(f"{self.place.folder}{ID}"):
            from standfast.journal import id_file

            names = id_file.lost(self.journal)
            if names:
                self.trouble.append(id_file.absent(self.place.folder, names))

    def heal_if_due(self) -> None:
        """Whatever command comes by heals, unless it did: what it finds is told by the next."""
        if not self._healed:
            self.heal()

    def remember_place(self) -> None:
        """Say which journal was at this path before, where it is another; only once."""
        if "journal" not in self.__dict__:
            return
        from standfast.journal import known_places
        from standfast.surfaces.cli.screen import warn

        if not self.place.in_git:
            if (gone := place.missing(self.place.root)) is not None:
                warn(_LEADS_NOWHERE.format(printable(gone)))
            return
        home = xdg.state_home(self.environ)
        try:
            is_there = self.journal.exists
        except StandfastError:
            return  # whoever needed the journal was told
        if is_there:
            words = known_places.remember(home, self.journal)
        elif os.path.lexists(f"{self.place.folder}{ID}"):
            return  # that is damage, and told as such
        else:
            words = known_places.missing(home, self.place.folder)
        if words:
            warn(words)

    def remember_how_far(self) -> None:
        """However a command ended: what it recorded is this user's, wherever it goes from here."""
        if "journal" not in self.__dict__ or not self.place.in_git:
            return
        from standfast.journal import own_journals

        with suppress(OSError, StandfastError):  # whoever needed the journal was told
            own_journals.advance(xdg.state_home(self.environ), self.journal)

    def take(self, file: str | None = None) -> None:
        """Before a document is written: what stands in its file already is taken in first."""
        file = file or self.config.orchestration_file
        if os.path.lexists(os.path.join(self.place.root, file)) or file in self._documents():
            from standfast.protocols.resumption.files import document_files

            taken = document_files.take(self.journal, self.place, file)
            self.trouble += [each.refused for each in taken if each.refused is not None]

    def has_checkpoints(self) -> bool:
        """Whether a file of checkpoints is here, whoever wrote it."""
        from standfast.app import faces

        relative = self.config.checkpoints_file or faces.CHECKPOINTS_FILE
        return os.path.lexists(os.path.join(self.place.main_root, relative))

    def take_checkpoints(self) -> None:
        """Before one is written: those that others left in the file have earlier numbers."""
        if not self.has_checkpoints():
            return
        from standfast.app import faces

        self.journal.make()
        found = faces.take_checkpoints(self.journal, self.place, self.config.checkpoints_file)
        if found is not None and found.refused is not None:
            self.trouble.append(found.refused)

    def document(self, ask: Ask) -> str | None:
        """The document of this checkout, which a decision without one goes to."""
        if not ask(ANY_DOCUMENT, ()):
            return None
        from standfast.protocols.resumption.files import section_file

        return section_file.name_here(ask, self.place.root, self.config.orchestration_file)

    def _documents(self) -> set[str]:
        try:
            if not (self.journal.exists and self.journal.query(ANY_DOCUMENT)):
                return set()  # most repositories have none: their rules are not even loaded
        except NothingFound:
            return set()  # a journal that could not be made whole has none either
        from standfast.protocols.resumption.records import document_records

        return {each.file for each in document_records.documents(self.journal.query)}

    def _look_at_documents(self) -> None:
        """What stands in their files and in no document yet."""
        default = self.config.orchestration_file
        is_there = os.path.lexists(os.path.join(self.place.root, default))
        if is_there or self.journal.query(ANY_DOCUMENT):
            from standfast.protocols.resumption.files import compaction_files, untaken_edits

            compaction_files.keep(self.journal)  # beside the journal
            self.waiting = untaken_edits.look_at(self.journal, self.place, default)
            self.trouble += [each.refused for each in self.waiting if each.refused is not None]

    def _keep_documents(self, asked: str | None) -> None:
        """The files with a resumption section, where there are any."""
        default = self.config.orchestration_file
        is_there = os.path.lexists(os.path.join(self.place.root, default))
        if is_there or self.journal.query(ANY_DOCUMENT):
            from standfast.protocols.resumption.files import document_files

            kept = document_files.keep(self.journal, self.place, default, asked)
            self.trouble += [each.refused for each in kept if each.refused is not None]

    def _keep_states(self) -> None:
        """The files of roles, where there are any."""
        any_role = "SELECT 1 FROM cells WHERE key >= 'lifecycle:' AND key < 'lifecycle;' LIMIT 1"
        if self.journal.query(any_role):
            from standfast.protocols.context.files import role_places, states_env

            here = role_places.here(self.journal, self.place)
            own = states_env.default(self.journal, self.config.config_home, here)
            kept = states_env.keep_all(self.journal, self.config.config_path or own, here)
            self.trouble += [each.refused for each in kept if each.refused is not None]

    def _mirror(self) -> None:
        """Hooks have no time for the mirror: whoever comes by brings it up to date."""
        from standfast.journal import mirror, questions

        if mirror.last_seq(self.journal.folder) < questions.last_seq(self.journal):
            self.journal.mirror()

    @property
    def limits(self) -> Limits:
        """How long and how much the journal keeps."""
        from standfast.journal.retention.retention_limits import Limits

        return Limits(self.config.keep_days, self.config.keep_mb)

    def _keep_limits(self) -> None:
        """Drop some of what is too old or too much, where it can be."""
        from standfast.journal.retention import retention_limits

        journal = self.journal
        may_write = all(os.access(path, os.W_OK) for path in (journal.folder, journal.path))
        if may_write and journal.exists and retention_limits.is_due(journal, self.limits):
            retention_limits.trim(journal, self.limits, steps=retention_limits.STEPS_BY_THE_WAY)

    def close(self) -> None:
        """Let go of the journal, if it was opened."""
        if "journal" in self.__dict__:
            self.journal.close()
