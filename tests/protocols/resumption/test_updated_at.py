"""When a section was updated, found in the text of its file, whatever that text is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resumption_samples import lived
from standfast.formats.yaml_writer import write
from standfast.protocols.resumption.rules import updated_at

AT = "2026-02-20T10:30:00Z"
STYLES = {
    "block": "a: 1\nresumption:\n  recovery_state:\n    updated_at: {at}\n  x: 1\nb: 2\n",
    "quoted": 'resumption:\n  recovery_state:\n    updated_at: "{at}"  # now\n',
    "single quotes": "resumption:\n  recovery_state:\n    'updated_at': '{at}'\n",
    "comment behind": "resumption: # ours\n  recovery_state: # too\n    updated_at: {at} # now\n",
    "words before": "resumption:\n  recovery_state:\n    next_step: |\n      updated_at: 1999\n"
    "    # updated_at: never\n    updated_at: {at}\n",
    "list before": "resumption:\n  files_to_read:\n  - updated_at: 3\n"
    "  recovery_state:\n    updated_at: {at}\n",
    "flow": 'resumption:\n  recovery_state: {{next_step: "a, updated_at: x", updated_at: {at}}}\n',
    "all flow": "resumption: {{recovery_state: {{a: [{{updated_at: 5}}], updated_at: {at}}}}}",
    "flow over lines": "resumption:\n  recovery_state: {{\n    next_step: it's fine,  # a, b\n"
    "    updated_at: {at}\n  }}\n",
    "JSON": '{{"x": {{"resumption": 5}}, "resumption": {{"recovery_state": {{"updated_at":'
    '"{at}"}}}}}}',
    "Windows": "a: 1\r\nresumption:\r\n  recovery_state:\r\n    updated_at: {at}\r\n",
    "anchors": "resumption: &r\n  recovery_state: &s\n    updated_at: {at}\n",
    "byte order mark": "\ufeffresumption:\n  recovery_state:\n    updated_at: {at}\n",
}


@pytest.mark.req("RES-12", "RES-10")
@pytest.mark.parametrize("style", STYLES)
def test_time_is_found_as_the_text_that_it_is(style: str) -> None:
    text = STYLES[style].format(at=AT)

    assert updated_at.find(text) == AT
    assert updated_at.has_section(text)


def test_what_we_write_ourselves_is_found() -> None:
    section = lived().section

    text = "before: 1\n" + write({"resumption": section}) + "after: 2\n"

    assert updated_at.find(text) == section["recovery_state"]["updated_at"]


@pytest.mark.parametrize(
    ("text", "found", "has"),
    [
        ("", None, False),
        ("a: 1\n", None, False),
        ("resumption:\n", None, False),
        ("x:\n  resumption:\n    recovery_state:\n      updated_at: 1\n", None, False),
        ("resumption:\n  last_checkpoint: CP-001\n  next_step: x\n", None, True),
        ("resumption:\n  recovery_state:\n    next_step: x\n", "", True),
        ("resumption:\n  recovery_state:\n    deep:\n      updated_at: 1\n", "", True),
        ("resumption:\n  recovery_state:\n    updated_at:\n", "", True),
    ],
)
def test_what_is_not_there_is_not_found(text: str, found: str | None, *, has: bool) -> None:
    assert (updated_at.find(text), updated_at.has_section(text)) == (found, has)


@given(st.text(alphabet="resumption:cvy_ad {}[]\"'#\\,\n\t&-", max_size=400))
def test_any_text_has_an_answer(text: str) -> None:
    found = updated_at.find(f"resumption:\n  recovery_state:{text}")

    assert found is None or len(found) <= 100


def test_very_long_text_has_an_answer_at_once() -> None:
    for text in (
        "{" * 500_000,
        "resumption: " + "{a: " * 100_000,
        "resumption:\n" + " a:\n" * 99_999,
    ):
        assert not updated_at.find(text)
