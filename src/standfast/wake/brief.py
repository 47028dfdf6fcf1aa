"""Decide: facts become a bounded text for a model, ranked, in a fixed order. Pure.

Everything that somebody else wrote is quoted between «NONCE and NONCE», on one line, with the
nonce and the quotes themselves taken out of it: nothing quoted can end its quotation, and no tag
in it the one that a client puts around our text. The same facts give the same bytes. Hook path.
"""

from __future__ import annotations

from standfast import clock
from standfast.protocol.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.wake.facts import Facts

    Lines = list[tuple[int, str]]  # each with a rank: the lowest are kept first
    Section = tuple[str, Lines, int]  # a title, which may be empty, its lines, how many there are

_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LONGEST_NAME = 24
_ABREAST = 3  # calls in flight that rank alike: what is begun twice does the most harm
_BEGINS_NO_TAG = frozenset(" \t\n<=(-0123456789")
_FOOT = "More: standfast brief --more"
_LEFT_OUT = " [cut] "
_NEW_LINE = "\n"
_LATE = 8
_HEAD = 60
_WOKE = {
    "compact": "your context was compacted",
    "resume": "you were resumed",
    "fork": "you were forked from another session",
    "asked": "as you asked",
}


class Size:
    """How much a brief may hold, in all and of each kind: *vital* is what the user said.

    And of one text: the newest prompt, one that matters, any other.
    """

    __slots__ = ("characters", "items", "long", "newest", "short", "vital")

    def __init__(
        self, *, characters: int, vital: int, items: int, newest: int, long: int, short: int
    ) -> None:
        self.characters = characters
        self.vital = vital
        self.items = items
        self.newest = newest
        self.long = long
        self.short = short


# All of it in the vital first 2,000; the client cuts at 10,000.
SHORT = Size(characters=1_950, vital=30, items=6, newest=340, long=280, short=100)
MORE = Size(characters=9_900, vital=100, items=40, newest=4_000, long=900, short=300)


class Voice:
    """How one brief speaks: its nonce, and how long it may be."""

    __slots__ = ("mark", "size")

    def __init__(self, mark: str, size: Size) -> None:
        self.mark = mark
        self.size = size

    def quote(self, text: str, limit: int | None = None) -> str:
        """Somebody's words, fenced: on one line, and unable to close the fence."""
        plain = _without_tags(text.replace("«", "<").replace("»", ">"))
        words = _within(plain, limit or self.size.short).replace(self.mark, "····")
        return f"«{self.mark} {words} {self.mark}»"

    def quote_both_ends(self, text: str, limit: int) -> str:
        """A request often ends with what matters: of a long one the middle is left out."""
        line = " ".join(text.split())
        if length(line) <= limit:
            return self.quote(line, limit)
        half = (limit - len(_LEFT_OUT)) // 2
        tail = line[-half:] if line.isascii() else line[-(half // 2) :]
        return self.quote(_within(line, half) + _LEFT_OUT + tail, limit)

    def name(self, text: str) -> str:
        """A name as it is, where it can be nothing else; otherwise quoted."""
        is_plain = 0 < len(text) <= _LONGEST_NAME and _NAMES.issuperset(text)
        return text if is_plain and self.mark not in text else self.quote(text, 2 * _LONGEST_NAME)


def _without_tags(text: str) -> str:
    """Clients put our text between tags: none that is quoted may look like theirs."""
    first, *rest = text.split("<")
    parts = (part if not part or part[0] in _BEGINS_NO_TAG else f" {part}" for part in rest)
    return "<".join([first, *parts])


def _within(text: str, limit: int) -> str:
    """One line of at most *limit* units, where a character may count as two."""
    line = one_line(text, limit)
    if length(line) <= limit:
        return line
    wide = length(line) - len(line)
    return one_line(line, max(limit - wide, limit // 2))


def nonce(seed: bytes) -> str:
    """Four characters that the quoted text cannot have known."""
    number = int.from_bytes(seed[:8], "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in (0, 5, 10, 15))


def length(text: str) -> int:
    """As the client counts: in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def render(facts: Facts, mark: str, size: Size, *, known: Sequence[str] = ()) -> str:
    """The brief; with *known* lines, which the model still sees, only what they do not say."""
    voice = Voice(mark, size)
    head, foot = _head(facts, voice), [_FOOT] if size is SHORT else []
    room = size.characters - sum(length(line) + 1 for line in (*head, *foot))
    fitted = _fit([section(facts, voice) for section in _SECTIONS], room)
    if known:
        return _addition(facts, mark, fitted, set(known))
    body = [line for title, lines in fitted for line in _titled(title, lines)]
    return "\n".join([*head, *body, *foot])


def _addition(facts: Facts, mark: str, fitted: list[tuple[str, list[str]]], known: set[str]) -> str:
    heads = {line[:_HEAD] for line in known if line.startswith(" ")}  # a prompt may be cut anew
    new = [
        line
        for title, lines in fitted
        for line in _titled(title, [x for x in lines if x not in known and x[:_HEAD] not in heads])
    ]
    said = _fresh(facts) if new else "nothing was recorded since"
    return "\n".join([f"(standfast {mark} · adds to the brief above · {said})", *new])


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title, *lines] if title and lines else lines


def _fresh(facts: Facts) -> str:
    return f"records up to {clock.local_second(facts.upto)}"


def _head(facts: Facts, voice: Voice) -> list[str]:
    why = _WOKE.get(facts.why, facts.why)
    first = f"[standfast {voice.mark} · {_fresh(facts)} · {why}]"
    if facts.is_subagent:
        task = f", begun for {voice.quote(facts.label)}" if facts.label else ""
        return [first, f"You are a subagent of session {facts.session[:8]}{task}."]
    branch = f", branch {voice.quote(facts.branch)}" if facts.branch else ""
    forked = f" Forked from {facts.parent[:8]}." if facts.why == "fork" and facts.parent else ""
    return [first, f"Session {facts.session[:8]}{branch}. No plan.{forked}"]


def _asked(facts: Facts, voice: Voice) -> Section:
    size = voice.size
    if facts.is_subagent:
        words = voice.quote_both_ends(facts.asked, size.newest)
        return "YOU WERE ASKED (quoted)", [(0, f" {words}")] if facts.asked else [], 0
    found, first = facts.prompts[: size.vital], facts.first_prompt
    if first is not None and first not in found:  # what it all began with
        found = [*found[: size.vital - 1], first]
    lines: Lines = []
    for age, (at, text) in enumerate(found):
        rank = 0 if age == 0 else 2 if (at, text) == first else min(age + 1, _LATE)
        words = voice.quote_both_ends(text, size.long if age else size.newest)
        lines.append((rank, f" {clock.local_clock(at)} {words}"))
    return "THE USER ASKED (quoted, newest last)", lines[::-1], facts.all_prompts


def _in_flight(facts: Facts, voice: Voice) -> Section:
    delegated = {words for what, words, *_ in facts.in_flight if what == "agent"}
    lines: Lines = []
    for what, words, at, begun, tool, state in facts.in_flight:
        if what == "call" and tool in {"Agent", "Task"} and words in delegated:
            continue  # its subagent stands for it
        name = "subagent" if what == "agent" else voice.name(tool or "call")
        since = _since(clock.local_clock(at), state, cut_off=begun < facts.woke)
        rank = len(lines) // _ABREAST
        lines.append((rank, f"- {name} {voice.quote(words)}, {since}"))
    return "IN FLIGHT, end not recorded: do not start again", lines, 0


def _since(begun: str, state: str, *, cut_off: bool) -> str:
    if cut_off:
        return f"begun {begun}, cut off: look whether it took effect"
    return f"since {begun}{', in the background' if state == 'background' else ''}"


def _next(facts: Facts, voice: Voice) -> Section:
    """A step is recorded or follows from a protocol's rule; it is never guessed."""
    if facts.is_subagent:
        return "", [], 0
    tasks = facts.tasks[: voice.size.items]
    waiting = "" if facts.is_answered else " The newest prompt has no recorded answer."
    lines = [(0, f"NEXT: not recorded.{waiting}{' Task list:' if tasks else ''}")]
    for rank, (key, words, state) in enumerate(tasks):
        begun = " (begun)" if state == "in_progress" else ""
        lines.append((rank + 2, f"- {voice.name(key)}{begun} {voice.quote(words)}"))
    return "", lines, 0


def _decisions(facts: Facts, voice: Voice) -> Section:
    lines: Lines = []
    for age, (key, text, actor, at, origin) in enumerate(facts.decisions[: voice.size.vital]):
        unverified = ", unverified" if origin else ""
        source = f"({voice.name(actor)}, {clock.local_clock(at)}{unverified})"
        rank = age + 1 if age else 0
        lines.append((rank, f"- {key} {voice.quote(text, voice.size.long)} {source}"))
    return "DECISIONS that bind you", lines[::-1], facts.all_decisions


def _results(facts: Facts, voice: Voice) -> Section:
    lines: Lines = []
    for rank, (at, words, state, status, detail, _, name) in enumerate(facts.results):
        what = f"{'subagent ' if name == 'subagent' else ''}{voice.quote(words)}"
        how = _outcome(state, status, detail.strip(), voice)
        lines.append((rank + 2, f"- {clock.local_clock(at)} {what}: {how}"))
    return "LAST RESULTS", lines[: voice.size.items][::-1], 0


def _outcome(state: str, status: int | None, detail: str, voice: Voice) -> str:
    """Without an error a call may still have said no: clients tell no status then."""
    if state == "unseen":
        return "ended in the background, how is not recorded"
    if state == "left":
        return "refused or stopped, its end is not recorded"
    if state != "failed":
        return f"ended, {voice.quote(detail.rpartition(_NEW_LINE)[2])}" if detail else "ended"
    first, _, rest = detail.partition("\n")
    return f"failed{'' if status is None else f' {status}'}, {voice.quote(rest.strip() or first)}"


def _changed(facts: Facts, voice: Voice) -> Section:
    lines = [
        (rank + 2, f"- commit {commit} {voice.quote(words)}")
        for rank, (commit, words, _) in enumerate(facts.commits[: voice.size.items])
    ][::-1]
    for rank, path in enumerate(facts.edited[: voice.size.items]):
        lines.append((rank + 2, f"- edited {voice.quote(path)}"))
    return "CHANGED (git status tells what is not committed)", lines, 0


def _missing(facts: Facts, _voice: Voice) -> Section:
    """What is known to be unknown."""
    lost = sum(count or 1 for kind, count, _ in facts.missing if kind == "gap")
    words = [f"{lost} facts could not be kept"] if lost else []
    if any(kind == "hooks.off" for kind, *_ in facts.missing):
        words.append("hooks were off for a while")
    return "", [(1, f"NOT RECORDED: {', '.join(words)}.")] if words else [], 0


def _others(facts: Facts, _voice: Voice) -> Section:
    if not facts.others or facts.is_subagent:
        return "", [], 0
    count = f"{facts.others} other session{'s' if facts.others > 1 else ''}"
    line = f"{count} at work in this repository within the hour: not yours to touch."
    return "", [(3, line)], 0


_SECTIONS = (_asked, _in_flight, _next, _decisions, _results, _changed, _missing, _others)


def _fit(sections: Sequence[Section], room: int) -> list[tuple[str, list[str]]]:
    """As much as there is room for: the best ranked of every section first, in their order."""
    ranked = sorted(
        (rank, place, number)
        for place, (_, lines, _) in enumerate(sections)
        for number, (rank, _) in enumerate(lines)
    )
    chosen: set[tuple[int, int]] = set()
    for _, place, number in ranked:
        title, lines, total = sections[place]
        opens = title and not any(each == place for each, _ in chosen)
        cost = length(lines[number][1]) + 1
        cost += length(_more(title, total)) + 1 if opens else 0
        if cost <= room:
            room -= cost
            chosen.add((place, number))
    fitted = []
    for place, (title, lines, total) in enumerate(sections):
        kept = [line for number, (_, line) in enumerate(lines) if (place, number) in chosen]
        fitted.append((_more(title, total - len(kept)), kept))
    return fitted


def _more(title: str, left_out: int) -> str:
    """A title that says how much of its section found no room."""
    return f"{title}, {left_out} more not shown" if left_out > 0 else title
