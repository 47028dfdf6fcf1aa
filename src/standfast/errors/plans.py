"""How plans can be refused: apart from the other errors, because hooks need none of them."""

from __future__ import annotations

from standfast.errors.base import StandfastError

# SF51x, after the lanes.


class PlanInvalid(StandfastError):
    """A plan has mistakes; nothing of it was begun."""

    code = "SF511"
    exit_status = 110
    remedy = "See all of them with `standfast plan check FILE`."


class PlanUntrusted(StandfastError):
    """Commands of a plan that nobody has trusted, or that was changed since, were not run."""

    code = "SF512"
    exit_status = 111
    remedy = "Read the commands and trust the plan with `standfast plan trust FILE`."
