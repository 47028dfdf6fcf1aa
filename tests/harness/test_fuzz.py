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
        "effects/hidden_ancestry.py:_first_line",
        "effects/ancestry.py:_of_effect",
        "effects/ancestry.py:_of_launch",
        "effects/missing_folders.py:_nameless",
        "effects/missing_folders.py:_robbed",
        "effects/raw_words.py:_over",
        "effects/rules.py:run_of",
        "journal/agents_at_work.py:_is_of_this_boot",
        "journal/journal_file.py:is_ours",
        "journal/known_places.py:missing",
        "journal/own_journals.py:_add",
        "journal/own_journals.py:_lines",
        "journal/own_journals.py:advance",
        "journal/own_journals.py:through",
        "journal/id_file.py:read_as_strangers",
        "runs/rules/rollback.py:_bases",
        "runs/lanes/files_before.py:read",
        "runs/lanes/doubts.py:_run",
        "runs/lanes/torn_restore.py:_read_files",
        "clients/hooks/bundle.py:_files",
        "clients/hooks/bundle.py:_packages",
        "disk.py:make_folders_beneath",
        "effects/door.py:find",
        "effects/effect_folder.py:Folder._read",
        "effects/effect_folder.py:Folder.read_exit",
        "runs/records/run_records.py:_read",
        "runs/rules/schedule.py:named",
        "runs/notification.py:Notifier._tell",
        "effects/effect_folder.py:Folder.read_order",
        "effects/effect_folder.py:Folder.is_of_another_boot",
        "filesystems.py:mounted",
        "filesystems.py:was_mounted_again",
        "effects/effect_folder.py:Order.read",
        "effects/stage_agents.py:every",
        "effects/orphans.py:_agent",
        "journal/known_places.py:_read",
        "journal/known_places.py:_words",
        "runs/records/lane_records.py:of_run",
        "runs/records/lane_records.py:settings",
        "runs/lanes/hidden_changes.py:_of_setup",
        "runs/lanes/face_files.py:_shown",
        "runs/rules/lane_steps.py:left_out",
        "runs/lanes/shared_settings.py:changed",
        "runs/lanes/torn_restore.py:_read",
        "effects/orphans.py:supervisors",
        "effects/streams.py:_tail",
        "faces/displaced_files.py:_is_final",
        "faces/displaced_files.py:changed_since",
        "git/index_lock.py:_marked",
        "git/merge_room.py:listed",
        "faces/displaced_files.py:drop_if_secret",
        "faces/displaced_files.py:make_durable",
        "faces/displaced_files.py:settle_crash",
        "faces/drafts.py:sweep",
        "faces/swap.py:_text",
        "journal/retention/dropped_events.py:put",
        "protocols/resumption/records/compactions.py:_known",
        "protocols/resumption/records/compactions.py:checkpoint",
        "protocols/resumption/files/compaction_files.py:keep",
        "journal/retention/event_drop.py:_replace",
        "git/excludes.py:exclude",
        "git/excludes.py:exclude_new",
        "surfaces/cli/lane_runs.py:_say_how_to_go_on",
        "runs/records/lane_records.py:_steps",
        "plans/lane_spec.py:read",
        "runs/records/lane_records.py:every",
        "runs/records/lane_records.py:unfinished",
        "protocols/context/records/lifecycle_records.py:_lifecycle",
        "journal/file_owner.py:_ours",
        "runs/records/cost_records.py:_records",
        "runs/lanes/agent_calls.py:perform",
        "runs/lanes/agent_calls.py:perform.<locals>.again",
        "runs/stages/launches.py:_journal_intent",
        "runs/stages/launches.py:_see_to_end",
        "runs/lanes/setup_leftovers.py:_read",
        "brief/delivery.py:give",
    ),
    "it only says what others must have": ("runners/registry.py:Client.read",),
    "it loads code of ours, which nobody else may write": (
        "clients/hooks/bundle.py:is_current",
        "clients/hooks/bundle_finder.py:Bundled.exec_module",
        "clients/hooks/deadline.py:_load",
    ),
    "it only fetches bytes, and others take them apart": (
        "runs/lanes/lane_watch.py:_last_line",
        "git/special_files.py:_line",
        "surfaces/cli/commands/logs.py:_print",
        "clients/claude/fill_monitor.py:read",
        "clients/claude/reminders.py:look",
        "clients/hooks/launcher.py:_read",
        "config.py:load_if_readable",
        "protocols/context/files/context_files.py:read",
        "faces/drafts.py:read",
        "faces/publish.py:_read",
        "git/command.py:Git.read",
        "git/line_origins.py:Timed.changes",
        "git/line_origins.py:Timed.head_log",
        "processes/programs.py:_read_some",
        "processes/running_program.py:Running.last_words",
        "runs/lanes/critic.py:read",
        "runs/lanes/copied_files.py:_read",
        "surfaces/cli/commands/live_state.py:_is_ours",
        "surfaces/cli/commands/live_state.py:_new_folder",
        "surfaces/cli/commands/outputs.py:_task",
        "surfaces/cli/lane_runs.py:_tasks",
        "surfaces/cli/stage_arguments.py:read",
        "surfaces/cli/kept_files.py:_print_one",
        "surfaces/cli/commands/plan.py:load",
        "surfaces/cli/commands/stage.py:_text",
        "surfaces/cli/context_findings.py:_read",
        "surfaces/cli/trigger_arguments.py:from_file",
    ),
    "it asks a program; test_git.py and test_processes.py try what that may answer": (
        "git/command.py:Git.in_force",
        "git/command.py:Git._listed",
        "git/command.py:Git.push_addresses",
        "filesystems.py:_tells_errors",
        "filesystems.py:mount_of",
        "processes/termination.py:_environment",
        "processes/parentage.py:_words",
        "processes/occupants.py:command_of",
        "processes/occupants.py:read_above",
        "git/special_files.py:_opening",
        "effects/door.py:_refuse_hopeless",
        "processes/occupants.py:called_with",
        "git/command.py:Git._one_line",
        "git/command.py:Git._submodule_settings",
        "git/command.py:Git._text",
        "git/command.py:Git._found_homes",
        "git/command.py:Git._gitmodules",
        "git/command.py:Git.commit_durably",
        "processes/process_identity.py:_answer",
    ),
    "it asks git for ids, or for names that end in NUL; test_rollback_run.py tries any names": (
        "git/snapshot.py:_batch",
        "git/snapshot.py:_commit",
        "git/snapshot.py:_staged",
        "git/snapshot.py:_tree",
        "git/snapshot.py:tree_of",
        "git/branch_advance.py:_objects",
        "runs/lanes/base_history.py:_own_in",
        "runs/lanes/base_history.py:_is_move",
        "git/branches.py:heads",
        "git/worktree_contents.py:differing",
        "git/command.py:Git._last_objects",
        "git/worktree_contents.py:skipped",
        "git/damaged_worktree.py:can_be_read",
        "git/fast_forward.py:changes",
        "git/fast_forward.py:_link_above",
        "git/replay.py:_empty_tree",
        "git/replay.py:_paths",
        "git/replay.py:_refuse_old",
        "git/replay.py:rows",
        "git/replay.py:write_commit",
        "git/faceless_commits.py:_with",
        "runs/lanes/face_files.py:looked_at",
        "runs/lanes/face_files.py:is_next",
        "git/replay.py:merge_trees",
        "git/worktree_removal.py:_facts",
        "git/worktree_removal.py:_first",
        "git/worktree_state.py:listed",
        "git/worktree_state.py:staged",
        "runs/lanes/critic.py:state",
        "runs/lanes/branch_reset.py:_name",
        "runs/lanes/pre_pr.py:listed",
        "runs/lanes/lane_look.py:_worktree",
        "runs/lanes/lane_look.py:look",
        "runs/lanes/lane_rollback.py:_parents",
    ),
    "it looks at our own arguments or environment": (
        "disk.py:_umask",
        "processes/termination.py:carrying",
        "processes/parentage.py:traces",
        "git/verbs.py:refuse_options",
        "git/verbs.py:_until_value",
        "git/armour.py:_absolute_only",
        "processes/programs.py:find_program",
        "surfaces/cli/commands/context.py:_half",
        "surfaces/cli/trust_question.py:see_to_command",
        "surfaces/cli/commands/doctor.py:_programs",
        "surfaces/cli/trigger_arguments.py:_sections",
        "surfaces/cli/trigger_arguments.py:iteration",
        "surfaces/cli/trigger_arguments.py:line",
        "surfaces/cli/trigger_arguments.py:scores",
    ),
    "tables of its own try it: test_real_plans, test_resumption_migration, test_secret_forms": (
        "redaction/redactor.py:_holds_datacenter",
        "redaction/secret_flags.py:kind_after",
        "redaction/value_lists.py:_below",
        "redaction/value_lists.py:_inside",
        "redaction/value_lists.py:_is_plain",
        "redaction/value_lists.py:_item",
        "redaction/strings.py:rest_of_line",
        "plans/readers/team/team_tasks.py:is_task",
        "plans/readers/test_commands.py:_is_run",
        "plans/readers/team/task_keys.py:is_test",
        "protocols/resumption/rules/migration/entries.py:_texts",
        "protocols/resumption/rules/migration/decision_fields.py:phases",
        "formats/yaml_lost_comments.py:comments",
    ),
    "it shows or compares text line by line": (
        "surfaces/cli/section_commands.py:_show",
        "surfaces/cli/migration_report.py:Told.comments",
        "protocols/resumption/files/surrounding_edits.py:_lines",
        "protocols/context/files/file_rewrite.py:_holds",
        "runs/lanes/lane_context.py:log",
        "surfaces/cli/commands/logs.py:_print_last_words",
        "surfaces/cli/consent.py:diff",
        "surfaces/cli/plan_secrets.py:_where",
        "surfaces/cli/consent.py:paint",
        "surfaces/cli/context_changes.py:_diff",
        "surfaces/cli/commands/plan.py:_shown",
        "surfaces/cli/section_picture.py:_titled",
    ),
}


# Every target.


@pytest.mark.sweep(6)
@pytest.mark.req("SEC-02")
@EACH
def test_target_is_true_of_seeds_whole_and_cut_and_of_mutants(name: str) -> None:
    target = TARGETS[name]
    dice = random.Random(f"{name} in the tests")
    inputs = chain(cuts(target.starts()), mutants(target.starts(), dice))

    for data in islice(inputs, target.inputs):
        problem = problem_of(target, data)
        assert problem is None, (problem, data)


@pytest.mark.sweep(3)
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

    assert sorted(unreached - excused) == [], "a parser without a target in harness/fuzz"
    assert sorted(excused - found) == [], "excused for nothing: it is gone"


def test_parser_is_known_by_its_name_and_by_what_it_does(tmp_path: Path) -> None:
    found = set(parsing_functions.parsing_functions())

    assert "formats/json_text.py:read_json" in found  # by its name
    assert "journal/place.py:_pointed_to" in found  # by what it does
    assert "processes/process_identity.py:Identity.from_text" in found  # in a class
    assert "faces/look.py:digest" not in found


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
