"""What a brief tells of the plans that lead a session, section by section. Pure.

Everything in a resumption section is text of a repository or a model: it is quoted, and a step in
it is the plan's, never ours. The next step and the gate that is worked at rank before all else of
it, because nobody can work on without them. Hook path.
"""

from __future__ import annotations

from standfast.brief.plan_summary import DIMENSIONS, FAILING_AT_MOST, band

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from standfast.brief.brief_sections import Lines, Section
    from standfast.brief.facts import Facts
    from standfast.brief.plan_summary import Gate, Plan
    from standfast.brief.voice import Voice

_TIGHT = 160  # units of a step or a decision in a short brief: all that is vital has room then
NAME = 40  # units of a branch or a phase, in a head that names a plan
_IN_ONE_LINE = 8  # gates
_FILES, _DEFECTS = "files_to_read", "defect_summary.unresolved_defects"


def told(facts: Facts, voice: Voice) -> str:
    """Which plans lead the session, for the head of the brief."""
    if not facts.plans:
        return "No plan."
    first = facts.plans[0]
    more = first.all_plans - 1 - len(facts.plans_elsewhere)
    others = f" {more} more, named in each of its lines." if more > 0 else ""
    name = f" {voice.quote(first.phase_name, NAME)}" if first.phase_name.strip() else ""
    is_ours = first.is_ours("recovery_state.current_phase_name") or not name
    source = "" if is_ours else " (from the repository)"
    which = f"phase {first.phase_words}{name}{source}"
    return f"Plan {voice.name(first.file)}, {which}, {first.status}.{others}"


def steps(facts: Facts, voice: Voice) -> Lines:
    """What every plan says comes next, and what was being done."""
    lines: Lines = []
    for place, plan in enumerate(facts.plans):
        if plan.own_step.strip():
            rank = 2 * any(line.startswith("NEXT") for _, line in lines)
            whose = "the plan" if plan is facts.plans[0] else voice.name(plan.file)
            words = voice.quote(plan.own_step, longest(facts, voice))
            lines.append((rank, f"NEXT, as {whose} has it: {words}"))
        if plan.activity.strip() and plan.is_ours("recovery_state.current_activity"):
            was = "" if plan.is_live else "was "
            words = f"- {_of(facts, plan, voice)}{was}at work on {voice.quote(plan.activity)}"
            lines.append((2 * place + 1, words))
    return lines


def foreign(facts: Facts, voice: Voice) -> tuple[Lines, int]:
    """What the repository's sections say and nobody here, and how much of it there is."""
    lines: Lines = []
    total = 0
    for place, plan in enumerate(facts.plans):
        whose, words = _of(facts, plan, voice), _foreign(plan, voice)
        lines += [(1 + place + rank, f"- {whose}{each}") for rank, each in enumerate(words)]
        total += len(words)
    return lines, total


def _foreign(plan: Plan, voice: Voice) -> list[str]:
    most, state = voice.size.items, "recovery_state"
    found = []
    if plan.next_step.strip() and not plan.own_step:
        found.append(f"next step {voice.quote(plan.next_step)}")
    if plan.activity.strip() and not plan.is_ours(f"{state}.current_activity"):
        found.append(f"at work on {voice.quote(plan.activity)}")
    if not plan.is_ours(_FILES):
        found += [f"to read {voice.quote(path)}" for path, *_ in plan.files[:most]]
    if not plan.is_ours(_DEFECTS):
        found += [f"open defect {voice.quote(text)}" for text in plan.defects[:most]]
    agents = plan.foreign_agents[:most]
    return found + [f"agent {voice.name(name)} {voice.quote(line)}" for name, line in agents]


def longest(facts: Facts, voice: Voice) -> int:
    """How much of one text that matters: a plan leaves a short brief less room for each."""
    return min(voice.size.long, _TIGHT) if facts.plans and not _is_long(voice) else voice.size.long


def ask_first(facts: Facts, voice: Voice) -> Section:
    """What a person must decide before anything of it goes on."""
    lines: Lines = []
    for place, plan in enumerate(facts.plans):
        for gate, failed in plan.escalated[:1]:
            which = f"{_of(facts, plan, voice)}gate {voice.name(gate)}"
            how = f"failed {failed} times. Ask; do not run it again."
            lines.append((2 * place, f"NEEDS THE USER: {which} {how}{_source(plan)}"))
    return "", lines, 0


def done(facts: Facts, voice: Voice) -> Section:
    """What agents have finished."""
    title = "DONE by agents of the plan (quoted): do not redo"
    return _agents(facts, title, lambda plan: (plan.agents, plan.all_agents), voice)


def not_done(facts: Facts, voice: Voice) -> Section:
    """What agents were begun for and did not do."""
    title = "NOT DONE by agents of the plan (quoted)"
    return _agents(facts, title, lambda plan: (plan.failed, plan.all_failed), voice)


def _agents(
    facts: Facts,
    title: str,
    of: Callable[[Plan], tuple[Sequence[tuple[str, str]], int]],
    voice: Voice,
) -> Section:
    return _listed(
        facts,
        title,
        lambda plan: [f"{voice.name(name)} {voice.quote(line)}" for name, line in of(plan)[0]],
        lambda plan: of(plan)[1],
        voice,
    )


def gates(facts: Facts, voice: Voice) -> Section:
    """The gate that is worked at, then the others."""
    lines: Lines = []
    for place, plan in enumerate(facts.plans):
        whose = _of(facts, plan, voice)
        rank = 2 * place
        for number, words in enumerate(_at_work(plan, voice)):
            lines.append((rank + number, f"GATE {whose}{words}{_source(plan)}"))
        others = [_gate(gate, voice) for gate in plan.gates[::-1] if gate[0] != plan.current_gate]
        others += [f"{voice.name(name)} not begun" for name in _not_begun(plan)]
        if others:
            more = f"; {len(others) - _IN_ONE_LINE} more" if len(others) > _IN_ONE_LINE else ""
            words = "; ".join(others[:_IN_ONE_LINE])
            lines.append((rank + 3, f"GATES {whose}{words}{more}{_source(plan)}"))
    return "", lines, 0


def _source(plan: Plan) -> str:
    """Scores that nobody here gave."""
    return "" if plan.is_ours("quality_trajectory.score_history") else " (from the repository)"


def _not_begun(plan: Plan) -> list[str]:
    """A gate whose first iteration was cut has been begun, without any score."""
    return [name for name in plan.to_come if plan.unfinished is None or name != plan.unfinished[0]]


def _at_work(plan: Plan, voice: Voice) -> list[str]:
    """The iteration that must be run again, and the current gate's last score."""
    weakest = f", weakest {voice.name(plan.lowest)}" if plan.lowest else ""
    scored = [
        f"{_gate(gate, voice)}{weakest}" for gate in plan.gates if gate[0] == plan.current_gate
    ]
    if plan.unfinished is None:
        return scored
    name, iteration, scores = plan.unfinished
    cut = "cut by a compaction" if scores is None else f"{scores} of {DIMENSIONS} scores"
    which = f"{voice.name(name)} iteration {_of_most(iteration)}"
    return [f"{which}, {cut}: run it again from its start", *scored]


def _gate(gate: Gate, voice: Voice) -> str:
    name, iteration, score, _ = gate
    verdict = band(score)
    which = "" if verdict == "PASS" else f" iteration {_of_most(iteration)},"
    return f"{voice.name(name)}{which} {score:.10g} {verdict}"


def _of_most(iteration: int) -> str:
    most = FAILING_AT_MOST
    return f"{iteration} of {most}" if iteration <= most else f"{iteration}"


def defects(facts: Facts, voice: Voice) -> Section:
    """What gates found and nobody has resolved."""

    def words(plan: Plan) -> list[str]:
        if not plan.is_ours(_DEFECTS):
            return []
        known = [text for text in plan.defects if text != plan.primary]
        first = [plan.primary] if plan.primary and plan.primary in plan.defects else []
        return [
            f"{'the worst: ' if text == plan.primary else ''}{voice.quote(text)}"
            for text in (*first, *known)
        ]

    title = "OPEN DEFECTS (quoted)"
    return _listed(
        facts, title, words, lambda plan: plan.all_defects * plan.is_ours(_DEFECTS), voice
    )


def files(facts: Facts, voice: Voice) -> Section:
    """What to read, and which parts of it; what for, where there is room."""

    def words(plan: Plan) -> list[str]:
        if not plan.is_ours(_FILES):
            return []
        return [
            voice.quote(path)
            + (f", sections {voice.quote(parts)}" if parts else "")
            + (f", for {voice.quote(why)}" if why and _is_long(voice) else "")
            for path, parts, why in plan.files
        ]

    title = "READ, first what matters most (quoted)"
    return _listed(facts, title, words, lambda plan: plan.all_files * plan.is_ours(_FILES), voice)


def _listed(
    facts: Facts,
    title: str,
    words: Callable[[Plan], list[str]],
    total: Callable[[Plan], int],
    voice: Voice,
) -> Section:
    """A list of every plan, its first lines before the later ones of any."""
    lines: Lines = [
        (1 + place + number, f"- {_of(facts, plan, voice)}{each}")
        for place, plan in enumerate(facts.plans)
        for number, each in enumerate(words(plan)[: voice.size.items])
    ]
    return title, lines, sum(map(total, facts.plans))


def freshness(facts: Facts, voice: Voice) -> Section:
    """Where a section is kept, how old it is, and what of it the model was not told yet."""
    lines: Lines = []
    for place, plan in enumerate(facts.plans):
        name = voice.name(plan.file)
        if plan.untaken:
            how = "`standfast resumption migrate --dry-run` says how it was read"
            lines.append((place + 1, f"{name} is {plan.untaken}, and not taken yet: {how}."))
        if plan.is_copy:
            kept = f"{name} is kept in {voice.quote(plan.root)}: the copy here is not read."
            lines.append((place + 2, kept))
        if plan.level != "FRESH":
            words = f"{name} is {plan.level} ({plan.reason}): look what holds, bring it up to date."
            lines.append((place + (1 if plan.level == "CRITICAL" else 2), words))
        if plan.unacknowledged:
            count = plan.unacknowledged
            what = f"{count} compaction{'s' if count > 1 else ''}"
            lines.append((place + 3, f"{name} holds {what} not yet acknowledged."))
    return "", lines, 0


def elsewhere(facts: Facts, voice: Voice) -> Section:
    """Two that work by one plan undo each other's work: the user says who does."""
    lines: Lines = []
    for file, leader in facts.plans_elsewhere:
        who = f"Session {leader[:8]} is at work by {voice.name(file)}"
        lines.append((1, f"{who}: ask the user before you work by it too."))
    return "", lines, 0


def unapplied(facts: Facts, key: str) -> str:
    """What is still to be done about a decision."""
    if key not in facts.unapplied:
        return ""
    phases, there = facts.unapplied[key]
    wanted = f", for phase {phases}" if phases else ""
    return f"{wanted}, not applied yet{'' if there == key else f', in the plan {there}'}"


def _is_long(voice: Voice) -> bool:
    return voice.size.short > _TIGHT


def _of(facts: Facts, plan: Plan, voice: Voice) -> str:
    """Whose line it is, if it is not the first plan's."""
    return "" if plan is facts.plans[0] else f"{voice.name(plan.file)}: "
