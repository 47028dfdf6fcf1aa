"""A resumption section as far as a brief tells it, and what its scores mean. Pure. Hook path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Gate = tuple[str, int, float, int]  # name, iterations, the last one's score, how many failed
    # A decision as `Facts` has it, the phases that it waits for, and its id in the section.
    Unapplied = tuple[str, str, str, int, str | None, str, str]

PASS, REVISE = 0.92, 0.85  # the bands of quality_gates, whose decimals cost too much here
FAILING_AT_MOST = 3
DIMENSIONS = 6
# How the summary of an agent begins that did not do what it was begun for.
NOT_DONE = (
    *("ABORT", "BLOCKED", "CANCEL", "CRASH", "ERROR", "FAIL", "INCOMPLETE", "INTERRUPTED"),
    *("KILLED", "NOT DONE", "PARTIAL", "REJECTED", "STOPPED", "TIMED OUT", "TIMEOUT", "UNFINISHED"),
)


class Plan:
    """One live section, as far as a brief tells it; every text in it is somebody else's."""

    __slots__ = (
        *(
            "file",
            "name",
            "root",
            "status",
            "phase",
            "phase_name",
            "activity",
            "next_step",
            "updated_at",
        ),
        *("checkpoint", "current_gate", "lowest", "gates", "to_come", "unfinished", "defects"),
        *("all_defects", "primary", "files", "all_files", "agents", "all_agents", "unapplied"),
        *("failed", "all_failed"),
        *("unacknowledged", "level", "reason", "all_plans", "is_copy", "untaken"),
        "words_of",
        *("foreign", "foreign_agents", "all_foreign_agents"),
    )

    file: str
    name: str  # of the document: the file, and the workflow that it leads
    root: str
    status: str
    phase: int | None  # None when unknown
    phase_name: str
    activity: str
    next_step: str
    updated_at: str
    checkpoint: str | None
    current_gate: str | None
    lowest: str | None
    gates: list[Gate]
    to_come: list[str]
    unfinished: tuple[str, int, int | None] | None  # gate, iteration, how many scores are in
    defects: list[str]
    all_defects: int
    primary: str | None
    files: list[tuple[str, str, str]]  # path, sections, purpose
    all_files: int
    agents: list[tuple[str, str]]  # the newest first
    all_agents: int
    failed: list[tuple[str, str]]  # those of them that did not do it
    all_failed: int
    unapplied: list[Unapplied]
    unacknowledged: int
    level: str
    reason: str
    all_plans: int
    is_copy: bool  # at home elsewhere: the file in this checkout is not read
    untaken: str  # what the file's section is instead of v2.0, where it was only read
    words_of: int | None  # the phase that its words speak of, where that is another
    foreign: frozenset[str]  # fields that the repository wrote, by their paths with dots
    foreign_agents: list[tuple[str, str]]  # what it says that agents did
    all_foreign_agents: int

    def __init__(self) -> None:
        self.untaken = ""
        self.words_of = None
        self.foreign = frozenset()
        self.foreign_agents = []
        self.all_foreign_agents = 0

    @property
    def phase_words(self) -> str:
        """Its number, if anybody said it."""
        number = "unknown" if self.phase is None else str(self.phase)
        other = "" if self.words_of is None else f" (its words speak of phase {self.words_of})"
        return f"{number}{other}"

    @property
    def is_live(self) -> bool:
        """Whether it leads anybody."""
        return self.status in {"ACTIVE", "PAUSED"}

    def is_ours(self, field: str) -> bool:
        """Whether somebody here wrote a field of the section."""
        return field not in self.foreign

    @property
    def own_step(self) -> str:
        """The next step, if somebody here recorded it."""
        return self.next_step if self.is_ours("recovery_state.next_step") else ""

    @property
    def escalated(self) -> list[tuple[str, int]]:
        """The gates that a person must be asked about, and how often each has failed."""
        return [
            (name, failed)
            for name, _, score, failed in self.gates
            if score < PASS and failed >= FAILING_AT_MOST
        ]


def band(score: float) -> str:
    """What follows from a score; a float is on the same side of a band as its decimals are."""
    return "PASS" if score >= PASS else "REVISE" if score >= REVISE else "REJECTED"
