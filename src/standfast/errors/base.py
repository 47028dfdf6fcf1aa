"""Every way a command can fail: one root, one class per cause, each with a stable code.

A message speaks of the user's own things. The remedy is safe: something to look at, never a whole
destructive command, because models run what errors print. Hooks import this: it imports nothing.
"""

from __future__ import annotations


class StandfastError(Exception):
    """The root: never raised itself."""

    code = "SF000"
    exit_status = 70
    remedy = "Run `standfast doctor` and read what it says."

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem, self.file, self.line = problem, file, line
        self.remedy = remedy or self.remedy

    @property
    def where(self) -> str:
        """*file:line*, as far as it is known."""
        if self.file is None or self.line is None:
            return self.file or ""
        return f"{self.file}:{self.line}"

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints: documented, stable, readers ignore what they do not know."""
        told = ("code", "exit_status", "problem", "file", "line", "remedy")
        return {name: getattr(self, name) for name in told}


class Terminated(KeyboardInterrupt):  # no error: an interrupt, of which there is no second
    """Somebody asked the command to end and expects that within seconds."""


# What was asked for, and what was read: SF1xx.


class WrongUsage(StandfastError):
    """The command line names no such command, flag or value."""

    code = "SF101"
    exit_status = 2
    remedy = "See `standfast --help`, or `standfast COMMAND --help`."


class BadName(StandfastError):
    """A role, lane, slug, id or file name is outside what such names may hold."""

    code = "SF102"
    exit_status = 10
    remedy = "Use letters, digits, `.`, `_` and `-`, at most 64, starting with a letter or digit."


class BadDocument(StandfastError):
    """A YAML, JSON or Markdown file cannot be taken as it is."""

    code = "SF103"
    exit_status = 11
    remedy = "Mend the file at the line named; it was left as it is."


class BadConfig(StandfastError):
    """A configuration file, variable or flag holds a value that is not allowed there."""

    code = "SF104"
    exit_status = 12
    remedy = "See docs/reference/configuration.md for the keys and where each may stand."


class NothingFound(StandfastError):
    """What the command was asked about is not in the journal."""

    code = "SF105"
    exit_status = 13
    remedy = "List what there is with `standfast status` or `standfast events`."


class TooLarge(StandfastError):
    """A text, file or output is over the size that is taken from outside."""

    code = "SF106"
    exit_status = 14
    remedy = "Give a smaller one; the limit stands in the message."


class Unsupported(StandfastError):
    """This platform or interpreter cannot keep the promises."""

    code = "SF107"
    exit_status = 15
    remedy = "Use Linux, macOS or WSL2; docs/reference/platforms.md says which were tested."


class NoLiveState(StandfastError):
    """No session is live here: its state file, its directory or the name of it is missing."""

    code = "SF117"
    exit_status = 1
    remedy = "Begin a session with `standfast live-state begin TITLE`, or give --session-dir."


class PersonOnly(StandfastError):
    """Only a person may say this, and the command came from an agent's session."""

    code = "SF118"
    exit_status = 1
    remedy = "Ask the user to run it in a terminal of their own."


class NoLaunchLeft(StandfastError):
    """No agent is to be launched for an output: it is there, in work, or was tried often enough."""

    code = "SF119"
    exit_status = 1
    remedy = "See it with `standfast outputs check`; a person may `standfast outputs grant` one."


class IllegalMove(StandfastError):
    """A role's lifecycle has no such move from where it is."""

    code = "SF114"
    exit_status = 84
    remedy = "See where it is with `standfast context lifecycle.status`."


class RoleTaken(StandfastError):
    """Another role has the machine of that name already."""

    code = "SF115"
    exit_status = 85
    remedy = "Give the role a name that differs in more than `-`, `_`, `.` and `_dot_`."


class NotOurs(StandfastError):
    """A file that was not made by Standfast stands where one is to be written."""

    code = "SF116"
    exit_status = 86
    remedy = "Look at the file, and move it aside if it is not needed there."


class SharedAnchor(BadDocument):
    """An anchor ties a section that Standfast writes to the rest of its file."""

    code = "SF124"
    exit_status = 18
    remedy = "Write the value out in place of the alias at the line named; the file was left alone."


class NoPlace(BadDocument):
    """A YAML file has no place where a section could stand and change nothing around it."""

    code = "SF125"
    exit_status = 19
    remedy = "Mend the line named: the section needs a key and lines of its own at the top level."


class TriggerRefused(StandfastError):
    """What a trigger says would break the rules of the resumption section; nothing was changed."""

    code = "SF126"
    exit_status = 1
    remedy = "Mend what the message names and fire the trigger again."


class BadScore(StandfastError):
    """A gate's scores cannot be judged: one is missing, out of range or of no dimension."""

    code = "SF127"
    exit_status = 1
    remedy = "Give every dimension a score from 0 to 1, like `0.93`."


class NotTheOrchestrator(StandfastError):
    """Only who leads the work writes the resumption section, and an agent of it asked."""

    code = "SF128"
    exit_status = 1
    remedy = "Give the result to the orchestrator, which records it."


class StaleResumption(StandfastError):
    """The resumption section is from before this session: nothing is begun by it."""

    code = "SF129"
    exit_status = 1
    remedy = (
        "Read `standfast resumption show`, then say where the work is:"
        " `standfast resumption trigger T1`, or `T7` if it is where it was."
    )


class BadCheckpoint(StandfastError):
    """A checkpoint names an unknown stage or status, or a field holds what it may not hold."""

    code = "SF121"
    exit_status = 16
    remedy = "See docs/reference/checkpoints.schema.json for the fields and what each may hold."


class MoveRefused(StandfastError):
    """A checkpoint's status does not follow from the one it has."""

    code = "SF122"
    exit_status = 17
    remedy = "Look at it with `standfast checkpoint show`, and write one of the moves named."


class NoCheckpoint(StandfastError):
    """Nothing was written yet for the run, phase and lane that were asked for."""

    code = "SF123"
    exit_status = 87
    remedy = "List what there is with `standfast checkpoint list`."


# The journal: SF2xx.


class JournalDamaged(StandfastError):
    """The journal's bytes do not check: the disk lied, or something else wrote there."""

    code = "SF201"
    exit_status = 20
    remedy = "Run `standfast journal repair`: it copies all of it aside, then rebuilds what it can."


class JournalGone(JournalDamaged):
    """The journal was taken away: its id is still there, what it held is not."""

    code = "SF210"
    exit_status = 29
    remedy = (
        "See what is left with `standfast journal verify`; then `standfast journal repair`,"
        " or `standfast journal abandon` if you deleted it yourself."
    )


class NotAJournal(StandfastError):
    """The file at the journal's place is something else."""

    code = "SF202"
    exit_status = 21
    remedy = (
        "Look at the file and move it aside if it is yours; `standfast journal repair` rebuilds."
    )


class JournalFromTheFuture(StandfastError):
    """A newer Standfast wrote this journal; guessing at its meaning could lose facts."""

    code = "SF203"
    exit_status = 22
    remedy = "Upgrade Standfast; `standfast --version` shows what runs here."


class JournalBusy(StandfastError):
    """Another process held the journal longer than this command may wait."""

    code = "SF204"
    exit_status = 23
    remedy = "See who holds it with `standfast doctor`; the wait is set by `lock_timeout_s`."


class JournalUnwritable(StandfastError):
    """The journal can be read but not written here, so nothing was recorded."""

    code = "SF205"
    exit_status = 24
    remedy = "Check the rights of the folder named, or whether the filesystem is read-only."


class DiskFailed(StandfastError):
    """The disk refused a write or a sync: full, broken or gone. The fact was not recorded."""

    code = "SF206"
    exit_status = 25
    remedy = "Check the free space and the health of the disk, then run the command again."


class FencedOut(StandfastError):
    """A newer holder took over; what the old one wanted to write was refused."""

    code = "SF207"
    exit_status = 26
    remedy = "Look at who holds it now with `standfast events --kind lease.taken`."


class Conflict(StandfastError):
    """The state changed since it was read, so the write based on it was refused."""

    code = "SF208"
    exit_status = 27
    remedy = "Read the state again and decide anew."


class OldSqlite(StandfastError):
    """The SQLite library in use can lose committed data."""

    code = "SF209"
    exit_status = 28
    remedy = "Install apsw 3.51.3 or newer into this environment."


# Files and folders: SF3xx.


class UnsafePath(StandfastError):
    """A path leaves its folder, goes through a link, or is not a regular file."""

    code = "SF301"
    exit_status = 30
    remedy = "Name a regular file inside the folder, without links on the way."


class SystemRefused(StandfastError):
    """The system refused something that is of no file: memory, a process, or a right."""

    code = "SF304"
    exit_status = 33
    remedy = "See whether memory and processes are left (`ulimit -a`), then run the command again."


class FaceInvalid(StandfastError):
    """A file that was edited by hand cannot be read back; it is kept as it is."""

    code = "SF302"
    exit_status = 31
    remedy = "Mend the line named; until then the file is neither read nor written over."


class FaceBehind(StandfastError):
    """What was asked for is in the journal, and its file could not be made to show it."""

    code = "SF303"
    exit_status = 32
    remedy = (
        "Do not say it again. Mend what is in the way; the next command that writes the section,"
        " such as `standfast resumption trigger T7`, brings the file up to date."
    )


# Programs: SF4xx.


class GitFailed(StandfastError):
    """git said no."""

    code = "SF401"
    exit_status = 40
    remedy = "Run `git status` in the repository and read what git says there."


class SpecialFile(StandfastError):
    """A pipe, a socket or a device stands where git reads a file: it would wait for ever."""

    code = "SF406"
    exit_status = 45
    remedy = "Look at what it is and who made it, move it away, then call this again."


class NotARepository(StandfastError):
    """There is no git repository here, and the command needs one."""

    code = "SF402"
    exit_status = 41
    remedy = "Go into the repository, or name it with `-C DIR`."


class ProgramMissing(StandfastError):
    """A program that is needed is not installed or not on PATH."""

    code = "SF403"
    exit_status = 42
    remedy = "Install it, or check PATH."


class ProgramTimedOut(StandfastError):
    """A program did not end within its time; it and its children were ended."""

    code = "SF404"
    exit_status = 43
    remedy = "Run the program by hand to see what it waits for."


class ThrowawayEnvironment(StandfastError):
    """Standfast was asked to install itself from an environment that will not last."""

    code = "SF405"
    exit_status = 44
    remedy = "Install it to stay, with `pipx install standfast` or `uv tool install standfast`."


class InternalError(StandfastError):
    """A bug in Standfast. What was recorded before stays recorded."""

    code = "SF001"
    exit_status = 70
    remedy = "Please report it with the file named; it holds no secrets, but read it first."
