"""The stages of an orchestrated workflow and the outputs that each expects, as data.

A critical output closes the gate when it is not there; a soft one is left out with a note. The
stages below are those that the protocol came with; a project declares its own, or other tiers,
under `stages:` in its settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.errors.base import WrongUsage
from standfast.formats.value_places import Faulty, within
from standfast.protocols.outputs.rules import whole_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CRITICAL, SOFT = "critical", "soft"
# What a stage expects: every output; those that were launched; those, or all while none was.
ALL, LAUNCHED, PICKED = "all", "launched", "picked"
DEEP, LIGHT = "deep", "light"
MODES = (DEEP, LIGHT)
_MOST_STAGES, _MOST_OUTPUTS = 100, 100


class Stage(NamedTuple):
    """A stage: whose outputs it takes, and how much each matters."""

    name: str
    skill: str
    tiers: Mapping[str, str]  # by role
    suffix: str = ""
    expects: str = ALL
    deep_only: tuple[str, ...] = ()  # critical in deep mode only

    def output(self, role: str) -> str:
        """The file that an agent in that role leaves behind."""
        return whole_output.file_name(self.skill, role, self.suffix)

    def role_of(self, name: str) -> str | None:
        """Whose output a file of that name is; None if it is none of this stage's."""
        start, end = f"{self.skill}-", f"{self.suffix}.md"
        if not (name.startswith(start) and name.endswith(end)):
            return None
        return name[len(start) : -len(end)] or None

    def tier(self, role: str, mode: str = DEEP) -> str:
        """How much it matters; an output that nobody declared is critical."""
        if mode == LIGHT and role in self.deep_only:
            return SOFT
        return self.tiers.get(role, CRITICAL)


_REVIEWERS = ("security", "ux-dx", "correctness", "architecture", "expert-alpha", "expert-beta")
_CLARIFIERS = (
    *("codebase-research", "web-research"),
    *("expert-alpha", "expert-beta", "advisor-alpha", "advisor-beta"),
)


def _all(tier: str, roles: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(roles, tier)


STAGES: tuple[Stage, ...] = (
    Stage("clarify", "clarify", _all(SOFT, _CLARIFIERS)),
    Stage(
        "plan",
        "plan",
        _all(CRITICAL, ("prior-art-research", "codebase-analysis")),
        expects=LAUNCHED,
    ),
    *(
        Stage(f"review-{what}", "review", _all(CRITICAL, _REVIEWERS), f"-{what}", PICKED)
        for what in ("plan", "code", "clarify")
    ),
    Stage(
        "retro",
        "retro",
        {
            "cdm-analysis": CRITICAL,
            **_all(SOFT, ("learning-resources", "expert-alpha", "expert-beta")),
        },
        deep_only=("cdm-analysis",),
    ),
)


def known(declared: Mapping[str, object] | None = None) -> dict[str, Stage]:
    """Every stage by name: ours, with what the project declares over them."""
    found = {stage.name: stage for stage in STAGES}
    for name, about in (declared or {}).items():
        with within(name):
            found[name] = _declare(name, about, found.get(name))
    return found


def stage(name: str, declared: Mapping[str, object] | None = None) -> Stage:
    """The stage of that name, or what there is instead."""
    found = known(declared)
    if name not in found:
        names = ", ".join(found)
        raise WrongUsage(
            f"there is no stage `{name}`",
            remedy=f"There are {names}; declare your own under `stages:` in .standfast.yaml.",
        )
    return found[name]


def check(value: object) -> dict[str, object]:
    """The setting `stages`: what is wrong with it is said as a ValueError."""
    if not isinstance(value, dict) or len(value) > _MOST_STAGES:
        raise ValueError(f"is not a mapping of at most {_MOST_STAGES} stages to their outputs")
    known(value)
    return value


def _declare(name: str, about: object, before: Stage | None) -> Stage:
    ids.name(name, what="stage")
    if not isinstance(about, dict):
        raise ValueError(f"says of stage `{name}` no mapping with `outputs`")  # noqa: TRY004  # one kind of refusal
    unknown = set(about) - {"skill", "suffix", "outputs", "expects"}
    if unknown:
        wrong = min(unknown)
        raise Faulty(f"says `{wrong}` of stage `{name}`, which there is not", (wrong,))
    base = before or Stage(name, name, {})
    expects = about.get("expects", base.expects)
    if "expects" in about and expects not in (ALL, LAUNCHED, PICKED):
        what = f"says stage `{name}` expects none of {ALL}, {LAUNCHED}, {PICKED}"
        raise Faulty(what, ("expects",))
    with within("skill"):
        skill = ids.name(about.get("skill", base.skill), what="skill")
    with within("suffix"):
        suffix = _suffix(name, about.get("suffix", base.suffix))
    with within("outputs"):
        tiers = {**base.tiers, **_tiers(name, about.get("outputs", {}))}
    made = base._replace(skill=skill, suffix=suffix, tiers=tiers, expects=str(expects))
    for role in made.tiers:
        with within("outputs", role):
            made.output(role)
    return made


def _suffix(name: str, value: object) -> str:
    if value != "":
        ids.name(f"x{value}", what=f"suffix of stage `{name}`")
    return str(value)


def _tiers(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > _MOST_OUTPUTS:
        raise ValueError(f"names for stage `{name}` no mapping of roles to critical or soft")
    for role, tier in value.items():
        with within(role):
            ids.role(role)
            if tier not in {CRITICAL, SOFT}:
                raise ValueError(f"says {role} of stage `{name}` is neither critical nor soft")
    return {str(role): str(tier) for role, tier in value.items()}
