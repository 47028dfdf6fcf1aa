"""An output counts when it says something and ends in the sentinel, and for no other reason."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import standfast
from standfast.errors.base import BadName, WrongUsage
from standfast.journal.store import Journal
from standfast.protocols.outputs.files import stage_outputs as files
from standfast.protocols.outputs.rules import stages, whole_output
from standfast.protocols.outputs.rules.prompts.declared_outputs import declared
from standfast.protocols.outputs.rules.whole_output import SENTINEL

END = SENTINEL.encode()
WORDS = b"# Findings\n\nThree of them.\n"
BLANKS = st.text(alphabet=" \t\r\n", max_size=6).map(str.encode)


# Validity.


@pytest.mark.req("OUT-03", "OUT-17")
@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (WORDS + END + b"\n", None),
        (WORDS + END, None),
        (WORDS + END + b"\r\n", None),
        (WORDS.replace(b"\n", b"\r\n") + END + b"\r\n\r\n", None),
        (WORDS + END + b"\n\n\n", None),
        (WORDS + END + b"\n  \n", None),
        (b"\xef\xbb\xbf" + WORDS + END + b"\n", None),
        (WORDS + END + b"\n\n" + END + b"\n", None),
        (b"", "empty"),
        (b" \n\t\r\n", "empty"),
        (b"\xef\xbb\xbf\n", "empty"),
        (END, "sentinel-only"),
        (b"\n\n" + END + b"\n", "sentinel-only"),
        (b"\xef\xbb\xbf" + END + b"\r\n", "sentinel-only"),
        (END + b"\n" + END + b"\n", "sentinel-only"),
        (WORDS, "no-sentinel"),
        (WORDS + END + b" \n", "no-sentinel"),
        (WORDS + END + b"\t", "no-sentinel"),
        (WORDS + b" " + END + b"\n", "no-sentinel"),
        (WORDS + b"done " + END, "no-sentinel"),
        (WORDS + END + b".\n", "no-sentinel"),
        (WORDS + END + b"\nand one more thing\n", "no-sentinel"),
        (WORDS + END.lower() + b"\n", "no-sentinel"),
        (WORDS + b"<!--AGENT_COMPLETE-->\n", "no-sentinel"),
        (WORDS + END + b"\x00", "no-sentinel"),
        ((WORDS + END).decode().encode("utf-16"), "no-sentinel"),
    ],
)
def test_validity_of_contents(data: bytes, fault: str | None) -> None:
    assert whole_output.fault(data) == fault


@pytest.mark.req("OUT-03", "OUT-17")
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_file_cut_at_every_byte_is_valid_only_with_its_whole_sentinel(line_end: bytes) -> None:
    whole = (WORDS + b"A " + END + b" in a line counts for nothing.\n" + END + b"\n\n\n").replace(
        b"\n", line_end
    )
    end = whole.rindex(END) + len(END)

    valid = [at for at in range(len(whole) + 1) if whole_output.fault(whole[:at]) is None]

    assert valid == list(range(end, len(whole) + 1))


@pytest.mark.req("OUT-03")
@given(st.binary(max_size=300), BLANKS)
def test_every_file_has_one_reason_or_none(words: bytes, blanks: bytes) -> None:
    ended = words + b"\n" + END + b"\n" + blanks

    assert whole_output.fault(words) in {*whole_output.REASONS, None}
    assert whole_output.fault(ended) in {None, whole_output.SENTINEL_ONLY}
    if END not in words:
        assert whole_output.fault(words) in {whole_output.EMPTY, whole_output.NO_SENTINEL}


@pytest.mark.req("OUT-17")
def test_what_is_no_regular_file_is_told_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_bytes(WORDS + END)
    os.mkfifo(tmp_path / "fifo.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "link.md").symlink_to(tmp_path / "good.md")
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(2 * 1024**3)

    found = {name: files.look(str(tmp_path), f"{name}.md").fault for name in (
        "good", "fifo", "folder", "link", "huge", "none")}  # fmt: skip

    assert found == {
        "good": None,
        "fifo": "not-a-file",
        "folder": "not-a-file",
        "link": "not-a-file",
        "huge": "too-large",
        "none": "missing",
    }


@pytest.mark.req("OUT-17")
def test_what_may_not_be_read_is_unreadable_and_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(WORDS + END)
    (tmp_path / "a.md").chmod(0)
    script = (
        "import os, sys; from standfast.protocols.outputs.files import output_file as files;"
        "os.geteuid() or os.seteuid(65534); print(files.look(sys.argv[1]).fault)"
    )
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents[:3]:
        folder.chmod(0o755)

    told = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.md")], check=True,
                          capture_output=True, encoding="utf-8")  # fmt: skip

    assert told.stdout == "unreadable\n"


@pytest.mark.req("OUT-15")
def test_sentinel_stands_in_one_module_alone() -> None:
    source = Path(standfast.__file__).parent
    holders = [
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if "AGENT_COMPLETE" in path.read_text(encoding="utf-8") and "testing" not in path.parts
    ]

    assert holders == ["protocols/outputs/rules/whole_output.py"]


# Names and prompts.


@pytest.mark.req("OUT-12")
def test_name_follows_from_its_maker() -> None:
    review = stages.stage("review-code")

    assert stages.stage("plan").output("prior-art-research") == "plan-prior-art-research.md"
    assert review.output("security") == review.output("security") == "review-security-code.md"


@pytest.mark.req("OUT-12")
@pytest.mark.parametrize("role", ["../x", "/etc/passwd", "a/b", "..", "", "a\nb", "a\0b", "x" * 99])
def test_name_that_would_leave_the_directory_is_refused(role: str) -> None:
    with pytest.raises(BadName):
        stages.stage("retro").output(f"{role}/")
    with pytest.raises((BadName, WrongUsage)):
        from standfast.surfaces.cli.stage_arguments import role_of

        role_of(stages.stage("retro"), role)


@pytest.mark.req("OUT-20")
def test_two_agents_for_one_file_are_refused_before_launch(tmp_path: Path) -> None:
    wanted = files.Wanted(stages.stage("retro"), str(tmp_path), next=("notes", "Notes"))

    with pytest.raises(WrongUsage, match="both write"):
        files.expected(Journal(str(tmp_path / "journal")), wanted)


@pytest.mark.req("OUT-13")
def test_prompt_carries_the_path_and_the_sentinel_once() -> None:
    path = "/work tree/s/review-security-code.md"
    made = whole_output.prompt("Look at the diff.\n", path)

    assert made.startswith("Look at the diff.")
    assert f"Write your complete findings to: {path}\n" in made
    assert made.count(SENTINEL) == 1
    assert whole_output.prompt(made, path) == made
    assert declared(made) == [path]


@pytest.mark.req("OUT-13")
def test_only_a_line_that_says_to_write_declares_a_file() -> None:
    told = f"Read /a/b.md first.\nThen write it to: /s/x.md\nand end in {SENTINEL}\n"

    assert declared(told) == ["/s/x.md"]
    assert declared(told.replace(SENTINEL, "done")) == []
    assert declared(f"write nothing {SENTINEL}") == []


@pytest.mark.req("OUT-13", "OUT-23")
@given(st.text(max_size=300), st.text(max_size=300))
def test_our_own_paragraph_is_found_where_nothing_says_that_it_is_anothers(
    before: str, after: str
) -> None:
    path = "/work tree/R&D and (more)/review-security-code.md"

    assert declared(f"{before}\n{whole_output.paragraph(path)}{after}") in ([], [path])
    assert declared(f"Look at the diff.\n\n{whole_output.paragraph(path)}\n{after}") == [path]


# Stages as data.


@pytest.mark.req("OUT-10", "OUT-19")
def test_tiers_of_the_stages_that_come_with_it() -> None:
    known = stages.known()
    critical = {
        name: [role for role in stage.tiers if stage.tier(role) == stages.CRITICAL]
        for name, stage in known.items()
    }

    assert critical["clarify"] == []
    assert critical["plan"] == ["prior-art-research", "codebase-analysis"]
    assert len(critical["review-plan"]) == len(critical["review-clarify"]) == 6
    assert critical["retro"] == ["cdm-analysis"]
    assert known["retro"].tier("cdm-analysis", stages.LIGHT) == stages.SOFT
    assert known["retro"].tier("learning-resources") == stages.SOFT
    assert known["retro"].tier("nobody-declared-it") == stages.CRITICAL


@pytest.mark.req("OUT-10")
def test_project_declares_stages_and_other_tiers() -> None:
    declared = {
        "audit": {"outputs": {"licences": "soft", "advisories": "critical"}},
        "retro": {"outputs": {"expert-alpha": "critical"}},
    }

    assert stages.stage("audit", declared).output("licences") == "audit-licences.md"
    assert stages.stage("audit", declared).tier("licences") == stages.SOFT
    assert stages.stage("retro", declared).tier("expert-alpha") == stages.CRITICAL
    assert stages.stage("retro", declared).tier("cdm-analysis") == stages.CRITICAL


@pytest.mark.parametrize(
    "value",
    [
        "text",
        ["list"],
        {"../x": {}},
        {"a": None},
        {"a": {"outputs": ["x"]}},
        {"a": {"outputs": {"../x": "soft"}}},
        {"a": {"outputs": {"x": "important"}}},
        {"a": {"skill": "../../x"}},
        {"a": {"suffix": "/../x", "outputs": {"x": "soft"}}},
        {"a": {"expects": "some"}},
        {"a": {"colour": "red"}},
    ],
)
def test_bad_declaration_is_refused(value: object) -> None:
    with pytest.raises((ValueError, BadName)):
        stages.check(value)


def test_unknown_stage_names_those_there_are() -> None:
    with pytest.raises(WrongUsage) as refused:
        stages.stage("reviews")
    assert "review-code" in refused.value.remedy
