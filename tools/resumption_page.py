"""docs/reference/resumption.md: the tables of the resumption section, drawn from the code."""

from standfast.protocols.resumption.rules import (
    context_monitor,
    quality_gates,
    reinject_markers,
    section_schema,
    staleness,
)
from standfast.protocols.resumption.rules.migration.section_migration import V1_FIELDS
from standfast.protocols.resumption.rules.triggers import TRIGGERS
from standfast.protocols.resumption.rules.update_matrix import MATRIX
from standfast.surfaces.cli import trigger_flags as flags

_LETTERS = "W overwritten · A appended · U updated (`sections`; only T2 adds files) · "
_LETTERS += "C appended if a decision was made · - never touched"
_V2 = {"current_state": "recovery_state.current_activity", "files_to_read": "files_to_read"}


def page(note: str) -> str:
    """The whole page."""
    parts = (
        _head(note),
        _matrix(),
        _flags(),
        _fields(),
        _migration(),
        _gates(),
        _staleness(),
        _reminders(),
    )
    return "\n".join(parts)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _head(note: str) -> str:
    return (
        f"# The resumption section\n\n{note}\n"
        f"`resumption:` in `ORCHESTRATION.yaml`, version {section_schema.VERSION}. Its JSON "
        "Schema (draft 2020-12) is [resumption.schema.json](resumption.schema.json). Beyond it: "
        "ids are each above those before (ours have no gaps), `count` is the number of events, "
        "every time is real and "
        "stands in quotes, a gate is named once, an agent's summary is "
        "one line, of ours `{status}. {key finding or output}.`. Keys that are not listed are the "
        "project's own and stay.\n"
    )


def _matrix() -> str:
    rows = [
        [
            f"{number} {(TRIGGERS[number].__doc__ or '').partition(': ')[2].rstrip('.')}",
            *row.values(),
        ]
        for number, row in MATRIX.items()
    ]
    names = [f"`{name}`" for name in section_schema.SUB_SECTIONS]
    table = _table(["trigger", *names], rows)
    return f"## Which trigger changes what\n\n{table}\n{_LETTERS}\n"


def _flags() -> str:
    rows = [
        [f"`{way}`" if way in (flags.DECIDE, flags.GATE) else f"`trigger {way}`",
         ", ".join(f"`{word}`" for word in words) or "-"]
        for way, words in flags.table().items()
    ]  # fmt: skip
    every = ", ".join(f"`{word}`" for word in flags.common())
    return (
        f"## Flags of each trigger\n\nEach takes {every} and `--file`; what is not said stays. "
        "`gate record` takes its scores as words.\n\n"
        f"{_table(['command', 'and of its own'], rows)}\n"
        "`--resolution` updates the `resolution` of one of `recurring_patterns`. By `--from` it is "
        "`defect_summary.patterns`, each with `pattern`, `gates_affected` and `resolution`.\n"
    )


def _fields() -> str:
    rows = []
    for name, schema in section_schema.SECTION["properties"].items():
        held = schema if "properties" in schema else schema.get("items", {})
        held = held.get("anyOf", [held])[-1]
        optional = set(held.get("properties", {})) - set(held.get("required", ()))
        fields = [f"`{key}`" + "?" * (key in optional) for key in held.get("properties", {})]
        rows.append([f"`{name}`", ", ".join(fields) or "agent id: one line"])
    return "## Fields\n\n" + _table(["sub-section", "fields (? may be missing)"], rows)


def _migration() -> str:
    rows = [[f"`{key}`", f"`{_V2.get(key, f'recovery_state.{key}')}`"] for key in V1_FIELDS]
    return "## From version 1.0\n\n" + _table(["1.0", section_schema.VERSION], rows)


def _gates() -> str:
    weights = [[f"`{name}`", str(weight)] for name, weight in quality_gates.WEIGHTS.items()]
    bands = ", ".join(f"{name} from {least}" for name, least in quality_gates.BANDS)
    return (
        f"## Quality gates\n\n{_table(['dimension', 'weight'], weights)}\n"
        f"{bands}; scores are exact decimals and never rounded. "
        f"{quality_gates.FAILING_AT_MOST} failing iterations of a gate ask a person. An iteration "
        "that a compaction cut is done again, unless every score is in. All six dimensions are "
        "needed: a lone composite score is refused, because it is weighed from them and names no "
        "lowest dimension. In a section from elsewhere it is read as an entry of `score_history`.\n"
    )


def _staleness() -> str:
    tiers = zip(context_monitor.TIERS, (0, *context_monitor.THRESHOLDS), strict=True)
    return (
        "## Staleness and context fill\n\n"
        f"The first that holds: {staleness.CRITICAL}: `updated_at` lies before this session began, "
        f"or cannot be read. {staleness.STALE}: it lies before this phase began, is older than "
        f"{staleness.OLD_S // 60} minutes, or more than {staleness.AHEAD_S // 60} minutes ahead. "
        f"{staleness.FRESH}: otherwise.\n\n"
        f"Fill: {', '.join(f'{tier} from {at}' for tier, at in tiers)}; what is not known is "
        f"{context_monitor.UNKNOWN}.\n"
    )


def _reminders() -> str:
    return (
        "## Reminders in rules files\n\n"
        f"```html\n{reinject_markers.DEFAULT}\n```\n\n"
        f"By rank, within {reinject_markers.BUDGET} tokens; `tokens` may be left out. Content over "
        f"{reinject_markers.LONGEST} characters, with markup, line ends or invisible characters is "
        "refused.\n"
    )
