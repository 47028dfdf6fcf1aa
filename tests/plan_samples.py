"""Plans that tests share: the smallest, the one with everything, and how one is read."""

from textwrap import dedent

from standfast.plans.model import Plan
from standfast.plans.readers import plan_reader

RUNNERS = ("claude", "codex", "gemini", "opencode", "shell")

SMALLEST = """\
test: npm test
lanes:
  schema: Add the users table and its migration.
  api:
    after: schema
    task: Build login and logout as docs/auth.md says.
    retries: 2
  docs:
    after: api
    task: Document the endpoints.
    runner: codex
"""

EVERYTHING = """\
run: auth-rework
base: main
runner: claude
merge: pr                  # ff, no-ff, pr, none
on_failure: keep-going     # or stop
limits: {lanes: 4, time: 45m, cost_usd: 20}
setup: npm ci              # once in each new worktree
copy: [.env.test]          # ignored files that lanes need
test: npm test
pr: gh pr create --fill
pr_probe: gh pr view
retries: 1
time: 30m
phases:
  P1:
    name: Foundation
    gates:
      QG-1: {role: critic, pass: 0.92, iterations: 3}
    lanes:
      SL-DB:
        owns: [migrations/**]
        task: Add users and sessions tables.
        test: make test-db
        retries: 2
      SL-API:
        after: SL-DB
        owns: [src/auth/**]
        time: 90m
        tasks:
          login:
            prompt: Login and logout as docs/auth.md says.
          review:
            after: login
            role: reviewer
            runner: codex
            prompt_file: prompts/review.md
            outputs:
              review-security.md: critical
              review-ux-dx.md: optional
  P2:
    lanes:
      SL-DOCS: Document every endpoint.
"""


def told(text: str | bytes, name: str = "plan.yaml") -> list[str]:
    """What is said of a plan: `LINE: PROBLEM`, warnings marked."""
    data = text if isinstance(text, bytes) else dedent(text).encode()
    _, found = plan_reader.read(data, name, runners=RUNNERS)
    return [f"{each.line}: {'' if each.is_error else '(warning) '}{each.problem}" for each in found]


def plan_of(text: str | bytes, name: str = "plan.yaml") -> Plan:
    """A plan that is read without an error."""
    data = text if isinstance(text, bytes) else dedent(text).encode()
    plan, found = plan_reader.read(data, name, runners=RUNNERS)
    assert plan is not None, found
    return plan
