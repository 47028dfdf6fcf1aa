"""Our hooks go into settings and come out again; every byte that is not ours stays.

The settings are a person's: with comments, trailing commas, any indentation and line ends.
"""

import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast.clients.claude import abilities
from standfast.clients.claude.abilities import Abilities
from standfast.clients.claude.settings_text import find, hook, others, with_hooks, without_hooks
from standfast.formats.document_limits import Value
from standfast.formats.json_spans import BOM, read

LAUNCHER = "/home/ada lovelace/.local/share/standfast/hook"
NEW = abilities.of((2, 1, 325))
OLD = abilities.of((2, 0, 76))
OLDEST = abilities.of(None)


def install(text: str | None, known: Abilities = NEW, launcher: str = LAUNCHER) -> str:
    return with_hooks(text, launcher, known, name="settings.json")


def uninstall(text: str | None) -> str | None:
    return without_hooks(text, name="settings.json")


def meaning(text: str | None) -> Value:
    return {} if text is None else read(text, name="settings.json").value


# Texts as people have them. A gap is space and comments; a line comment ends its line.

BLANK = st.text(" \t", max_size=3)


def gaps(line_end: str) -> st.SearchStrategy[str]:
    comment = st.sampled_from(["/* said */", f"/*{line_end} * two lines{line_end} */", "/**/"])
    line_comment = st.sampled_from(["// said", '// "hooks": {', "//"]).map(lambda c: c + line_end)
    piece = st.one_of(BLANK, st.just(line_end), comment, line_comment)
    return st.lists(piece, max_size=3).map("".join)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


KEYS = st.sampled_from(["model", "statusLine", "permissions", "é", 'a"b', "//", "{", ""])
SCALARS = st.one_of(
    st.sampled_from(["true", "null", "0", "-1.5e3", '"x"', r'"\u00e9 \" // {"', '"/* no */"']),
    st.text(max_size=5).map(json.dumps),
)
COMMANDS = st.sampled_from(["npm test", "/opt/hook claude", "'", shlex.quote(LAUNCHER)])


@st.composite
def containers(
    draw: st.DrawFn, brackets: str, items: list[str], line_end: str, end: str = ""
) -> str:
    """The items between brackets, with gaps everywhere, perhaps with a trailing comma."""
    gap = draw(st.sampled_from([gaps(line_end), BLANK, st.just(line_end + "  "), st.just("")]))
    said = [f"{draw(gap)}{item}{draw(gap)}" for item in items]
    trailing = "," if items and draw(st.booleans()) else ""
    return f"{brackets[0]}{','.join(said)}{trailing}{draw(gap)}{end}{brackets[1]}"


def members(pairs: dict[str, str]) -> list[str]:
    return [f"{quoted(key)}: {value}" for key, value in pairs.items()]


@st.composite
def values(draw: st.DrawFn, line_end: str) -> str:
    if draw(st.booleans()):
        return draw(SCALARS)
    if draw(st.booleans()):
        return draw(containers("[]", draw(st.lists(SCALARS, max_size=2)), line_end))
    pairs = draw(st.dictionaries(KEYS, SCALARS, max_size=2))
    return draw(containers("{}", members(pairs), line_end))


@st.composite
def hook_sections(draw: st.DrawFn, line_end: str) -> str:
    """Somebody's own hooks, also for our events, also empty ones."""

    def group() -> str:
        commands = draw(st.lists(COMMANDS, max_size=2))
        entries = [f'{{"type": "command", "command": {quoted(each)}}}' for each in commands]
        hooks = draw(containers("[]", entries, line_end))
        return draw(containers("{}", ['"matcher": "Bash"', f'"hooks": {hooks}'], line_end))

    names = st.sampled_from(["Stop", "PreToolUse", "SessionStart", "Notification", "PostCompact"])
    events = draw(st.lists(names, max_size=3, unique=True))
    pairs = {
        event: draw(containers("[]", [group() for _ in range(draw(st.integers(0, 2)))], line_end))
        for event in events
    }
    return draw(containers("{}", members(pairs), line_end))


@st.composite
def documents(draw: st.DrawFn) -> str:
    line_end = draw(st.sampled_from(["\n", "\r\n"]))
    pairs = draw(st.dictionaries(KEYS, values(line_end), max_size=3))
    if draw(st.booleans()):
        pairs["hooks"] = draw(hook_sections(line_end))
    order = draw(st.permutations(list(pairs)))
    body = draw(containers("{}", members({key: pairs[key] for key in order}), line_end))
    bom = draw(st.sampled_from(["", "", BOM]))
    return f"{bom}{draw(gaps(line_end))}{body}{draw(gaps(line_end))}"


BLANKS = st.one_of(st.none(), st.text(" \t\r\n", max_size=3), st.just(BOM), st.just(BOM + "\n"))
TEXTS = st.one_of(documents(), BLANKS)
KNOWN = st.sampled_from([NEW, OLD, OLDEST])


@settings(deadline=None, max_examples=100)
@given(TEXTS, KNOWN)
def test_what_was_put_in_comes_out_to_the_byte(text: str | None, known: Abilities) -> None:
    assert uninstall(install(text, known)) == text


@settings(deadline=None, max_examples=50)
@given(TEXTS, KNOWN)
def test_a_second_time_changes_nothing(text: str | None, known: Abilities) -> None:
    once = install(text, known)

    assert install(once, known) == once
    assert uninstall(text) == text


@settings(deadline=None, max_examples=50)
@given(TEXTS, KNOWN, KNOWN)
def test_another_version_has_what_it_knows_and_all_comes_out(
    text: str | None, first: Abilities, second: Abilities
) -> None:
    changed = install(install(text, first, "/old place/standfast/hook"), second)

    found = list(find(changed, name=""))
    assert sorted(ours.event for ours in found) == sorted(second.events)
    assert all(ours.hook == hook(LAUNCHER, exec_form=second.exec_form) for ours in found)
    assert uninstall(changed) == text


@settings(deadline=None, max_examples=50)
@given(documents(), KNOWN)
def test_what_a_client_reads_beside_ours_is_what_it_read_before(
    text: str, known: Abilities
) -> None:
    value = meaning(install(text, known))

    assert isinstance(value, dict)
    events = value["hooks"]
    assert isinstance(events, dict)
    ours = {"hooks": [hook(LAUNCHER, exec_form=known.exec_form)]}
    before = meaning(text)
    assert isinstance(before, dict)
    had = before.get("hooks", {})
    assert isinstance(had, dict)
    for event in known.events:
        groups = events[event]
        assert isinstance(groups, list)
        assert groups.pop() == ours
        if not groups and event not in had:
            del events[event]
    if not events and "hooks" not in before:
        del value["hooks"]
    assert value == before


@settings(deadline=None, max_examples=50)
@given(documents(), KNOWN, st.data())
def test_what_somebody_added_meanwhile_stays(
    text: str, known: Abilities, data: st.DataObject
) -> None:
    installed = install(text, known)
    root = read(installed, name="")
    at = root.start + 1
    added = f'"added": {data.draw(values(chr(10)))},'
    edited = installed[:at] + added + installed[at:]

    left = uninstall(edited)

    assert left is not None
    assert added[:-1] in left
    value, before = meaning(left), meaning(text)
    assert isinstance(value, dict)
    assert isinstance(before, dict)
    del value["added"]
    assert value == before


# Examples that a reader can see.


def test_ours_stand_in_the_files_own_indentation_and_line_ends() -> None:
    text = '{\r\n\t"model": "opus"\r\n}\r\n'

    installed = install(text, OLDEST)

    lines = installed.split("\r\n")
    assert lines[:3] == ["{", '\t"model": "opus",', '\t"hooks": {']
    assert lines[3].startswith('\t\t"SessionStart": [{"hooks": [{"type": "command", ')
    assert lines[-4:] == [lines[-4], "\t}", "}", ""]
    assert "\n" not in installed.replace("\r\n", "")


def test_a_comment_behind_the_last_value_stays_with_it() -> None:
    installed = install('{\n  "model": "opus" // fast\n}\n')

    assert installed.startswith('{\n  "model": "opus", // fast\n  "hooks": {\n')


def test_a_comment_swallows_no_brace_after_its_line_was_moved() -> None:
    installed = install('\n{"hooks": {// said\n}}')

    left = uninstall(installed.replace("{", '{"added": {\n  },', 1))

    assert meaning(left) == {"added": {}, "hooks": {}}


def test_our_group_comes_after_theirs_and_they_are_counted() -> None:
    text = '{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command"}, 1]}, 2]}}'

    value = meaning(install(text))

    assert value["hooks"]["Stop"][:2] == meaning(text)["hooks"]["Stop"]  # type: ignore[index,call-overload]  # as above
    assert others(install(text), name="").hooks == 2


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        ('{"hooks": {}}', '"hooks": {}'),
        ('{\n  "hooks": {\n    "Stop": []\n  }\n}', '"Stop": []'),
        ("{}", "{}"),
    ],
)
def test_what_was_there_and_empty_is_there_and_empty_again(text: str, empty: str) -> None:
    assert empty in str(uninstall(install(text)))
    assert uninstall(install(text)) == text


@pytest.mark.parametrize("text", [None, '{"model": "opus"}', '{"hooks": {"Stop": [1]}}'])
def test_all_of_ours_go_after_the_client_wrote_the_file_in_its_own_way(text: str | None) -> None:
    rewritten = json.dumps(meaning(install(text)), indent=2)

    left = uninstall(rewritten)

    assert meaning(left) == meaning(text)
    assert (left is None) is (text is None)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/elsewhere/standfast/hook", "args": ["claude"]},
        {"command": "'/else where/standfast/hook' claude"},
        {"command": "/elsewhere/standfast/hook claude", "timeout": 99},
    ],
)
def test_ours_are_found_in_every_form_and_brought_up_to_date(entry: dict[str, Value]) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", **entry}]}]}})

    assert [ours.event for ours in find(text, name="")] == ["Stop"]
    assert uninstall(text) is None
    hooks = {ours.event: ours.hook for ours in find(install(text), name="")}
    assert hooks["Stop"] == hook(LAUNCHER, exec_form=True)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/elsewhere/standfast/hook"},
        {"command": "/elsewhere/standfast/hook codex"},
        {"command": "echo /elsewhere/standfast/hook claude"},
        {"command": "/elsewhere/hook", "args": ["claude"]},
        {"command": "'/elsewhere/standfast/hook claude"},
        {"command": ["/elsewhere/standfast/hook"], "args": ["claude"]},
        {"args": ["claude"]},
    ],
)
def test_what_only_looks_like_ours_stays(entry: dict[str, Value]) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", **entry}]}]}})

    assert uninstall(text) == text


def test_a_timeout_that_somebody_changed_is_kept() -> None:
    changed = install(None).replace('"timeout": 10', '"timeout": 3', 1)

    assert install(changed) == changed


def test_a_second_hook_of_ours_for_one_event_goes() -> None:
    entry = json.dumps({"hooks": [hook(LAUNCHER, exec_form=True)]})
    text = f'{{"hooks": {{"Stop": [{entry}, 1, {entry}]}}}}'

    stops = [ours for ours in find(install(text), name="") if ours.event == "Stop"]

    assert len(stops) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [("{}", None), ('{\n"a": 1,\n}', 3), ("// x\n{}", 1), (BOM + "{}", None), (None, None)],
)
def test_the_line_that_makes_the_client_ignore_the_file_is_known(
    text: str | None, line: int | None
) -> None:
    assert others(text, name="").ignored_at == line


def test_hooks_that_are_turned_off_are_noticed() -> None:
    assert others('{"disableAllHooks": true}', name="").all_off
    assert not others('{"disableAllHooks": "true"}', name="").all_off


@pytest.mark.parametrize(
    ("version", "count", "exec_form"),
    [
        (None, 8, False),
        ((0, 2, 9), 8, False),
        ((1, 0, 128), 8, False),
        ((2, 0, 75), 8, False),
        ((2, 0, 76), 10, False),
        ((2, 1, 30), 10, False),
        ((2, 1, 100), 13, False),
        ((2, 1, 324), 13, False),
        ((2, 1, 325), 13, True),
        ((3, 0, 0), 13, True),
    ],
)
def test_between_two_measured_versions_only_the_lower_one_counts(
    version: abilities.Version | None, count: int, *, exec_form: bool
) -> None:
    known = abilities.of(version)

    assert (len(known.events), known.exec_form) == (count, exec_form)
    assert not {"WorktreeCreate", "Notification", "PermissionRequest"} & set(known.events)


def test_every_event_that_is_installed_can_be_tried() -> None:
    from standfast.clients.claude.samples import SAMPLES

    assert set(SAMPLES) == set(abilities.WANTED)
