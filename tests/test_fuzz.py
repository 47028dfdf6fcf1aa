"""Whatever bytes a parser is given, what its target says of it is true; and no parser has none.

`make fuzz` does this for as long as it is told to, guided by coverage where atheris is installed.
"""

import json
import random
import subprocess
import sys
from collections.abc import Mapping
from itertools import chain, islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import parsing_functions
from harness.fuzz import __main__, guided
from harness.fuzz.findings import problem_of
from harness.fuzz.mutation import cuts, mutants
from harness.fuzz.target import Target, answered
from harness.fuzz.targets import TARGETS

EACH = pytest.mark.parametrize("name", list(TARGETS))

# Functions that look like parsers and need no target, by the reason.
NOT_PARSERS: Mapping[str, tuple[str, ...]] = {
    "it takes apart what we wrote ourselves: names, paths, marks, a rendering": (
        "disk.py:path_below",
        "effects/hidden.py:_first_line",
        "effects/lineage.py:_of_effect",
        "effects/lineage.py:_of_launch",
        "effects/taken_away.py:_nameless",
        "effects/taken_away.py:_robbed",
        "protocol/effects.py:run_of",
        "journal/at_work.py:_is_of_this_boot",
        "journal/known_places.py:missing",
        "journal/identity.py:read_as_strangers",
        "protocol/rollback.py:_bases",
        "run/before.py:read",
        "run/doubts.py:_run",
        "run/restoring.py:_read_files",
        "clients/bundle.py:_files",
        "disk.py:make_folders_beneath",
        "effects/door.py:find",
        "effects/folder.py:Folder._read",
        "effects/folder.py:Folder.read_exit",
        "journal/runs.py:_read",
        "protocol/schedule.py:named",
        "run/notifying.py:Notifier._tell",
        "effects/folder.py:Folder.read_order",
        "effects/folder.py:Folder.is_of_another_boot",
        "filesystems.py:mounted",
        "filesystems.py:was_mounted_again",
        "effects/folder.py:Order.read",
        "effects/launched.py:every",
        "effects/orphans.py:_agent",
        "journal/known_places.py:_read",
        "journal/known_places.py:_words",
        "journal/lane_steps.py:of_run",
        "journal/lane_steps.py:settings",
        "run/hiding.py:_of_setup",
        "run/face_files.py:_shown",
        "protocol/lane_steps.py:left_out",
        "run/settings.py:changed",
        "run/restoring.py:_read",
        "effects/orphans.py:supervisors",
        "effects/streams.py:_tail",
        "files/displaced.py:_is_final",
        "files/displaced.py:changed_since",
        "git/holding.py:_marked",
        "git/room.py:listed",
        "files/displaced.py:drop_if_secret",
        "files/displaced.py:make_durable",
        "files/displaced.py:settle_crash",
        "files/drafts.py:sweep",
        "files/swap.py:_text",
        "journal/base.py:put",
        "journal/compactions.py:_known",
        "journal/compactions.py:checkpoint",
        "journal/compactions.py:keep_files",
        "journal/dropping.py:_replace",
        "git/excluding.py:exclude",
        "git/excluding.py:exclude_new",
        "surfaces/cli/lane_runs.py:_say_how_to_go_on",
        "journal/lane_steps.py:_steps",
        "protocol/lane_spec.py:read",
        "journal/lane_steps.py:every",
        "journal/lane_steps.py:unfinished",
        "journal/lifecycles.py:_lifecycle",
        "journal/whose.py:_ours",
        "journal/spending.py:_records",
        "run/agents.py:perform",
        "run/agents.py:perform.<locals>.again",
        "run/launching.py:_journal_intent",
        "run/launching.py:_see_to_end",
        "run/stock.py:_read",
        "wake/delivery.py:give",
    ),
    "it only says what others must have": ("protocol/runners.py:Client.read",),
    "it loads code of ours, which nobody else may write": (
        "clients/bundle.py:is_current",
        "clients/bundled.py:Bundled.exec_module",
        "clients/hook.py:_load",
    ),
    "it only fetches bytes, and others take them apart": (
        "run/watching.py:_last_line",
        "git/special.py:_line",
        "surfaces/cli/commands/logs.py:_print",
        "clients/claude/monitor.py:read",
        "clients/claude/reminders.py:look",
        "clients/launcher.py:_read",
        "config.py:load_if_readable",
        "files/context_files.py:read",
        "files/drafts.py:read",
        "files/publish.py:_read",
        "git/__init__.py:Git.read",
        "git/bringing.py:Timed.changes",
        "git/bringing.py:Timed.head_log",
        "process/__init__.py:_read_some",
        "process/running.py:Running.last_words",
        "run/critic.py:read",
        "run/copying.py:_read",
        "surfaces/cli/commands/live_state.py:_is_ours",
        "surfaces/cli/commands/live_state.py:_new_folder",
        "surfaces/cli/commands/outputs.py:_task",
        "surfaces/cli/lane_runs.py:_tasks",
        "surfaces/cli/stages.py:read",
        "surfaces/cli/kept.py:_print_one",
        "surfaces/cli/commands/plan.py:load",
        "surfaces/cli/commands/stage.py:_text",
        "surfaces/cli/context_findings.py:_read",
        "surfaces/cli/resumption_said.py:from_file",
    ),
    "it asks a program; test_git.py and test_process.py try what that may answer": (
        "git/__init__.py:Git.in_force",
        "git/__init__.py:Git._listed",
        "git/__init__.py:Git.push_addresses",
        "filesystems.py:_tells_errors",
        "filesystems.py:mount_of",
        "process/ending.py:_environment",
        "process/lineage.py:_words",
        "process/workers.py:command_of",
        "process/workers.py:read_above",
        "git/special.py:_opening",
        "effects/door.py:_refuse_hopeless",
        "process/workers.py:called_with",
        "git/__init__.py:Git._one_line",
        "git/__init__.py:Git._submodule_settings",
        "git/__init__.py:Git._text",
        "git/__init__.py:Git._found_homes",
        "git/__init__.py:Git._gitmodules",
        "git/__init__.py:Git.commit_durably",
        "process/identity.py:_answer",
    ),
    "it asks git for ids, or for names that end in NUL; test_rollback_run.py tries any names": (
        "git/snapshot.py:_batch",
        "git/snapshot.py:_commit",
        "git/snapshot.py:_staged",
        "git/snapshot.py:_tree",
        "git/snapshot.py:tree_of",
        "git/advancing.py:_objects",
        "run/basing.py:_own_in",
        "run/basing.py:_is_move",
        "git/branches.py:heads",
        "git/contents.py:differing",
        "git/__init__.py:Git._last_objects",
        "git/contents.py:skipped",
        "git/damaged.py:can_be_read",
        "git/forwarding.py:changes",
        "git/forwarding.py:_link_above",
        "git/replay.py:_empty_tree",
        "git/replay.py:_paths",
        "git/replay.py:_refuse_old",
        "git/replay.py:rows",
        "git/replay.py:write_commit",
        "git/faceless.py:_with",
        "run/face_files.py:looked_at",
        "run/face_files.py:is_next",
        "git/replay.py:merge_trees",
        "git/retiring.py:_facts",
        "git/retiring.py:_first",
        "git/standing.py:listed",
        "git/standing.py:staged",
        "run/critic.py:state",
        "run/moving.py:_name",
        "run/pre_pr.py:listed",
        "run/lanes.py:_worktree",
        "run/lanes.py:look",
        "run/rollback.py:_parents",
    ),
    "it looks at our own arguments or environment": (
        "disk.py:_umask",
        "process/ending.py:carrying",
        "process/lineage.py:traces",
        "git/verbs.py:refuse_options",
        "git/verbs.py:_until_value",
        "git/armour.py:_absolute_only",
        "process/__init__.py:find_program",
        "surfaces/cli/commands/context.py:_half",
        "surfaces/cli/trusting.py:see_to_command",
        "surfaces/cli/commands/doctor.py:_programs",
        "surfaces/cli/resumption_said.py:_sections",
        "surfaces/cli/resumption_said.py:iteration",
        "surfaces/cli/resumption_said.py:line",
        "surfaces/cli/resumption_said.py:scores",
    ),
    "tables of its own try it: test_real_plans, test_resumption_migration, test_secret_forms": (
        "redact/__init__.py:_holds_datacenter",
        "redact/commands.py:kind_after",
        "redact/several.py:_below",
        "redact/several.py:_inside",
        "redact/several.py:_is_plain",
        "redact/several.py:_item",
        "redact/strings.py:rest_of_line",
        "protocol/plan_team_steps.py:is_task",
        "protocol/plan_tests.py:_is_run",
        "protocol/plan_team_keys.py:is_test",
        "protocol/plan_team_lists.py:_items",
        "protocol/resumption_entries.py:_texts",
        "protocol/resumption_entries.py:phases",
        "protocol/yaml_comments_lost.py:comments",
    ),
    "it shows or compares text line by line": (
        "surfaces/cli/resumption_checks.py:_show",
        "surfaces/cli/resumption_migrated.py:Told.comments",
        "files/carrying.py:_lines",
        "files/rewriting.py:_holds",
        "run/working.py:log",
        "surfaces/cli/commands/logs.py:_print_last_words",
        "surfaces/cli/consent.py:diff",
        "surfaces/cli/plan_secrets.py:_where",
        "surfaces/cli/consent.py:paint",
        "surfaces/cli/context_changes.py:_diff",
        "surfaces/cli/commands/plan.py:_shown",
        "surfaces/cli/resumption_shown.py:_titled",
    ),
}


# Every target.


@pytest.mark.req("SEC-02")
@EACH
def test_target_is_true_of_seeds_whole_and_cut_and_of_mutants(name: str) -> None:
    target = TARGETS[name]
    dice = random.Random(f"{name} in the tests")
    inputs = chain(cuts(target.starts()), mutants(target.starts(), dice))

    for data in islice(inputs, target.inputs):
        problem = problem_of(target, data)
        assert problem is None, (problem, data)


@pytest.mark.req("SEC-02")
@EACH
def test_target_is_true_of_any_bytes_and_any_text(name: str) -> None:
    target = TARGETS[name]

    @settings(
        max_examples=50,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
    def holds(data: bytes) -> None:
        assert problem_of(target, data) is None

    holds()


@EACH
def test_target_says_what_is_true_and_has_seeds(name: str) -> None:
    target = TARGETS[name]

    assert target.name == name
    assert target.says
    assert target.starts()


# Every parser.


@pytest.mark.req("SEC-02")
def test_every_function_that_takes_text_apart_is_reached_by_a_target() -> None:
    script = str(parsing_functions.__file__)
    done = subprocess.run([sys.executable, script], capture_output=True, check=True)
    excused = {function for functions in NOT_PARSERS.values() for function in functions}
    found = set(parsing_functions.parsing_functions())
    unreached = found - set(json.loads(done.stdout))

    assert sorted(unreached - excused) == [], "a parser without a target in testing/fuzz"
    assert sorted(excused - found) == [], "excused for nothing: it is gone"


def test_parser_is_known_by_its_name_and_by_what_it_does(tmp_path: Path) -> None:
    found = set(parsing_functions.parsing_functions())

    assert "protocol/json_text.py:read_json" in found  # by its name
    assert "journal/place.py:_pointed_to" in found  # by what it does
    assert "process/identity.py:Identity.from_text" in found  # in a class
    assert "files/look.py:digest" not in found


# The driver.


def _breaks(data: bytes) -> None:
    if b"\0" in data:
        raise ValueError("no zero, please")


BROKEN = Target("broken", "no input holds a zero", answered(_breaks), (b"abc", b"def"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(__main__, "TARGETS", {"broken": BROKEN, "ids": TARGETS["ids"]})
    monkeypatch.setitem(sys.modules, "atheris", None)  # as if it were not installed
    monkeypatch.setattr(__main__.importlib.util, "find_spec", lambda _: None)
    return tmp_path


def test_finding_is_kept_told_and_found_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert __main__.main(["--seconds", "0.5", "--seed", "3", "broken"]) == 1
    told = capsys.readouterr().out
    (kept,) = (here / "build" / "fuzz").iterdir()

    assert "atheris is not installed" in told
    assert "1 findings" in told
    assert f"--input build/fuzz/{kept.name} broken" in told
    assert b"\0" in kept.read_bytes()
    assert __main__.main(["--input", str(kept), "broken"]) == 1
    assert "ValueError" in capsys.readouterr().out


def test_nothing_found_is_a_table_and_no_file(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert __main__.main(["--seconds", "0.1", "ids"]) == 0
    assert "0 findings" in capsys.readouterr().out
    assert not (here / "build").exists()


def test_unknown_target_is_refused(here: Path) -> None:
    with pytest.raises(SystemExit):
        __main__.main(["nothing"])


def test_same_seed_gives_the_same_inputs() -> None:
    one, other = (mutants(BROKEN.starts(), random.Random(5)) for _ in range(2))

    assert list(islice(one, 50)) == list(islice(other, 50))


def test_atheris_guides_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("atheris", reason="only `make fuzz` installs atheris")
    monkeypatch.chdir(tmp_path)

    result = __main__._guided(TARGETS["ids"], 1, 1)

    assert Path(str(guided.__file__)).exists()
    assert (result.findings, result.trouble) == ([], "")
    assert result.tried > 10
