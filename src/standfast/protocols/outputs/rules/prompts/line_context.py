"""What stood before a line of a prompt, as far as it says how the line is meant. Hook path."""

from __future__ import annotations

from standfast.protocols.outputs.rules import whole_output
from standfast.protocols.outputs.rules.prompts import intros
from standfast.protocols.outputs.rules.prompts import phrase_words as words
from standfast.protocols.outputs.rules.prompts.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.protocols.outputs.rules.prompts.tokens import Token

_SAMPLES = ("example", "template", "sample", "excerpt", "quot", "snippet", "mistake")
_SHOWN = ("example", "sample", "excerpt", "quot", "snippet", "mistake", "prompt", "input", "log")
_FORMS = ("format", "template", "structure", "layout")
_QUOTING = (*_SAMPLES, "prompt", "old", "wrong", "bad", "transcript", "log", "context")
_OTHERS = ("agent", "reviewer", "role", "team", "expert")
_BULLETS = ("- ", "* ", "+ ", "• ")
_DEEP = 4
_CROSSED_OUT = ("❌", "✗", "✘", "✖", "🚫", "⛔", "👎")
_ENDS = (".", "!", "?", ":", ";")


class Before:
    """The lines above, remembered."""

    def __init__(self) -> None:
        self.last = ""  # the line before
        self.intro = ""  # a sentence or a heading that goes on below
        self.depth = 0  # blanks that the line before begins with
        self.column = 0  # where its text begins: behind the bullet, if it has one
        self.is_next = False  # whether it is the line before
        self.is_wrapped = False  # whether the line before is the half of a sentence
        self.is_half = False  # the same, over blank lines
        self.is_set_off = False  # whether the line before is a quotation that is set in
        self.in_fence = self.fence_counts = self.is_deeper = False
        self.fence_shows = self.is_alone = False
        self.shown: list[str] = []  # the lines of this fence
        self.heading_counts = True
        self.intro_kind = intros.OURS
        self.theirs = intros.Block()

    def is_set_in(self, line: str) -> bool:
        """Whether the line is a quotation in the midst of a sentence."""
        said = line.strip()
        depth, before = len(line) - len(line.lstrip()), self.depth
        self.is_deeper = depth > before
        is_deep = self.is_half and depth >= self.column + _DEEP
        self.is_set_off = is_deep and (self.is_set_off or said[0].isupper())
        if not self.is_set_off and not self.is_deeper:
            self.depth = depth
        if not self.is_set_off:
            bare = plain(said)
            self.column = self.depth if bare == said else depth + len(said) - len(bare)
        return self.is_set_off

    def meet_blank(self) -> None:
        """A blank line ends a sentence; what another said may begin behind it."""
        self.is_wrapped = False
        self.is_next = self.is_next and self.intro_kind != intros.OURS
        self.theirs.meet_blank()

    def meet_fence(self) -> str:
        """What is in a fence counts where it was said that it is to be done; its last line."""
        self.in_fence = not self.in_fence
        shown = self.shown if self.fence_shows and not self.in_fence else []
        about = self.last.lower()
        self.shown, self.fence_shows = [], self._leads_to_a_template(about)
        leads = self.last.startswith("#") or intros.kind(about) == intros.OURS
        is_about = ".md" not in about and any(word in about for word in words.INSTRUCTING)
        self.fence_counts = leads and is_about and not any(word in about for word in _SAMPLES)
        self.theirs.end()
        self.is_alone = len(shown) == 1
        return shown[-1] if shown else ""

    def closes(self) -> str:
        """What a fence with the sentinel at its end says."""
        return f"{'' if self.is_alone else 'The last line is '}{whole_output.SENTINEL}"

    def _leads_to_a_template(self, about: str) -> bool:
        """Whether a fence shows what the agent's file is to look like: its last line is ordered."""
        leads = about.endswith(":") or (about[:1] == "#" and any(map(about.count, _FORMS)))
        return (
            leads
            and self.heading_counts
            and intros.kind(about) != intros.THEIRS
            and not any(word in about for word in _SHOWN)
        )

    def meet_string(self) -> None:
        """A text in three quotes is a program's."""
        self.in_fence, self.fence_counts = not self.in_fence, False

    def is_foreign(self, said: str) -> bool:
        """Whether this line is quoted, an example, or about others."""
        if self.in_fence:
            self.shown.append(said)
            return not self.fence_counts
        if said.startswith("#"):
            self.heading_counts = not _is_about_others(said.lower())
            self.theirs.end()
        is_item = plain(said) != said
        is_theirs = self.theirs.has(said, is_item=is_item, is_deeper=self.is_deeper)
        if is_theirs or _is_quoted(said) or not self.heading_counts:
            return True
        is_below = is_item or self.is_next
        return is_below and bool(self.intro) and self.intro_kind != intros.OURS

    def wrapped(self, said: str, found: list[Token]) -> list[Token]:
        """The half of a sentence that stands in the line before."""
        is_new = said.lstrip("*_")[:1].isupper()
        goes_on = self.is_wrapped and not is_new and plain(said) == said
        goes_on = goes_on and not _begins_anew(self.last, said)
        return tokens(self.last) if goes_on and not found[0].colon else []

    def keep(self, said: str, *, names_files: bool = False) -> None:
        """Remember a line that others may go on."""
        bare = plain(said)
        self.last = bare
        is_tag = said[0] == "<" and said[-1] == ">" and " " not in said
        self.is_wrapped = not said.startswith(("#", "<", "|")) and not bare.endswith(_ENDS)
        self.is_half = self.is_wrapped
        if is_tag and any(word in said for word in _QUOTING):
            self.theirs.open(said.strip("<>"))
        if is_tag or said.startswith("#"):
            self._introduce(said.strip("#<> "), is_heading=True)
        elif bare.rstrip("*_ ").endswith(":") and not (
            names_files and intros.kind(bare) == intros.OURS
        ):
            self._introduce(bare, is_heading=False)
        else:
            self.is_next = False
            if bare == said:  # a bullet is one of a list
                self.intro = ""
            if self.is_wrapped and bare == said and not names_files and intros.warns(bare):
                self.theirs.begin_list()
            if bare == said and intros.quotes(bare):
                self.theirs.begin_behind_blank(bare)

    def _introduce(self, said: str, *, is_heading: bool) -> None:
        self.is_next = not said.startswith("/")
        self.intro = said.rstrip("*_: ") + ":" if self.is_next else ""
        self.intro_kind = intros.kind(said)
        if self.intro_kind == intros.THEIRS and not is_heading:
            self.theirs.begin(said)
        elif is_heading and self.intro_kind == intros.UNKNOWN:
            self.intro_kind = intros.OURS


def _begins_anew(last: str, said: str) -> bool:
    """Whether two lines without a full stop are two orders: `look for races`, `write your …`."""
    before = last.lower().split()
    first = next((word for word in said.lower().split() if word not in words.POLITE), "")
    is_order = bool(before) and before[0] in words.LOOKS and words.TIES.isdisjoint(before)
    return is_order and first in words.WRITES and words.NEVER.isdisjoint(before)


def _is_quoted(said: str) -> bool:
    """`> …`, `❌ …`, or a quotation that begins with the line and goes on below it."""
    if plain(said).startswith(_CROSSED_OUT):
        return True
    return said[0] == ">" or (said[0] in '"“«' and said[1:2].isupper() and said.count('"') % 2 == 1)


def _is_about_others(heading: str) -> bool:
    return (
        any(word in heading for word in _SAMPLES)
        or not words.OVER.isdisjoint(heading.replace(":", " ").split())
        or "out of scope" in heading
        or ("other" in heading and any(word in heading for word in _OTHERS))
    )


def plain(said: str) -> str:
    """The line without its bullet or number, and its checkbox."""
    number, dot, rest = said.partition(". ")
    if dot and number.isdigit():
        said = rest
    elif said.startswith(_BULLETS):
        said = said[2:].lstrip()
    elif said[:1].isdigit() and said[1:3] == ") ":
        said = said[3:].lstrip()
    return said[3:].lstrip() if said[:3] in {"[ ]", "[x]"} else said
