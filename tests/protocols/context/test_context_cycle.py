"""`standfast context` from outside: a role is saved, compacts and recovers, or is told why not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from context_samples import ROLE, WRONG
from role_worlds import FILE, FRESH, bring, journal, moves, put, state, states_file
from standfast.errors.base import BadName, IllegalMove, NotOurs, RoleTaken, WrongUsage
from standfast.journal import overwritten_files
from standfast.protocols.context.rules.lifecycle import (
    ACTIVE,
    COMPACTING,
    MOVES,
    RECOVERING,
    SAVED,
    SAVING,
)
from standfast.surfaces.cli.commands import context as command

HOSTILE = ("../x", "/etc/passwd", "a/b", "a;b", "$(id)", "a\nb", "", "x" * 65)


# init


@pytest.mark.req("CTX-10", "CTX-23")
def test_init_starts_in_active_and_says_so_when_it_is_repeated(cli: Cli, repo: Path) -> None:
    first = cli("context", "lifecycle.init", ROLE, cwd=repo)
    bring(repo, SAVED)
    second = cli("context", "lifecycle.init", ROLE, cwd=repo)

    assert (first.returncode, first.stdout) == (0, f"{ROLE} begins active\n")
    assert second.returncode == 0
    assert "already" in second.stdout
    assert "saved" in second.stdout
    assert state(repo) == SAVED
    assert moves(repo)[0] == (None, ACTIVE)


@pytest.mark.req("CTX-22")
def test_role_whose_machine_is_taken_is_refused_and_moves_nobody(cli: Cli, repo: Path) -> None:
    cli("context", "lifecycle.init", ROLE, cwd=repo)
    put(repo, FRESH.replace(ROLE, "oosh_expert"), "oosh_expert")

    for action in (
        "lifecycle.init",
        "lifecycle.save",
        "lifecycle.recover",
        "lifecycle.pre.compact",
    ):
        refused = cli("context", action, "oosh_expert", cwd=repo)
        assert refused.returncode == RoleTaken.exit_status, action
        assert ROLE in refused.stderr
    other = cli("context", "lifecycle.init", "oosh.expert", cwd=repo)

    assert other.returncode == 0
    assert (state(repo), state(repo, "oosh.expert")) == (ACTIVE, ACTIVE)
    assert states_file("oosh.expert").exists()


@pytest.mark.parametrize("role", HOSTILE)
def test_role_that_is_no_name_is_refused_and_creates_nothing(
    cli: Cli, repo: Path, role: str
) -> None:
    for action in ("lifecycle.init", "lifecycle.save", "lifecycle.recover", "recover"):
        assert cli("context", action, role, cwd=repo).returncode == BadName.exit_status, action
        named = cli("context", action, cwd=repo, env={"HIVEMIND_ROLE": role})
        assert named.returncode == (BadName.exit_status if role else 1)

    assert not (repo / ".git" / "standfast").exists()
    assert not states_file().parent.exists()


# save


@pytest.mark.req("CTX-08", "CTX-10")
@pytest.mark.parametrize("action", ["lifecycle.save", "save"])
def test_save_checks_the_file_keeps_its_words_and_passes_through_saving(
    cli: Cli, repo: Path, action: str
) -> None:
    cli("context", "lifecycle.init", ROLE, cwd=repo)
    data = put(repo).read_bytes()

    done = cli("context", action, ROLE, "--json", cwd=repo)

    told = json.loads(done.stdout)
    assert (done.returncode, told["state"], told["state_id"]) == (0, SAVED, 13)
    assert (told["valid"], told["moves"]) == (True, [SAVING, SAVED])
    assert moves(repo) == [(None, ACTIVE), (ACTIVE, SAVING), (SAVING, SAVED)]
    kept = journal(repo)
    (digest,) = kept.query("SELECT payload ->> 'digest' FROM events WHERE kind = 'context.adopted'")
    assert overwritten_files.kept(kept, digest[0]) == data
    kept.close()


@pytest.mark.req("CTX-10")
@pytest.mark.parametrize("before", [ACTIVE, SAVED])
@pytest.mark.parametrize("wrong", ["a hyphen in the title", "no recovery steps", "no metadata"])
def test_save_of_an_invalid_file_shows_the_errors_and_stays(
    cli: Cli, repo: Path, before: str, wrong: str
) -> None:
    bring(repo, before)
    put(repo, WRONG[wrong])

    done = cli("context", "lifecycle.save", ROLE, cwd=repo)

    assert done.returncode == 1
    assert f"{FILE}:" in done.stderr
    assert "FAIL" in done.stderr
    assert f"it stays {before}" in done.stderr
    assert state(repo) == before
    assert moves(repo)[-2:] == [(before, SAVING), (SAVING, before)]


@pytest.mark.req("CTX-10", "CTX-17")
def test_what_is_still_to_be_filled_in_cannot_be_saved_and_what_we_write_can(
    cli: Cli, repo: Path
) -> None:
    put(repo, "# Task Agent Context — saved 2026-02-04\n\n## Done\n1. the parser (DONE)\n")
    migrated = cli("context", "migrate", FILE, cwd=repo)
    assert (migrated.returncode, "0 errors" in migrated.stdout) == (0, True), migrated.stdout
    assert "**Updated**: 2026-02-04\n" in (repo / FILE).read_text(encoding="utf-8")

    refused = cli("context", "save", ROLE, cwd=repo)

    assert refused.returncode == 1
    assert f"{ROLE} is not saved: fill in lines 5, 10, " in refused.stderr
    assert "PASS" in refused.stderr
    told = json.loads(cli("context", "save", ROLE, "--json", cwd=repo).stdout)
    assert (told["valid"], told["ok"]) == (True, False)
    assert cli("context", "write", ROLE, cwd=repo).returncode == 0
    assert "(to fill in" not in (repo / FILE).read_text(encoding="utf-8")
    assert cli("context", "save", ROLE, cwd=repo).returncode == 0


@pytest.mark.req("CTX-10")
def test_save_without_a_file_or_a_role_moves_nobody(cli: Cli, repo: Path) -> None:
    missing = cli("context", "lifecycle.save", ROLE, cwd=repo)
    nobody = cli("context", "lifecycle.save", cwd=repo)

    assert (missing.returncode, nobody.returncode) == (1, 1)
    assert "does not exist" in missing.stderr
    assert "HIVEMIND_ROLE" in nobody.stderr
    assert not (repo / ".git" / "standfast" / "journal.db").exists()


@pytest.mark.req("CTX-08")
@pytest.mark.parametrize("before", [COMPACTING, RECOVERING])
def test_save_out_of_the_cycle_is_refused_with_the_legal_moves_named(
    cli: Cli, repo: Path, before: str
) -> None:
    bring(repo, before)
    put(repo)

    done = cli("context", "lifecycle.save", ROLE, cwd=repo)

    assert done.returncode == IllegalMove.exit_status
    assert all(state in done.stderr for state in (before, *MOVES[before]))
    assert "recover" in done.stderr
    assert state(repo) == before


@pytest.mark.req("CTX-08", "CTX-10")
def test_save_begins_a_lifecycle_where_there_is_none_and_may_be_repeated(
    cli: Cli, repo: Path
) -> None:
    put(repo)

    for _ in range(2):
        assert (
            cli("context", "lifecycle.save", cwd=repo, env={"HIVEMIND_ROLE": ROLE}).returncode == 0
        )

    assert moves(repo)[2:] == [(SAVING, SAVED), (SAVED, SAVING), (SAVING, SAVED)]


def test_a_context_file_behind_a_link_is_not_followed(cli: Cli, repo: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(FRESH, encoding="utf-8")
    (repo / "session" / "agents").mkdir(parents=True)
    (repo / FILE).symlink_to(tmp_path / "outside.md")

    for action in ("lifecycle.save", "lifecycle.pre.compact", "recover"):
        done = cli("context", action, ROLE, cwd=repo)
        assert done.returncode != 0, action
        assert "Read this file" not in done.stdout


# status


@pytest.mark.req("CTX-10")
def test_status_tells_one_role_or_all(cli: Cli, repo: Path) -> None:
    none = cli("context", "lifecycle.status", cwd=repo)
    bring(repo, SAVED)
    cli("context", "lifecycle.init", "tester", cwd=repo)

    everyone = cli("context", "lifecycle.status", "--json", cwd=repo)
    one = cli("context", "lifecycle.status", ROLE, cwd=repo)
    unknown = cli("context", "lifecycle.status", "nobody", cwd=repo)

    assert (none.returncode, none.stdout) == (0, "No role has a lifecycle here.\n")
    found = {each["role"]: each for each in json.loads(everyone.stdout)["roles"]}
    assert {role: each["state"] for role, each in found.items()} == {ROLE: SAVED, "tester": ACTIVE}
    assert found[ROLE]["machine"] == "oosh_expert"
    assert found["tester"]["file"] == str(states_file("tester"))
    assert one.stdout.split()[:2] == [ROLE, SAVED]
    assert "tester" not in one.stdout.split()
    assert (unknown.returncode, "nobody" in unknown.stderr) == (1, True)


# pre.compact


@pytest.mark.req("CTX-10", "CTX-23")
def test_pre_compact_skips_only_where_there_is_no_role_at_all(cli: Cli, repo: Path) -> None:
    nobody = cli("context", "lifecycle.pre.compact", cwd=repo)
    stale = cli("context", "lifecycle.pre.compact", cwd=repo, env={"HIVEMIND_ROLE": "long-gone"})

    assert (nobody.returncode, "skipped" in nobody.stdout) == (0, True)
    assert stale.returncode == 1
    assert "session/agents/long-gone.context.md does not exist" in stale.stderr
    assert "HIVEMIND_ROLE may be stale" in stale.stderr
    assert "standfast context write long-gone" in stale.stderr
    assert state(repo, "long-gone") is None


@pytest.mark.req("CTX-10", "CTX-23")
@pytest.mark.parametrize("text", [None, *map(WRONG.get, ("no recovery steps", "Completed"))])
def test_pre_compact_by_hand_fails_on_problems_and_moves_nobody(
    cli: Cli, repo: Path, text: str | None
) -> None:
    bring(repo, ACTIVE)
    if text is not None:
        put(repo, text)

    done = cli("context", "lifecycle.pre.compact", cwd=repo, env={"HIVEMIND_ROLE": ROLE})

    assert done.returncode == 1
    assert FILE in done.stderr
    assert state(repo) == ACTIVE


@pytest.mark.req("CTX-10", "CTX-23")
@pytest.mark.parametrize("before", [ACTIVE, SAVING, SAVED])
def test_pre_compact_by_hand_marks_a_role_saved_whose_file_passes(
    cli: Cli, repo: Path, before: str
) -> None:
    bring(repo, before)
    put(repo)

    done = cli("context", "lifecycle.pre.compact", cwd=repo, env={"HIVEMIND_ROLE": ROLE})

    assert (done.returncode, state(repo)) == (0, SAVED)
    assert moves(repo)[-1] == (SAVING, SAVED)


@pytest.mark.req("CTX-23")
@pytest.mark.parametrize("before", [COMPACTING, RECOVERING])
def test_pre_compact_of_a_role_that_has_not_recovered_is_a_problem(
    cli: Cli, repo: Path, before: str
) -> None:
    bring(repo, before)
    put(repo)

    done = cli("context", "lifecycle.pre.compact", ROLE, cwd=repo)

    assert done.returncode == 1
    assert f"{before}, not saved" in done.stderr
    assert state(repo) == before


# recover


@pytest.mark.req("CTX-12", "CTX-25")
@pytest.mark.parametrize("before", list(MOVES))
def test_recover_prints_everything_and_makes_the_role_active(
    cli: Cli, repo: Path, before: str
) -> None:
    bring(repo, before)
    put(repo)
    skill = repo / ".claude" / "agents" / ROLE / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("Be an expert.\n", encoding="utf-8")

    done = cli("context", "recover", cwd=repo, env={"HIVEMIND_ROLE": ROLE})

    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert [line[:2] for line in lines if line[:1].isdigit() and line[1:2] == "."][:5] == [
        f"{number}." for number in range(1, 6)
    ]
    assert f"SKILL.md: .claude/agents/{ROLE}/SKILL.md" in lines
    assert "Architecture: docs/oosh-architecture.md NOT FOUND" in lines
    assert FRESH in done.stdout
    assert lines.index(f"----- {FILE}") > lines.index(
        "5. Report that you are ready: able to write files and to commit."
    )
    assert lines[-1] == f"That is all: go on with step 1; {ROLE} is active."
    assert state(repo) == ACTIVE
    passed = [after for one, after in moves(repo)[-2:] if (one, after) != (None, ACTIVE)]
    assert before != COMPACTING or passed == [RECOVERING, ACTIVE]


@pytest.mark.req("CTX-12")
def test_checklist_is_the_same_for_every_role(cli: Cli, repo: Path) -> None:
    told = []
    for role in ("oosh-expert", "tester"):
        put(repo, FRESH.replace(ROLE, role), role)
        done = cli("context", "recover", role, "--json", cwd=repo)
        told.append(json.loads(done.stdout))

    assert told[0]["checklist"] == told[1]["checklist"]
    assert len(told[0]["checklist"]) == 5
    assert [each["skill"]["path"] for each in told] == [
        ".claude/agents/oosh-expert/SKILL.md",
        ".claude/agents/tester/SKILL.md",
    ]


@pytest.mark.req("CTX-12")
def test_recover_without_a_lifecycle_skips_it_in_silence(cli: Cli, repo: Path) -> None:
    put(repo)

    done = cli("context", "recover", ROLE, cwd=repo)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "That is all: go on with step 1."
    assert "lifecycle" not in done.stdout
    assert not (repo / ".git" / "standfast" / "journal.db").exists()


@pytest.mark.req("CTX-25")
def test_recover_prints_a_file_of_5_mb_to_its_last_word(cli: Cli, repo: Path) -> None:
    put(repo, FRESH + "\n".join(f"- note {n} of many" for n in range(250_000)) + "\n- the end\n")

    done = cli("context", "recover", ROLE, cwd=repo)

    assert len(done.stdout) > 5_000_000
    assert "- note 249999 of many\n- the end\n----- end of" in done.stdout


@pytest.mark.req("CTX-25")
def test_missing_file_or_role_exits_1_without_a_transition(cli: Cli, repo: Path) -> None:
    bring(repo, COMPACTING)

    missing = cli("context", "recover", ROLE, cwd=repo)
    nobody = cli("context", "recover", cwd=repo)
    stale = cli("context", "recover", cwd=repo, env={"HIVEMIND_ROLE": "long-gone"})

    assert [done.returncode for done in (missing, nobody, stale)] == [1, 1, 1]
    assert "does not exist" in missing.stderr
    assert "stale" in stale.stderr
    assert state(repo) == COMPACTING


@pytest.mark.req("CTX-25")
def test_architecture_document_can_be_set_by_the_repository(cli: Cli, repo: Path) -> None:
    put(repo)
    (repo / "docs").mkdir()
    (repo / "docs" / "design.md").write_text("It stands.\n", encoding="utf-8")
    (repo / ".standfast.yaml").write_text("architecture_doc: docs/design.md\n", encoding="utf-8")

    done = cli("context", "recover", ROLE, cwd=repo)
    outside = cli("--set", "architecture_doc=../x.md", "context", "recover", ROLE, cwd=repo)

    assert "Architecture: docs/design.md\n" in done.stdout
    assert outside.returncode == 12


def test_what_would_act_on_a_terminal_is_shown_instead(cli: Cli, repo: Path) -> None:
    put(repo, FRESH + "- a \x1b[2J and a \u202e\n")

    done = cli("context", "recover", ROLE, cwd=repo)

    assert r"- a \x1b[2J and a \u202e" in done.stdout


@pytest.mark.req("CTX-10")
def test_lifecycle_recover_moves_only_and_needs_a_lifecycle(cli: Cli, repo: Path) -> None:
    none = cli("context", "lifecycle.recover", ROLE, cwd=repo)
    bring(repo, COMPACTING)
    done = cli("context", "lifecycle.recover", ROLE, cwd=repo)
    again = cli("context", "lifecycle.recover", ROLE, cwd=repo)

    assert none.returncode == 1
    assert (done.returncode, done.stdout) == (0, f"{ROLE} is active (recovering → active)\n")
    assert (again.returncode, again.stdout) == (0, f"{ROLE} is active\n")
    assert moves(repo)[-2:] == [(COMPACTING, RECOVERING), (RECOVERING, ACTIVE)]


@pytest.mark.req("CTX-07", "CTX-25")
@pytest.mark.parametrize("action", ["recover", "lifecycle.save", "lifecycle.pre.compact"])
def test_file_that_is_not_there_is_not_valid_and_the_remedy_is_named(
    cli: Cli, repo: Path, action: str
) -> None:
    told = json.loads(cli("context", action, ROLE, "--json", cwd=repo).stdout)
    said = cli("context", action, cwd=repo, env={"HIVEMIND_ROLE": ROLE})

    (finding,) = told["findings"]
    assert (told["valid"], told["errors"], finding["rule"]) == (False, 1, "file.missing")
    assert f"standfast context write {ROLE}" in finding["remedy"]
    assert said.returncode == 1
    assert f"{FILE} does not exist (HIVEMIND_ROLE may be stale). {finding['remedy']}" in said.stderr


@pytest.mark.req("CTX-07")
@pytest.mark.parametrize("action", ["lifecycle.save", "lifecycle.pre.compact"])
def test_file_that_is_no_text_is_not_valid(cli: Cli, repo: Path, action: str) -> None:
    put(repo).write_bytes(b"\xff")

    done = cli("context", action, ROLE, "--json", cwd=repo)

    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert [each["rule"] for each in told["findings"]] == ["file.unreadable"]
    assert not told["valid"]


# Spellings and the shim.


@pytest.mark.req("CTX-15")
@pytest.mark.parametrize("action", command.ACTIONS)
def test_dotted_words_blanks_and_dashes_mean_the_same(action: str) -> None:
    words = action.split(".")
    dashed = action.replace("pre.compact", "pre-compact").split(".")

    for typed in ([action], words, dashed):
        assert command.rewrite([*typed, "x-y"]) == [action, "x-y"]
        assert command.rewrite(["--json", *typed, "--hook"]) == ["--json", action, "--hook"]


@pytest.mark.req("CTX-15")
def test_words_that_are_no_action_are_left_for_the_parser(cli: Cli, repo: Path) -> None:
    assert command.rewrite([]) == []
    assert command.rewrite(["--json"]) == ["--json"]
    assert command.rewrite(["validate", "a-b"]) == ["validate", "a-b"]
    assert cli("context", "recover", "a", "b", cwd=repo).returncode == WrongUsage.exit_status


@pytest.mark.req("CTX-15")
def test_lifecycle_alone_is_helped_and_what_it_lacks_is_named(cli: Cli, repo: Path) -> None:
    helped = [cli("context", "lifecycle", word, cwd=repo) for word in ("--help", "-h")]
    alone = cli("context", "lifecycle", cwd=repo)
    wrong = [
        cli("context", *words, cwd=repo) for words in (["lifecycle", "nap"], ["lifecycle.nap"])
    ]

    for done in helped:
        assert (done.returncode, "lifecycle.pre.compact" in done.stdout) == (0, True)
    for done in (alone, *wrong):
        assert done.returncode == WrongUsage.exit_status
        assert "lifecycle.init, lifecycle.save, lifecycle.status" in done.stderr
    for done in wrong:
        assert "`nap`" in done.stderr


@pytest.mark.req("CTX-15")
def test_shim_passes_arguments_and_exit_codes_through(cli: Cli, repo: Path) -> None:
    put(repo)
    made = cli("context", "shim", cwd=repo)
    again = cli("context", "shim", cwd=repo)

    def shim(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["./context", *arguments], cwd=repo, capture_output=True, encoding="utf-8", check=False
        )

    assert (made.returncode, again.returncode) == (0, 0)
    assert ("wrote context" in made.stdout, "in place: context" in again.stdout) == (True, True)
    assert shim("lifecycle.save", ROLE).returncode == 0
    assert shim("lifecycle.status", ROLE).stdout.split()[:2] == [ROLE, SAVED]
    assert shim("recover", "no one; touch owned").returncode == BadName.exit_status
    assert shim("validate", "no such file").returncode == 1
    assert shim("validate.all").stdout.splitlines()[-1] == "1/1 passed"
    assert not (repo / "owned").exists()


@pytest.mark.req("CTX-15")
def test_shim_acts_on_the_repository_that_it_lies_in(cli: Cli, repo: Path, tmp_path: Path) -> None:
    put(repo)
    cli("context", "shim", cwd=repo)
    inner = repo / ".worktrees" / "x"
    elsewhere = tmp_path / "another"
    for other in (inner, elsewhere):
        subprocess.run(["git", "init", "-q", str(other)], check=True)
    below = repo / "session" / "agents"

    for at in (elsewhere, inner, below, tmp_path):
        done = subprocess.run([str(repo / "context"), "validate.all"], cwd=at, check=False,
                              capture_output=True, encoding="utf-8")  # fmt: skip
        assert done.stdout.splitlines()[-1] == "1/1 passed", (at, done)

    named = subprocess.run(["../../context", "validate", f"{ROLE}.context.md"], cwd=below,
                           check=False, capture_output=True)  # fmt: skip
    assert named.returncode == 0
    assert not (elsewhere / ".git" / "standfast").exists()


@pytest.mark.req("CTX-15")
def test_shim_called_by_a_link_acts_on_its_own_repository(
    cli: Cli, repo: Path, tmp_path: Path
) -> None:
    put(repo)
    cli("context", "shim", cwd=repo)
    other = tmp_path / "my other" / "bin"
    other.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(other.parent)], check=True)
    (other / "whole").symlink_to(repo / "context")
    (other / "relative").symlink_to(os.path.relpath(repo / "context", other))
    (other / "again").symlink_to("relative")

    for name in ("whole", "relative", "again"):
        done = subprocess.run([str(other / name), "validate.all"], cwd=tmp_path, check=False,
                              capture_output=True, encoding="utf-8")  # fmt: skip
        assert done.stdout.splitlines()[-1] == "1/1 passed", (name, done)


@pytest.mark.req("CTX-15")
def test_shim_is_never_written_over_a_file_of_somebody_else(cli: Cli, repo: Path) -> None:
    (repo / "context").write_text("#!/bin/sh\necho mine\n", encoding="utf-8")

    done = cli("context", "shim", cwd=repo)

    assert done.returncode == NotOurs.exit_status
    assert (repo / "context").read_text(encoding="utf-8") == "#!/bin/sh\necho mine\n"


def test_shim_goes_on_by_path_when_its_interpreter_is_gone(cli: Cli, repo: Path) -> None:
    cli("context", "shim", cwd=repo)
    file = repo / "context"
    file.write_text(file.read_text("utf-8").replace(sys.executable, "/nowhere/python"), "utf-8")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    done = subprocess.run(
        ["./context", "schema"],
        cwd=repo,
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0
