"""YAML files as people have them, in three parts: before the section, the section, after it."""

from typing import NamedTuple

from hypothesis import strategies as st

from standfast.formats.yaml_writer import write

KEY = "resumption"
BOM = "\ufeff"

# Entries of the top level; `K` is a key of their own.
ENTRIES = [
    "K: plain words\n",
    "K: 'it''s' # said\n",
    'K: "a: b # no" \t#\ttabs\there\n',
    "K:\n",
    "K: [1, 2, # two\n  {a: b}, ]\n",
    "K: {a: 1,\n\n  resumption: [x, y]}\n",
    "K:\n  a: 1\n  # inside\n  resumption:\n    - x\n    -\n",
    "K:\n- a\n- b: 1\n  c: 2\n",
    "K: multi\n  line plain\n",
    'K: "multi\n  line"\n',
    "K: &K {a: 1}\nK_2: *K\n",
    "K: &K\n  a: 1\nK_2:\n  <<: *K\n  b: 2\n",
    "? K\n: value\n",
    "K: !!str 12\n",
    "'K': 2026-01-01\n",
    "K: \u00e9 \u202e \U0001f600\n",
]
TEXT_BLOCKS = [
    "K: |\n  text: not a key\n  # no comment\n\n  resumption: 1\n",
    "K: >-\n    folded\n    text\n\n",
    "K: |+\n  kept\n\n\n",
]
SECTIONS = [
    "resumption:\n",
    "resumption: null # soon\n",
    "resumption: {a: 1,\n  b: [2]} # end\n",
    "'resumption': [x]\n",
    '"resumption":\n- a\n-\n',
    "resumption: multi\n  line\n",
    "resumption:\n  a: &in {x: 1}\n  b: *in\n",
    "resumption: &own {a: 1}\n",
    "resumption:\n  a:\n  ? b\n",
    "resumption:  # living\n    # one\n    a: {x: 1} # two\n\n    # three\n    b:\n    - x\n",
    "resumption:\n a: 'x'\n b: >-\n  folded\n c: 3\n",
]
SECTIONS_OF_TEXT = ["resumption: |\n  text\n", "resumption:\n  a: >-\n    folded\n    more\n"]
GAPS = ["", "\n", "# said\n", "# resumption: no\n\n#\ttab\n", "\n\n# \u00e9\n"]
GAPS_BEHIND_TEXT = ["# said\n", "\n\n# said\n"]  # what is further in would be more of the text
WIDE_GAPS = [*GAPS, "  # further in\n", "   \n", "        # far in\n\n"]
HEADS = ["", "# head\n", "---\n", "--- # document\n", "%YAML 1.1\n# said\n---\n\n"]
TAILS = ["", "", "...\n", "... # end\n", "...\n# after\n"]
PAD = "pad_K: {status: COMPLETE, score: 0.93, note: 'some words that take room'}  # done\n"

WORDS = st.sampled_from(["PASS. No blockers.", "no", "CP-001", "a: b # c", "\u00e9\n", "", "12:30"])
LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(0, 1) | WORDS
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcde"), inner, max_size=4)
    ),
    max_leaves=8,
)


class Made(NamedTuple):
    """A file, and whether it has the section at all."""

    before: str
    section: str
    after: str
    line_end: str = "\n"
    indent: int = 0

    @property
    def text(self) -> str:
        return self.before + self.section + self.after


@st.composite
def _entries(draw: st.DrawFn, prefix: str, *, most: int) -> str:
    forms = draw(st.lists(st.sampled_from(ENTRIES + TEXT_BLOCKS), max_size=most))
    keyed = (form.replace("K", f"{prefix}{number}") for number, form in enumerate(forms))
    return "".join(draw(st.sampled_from(WIDE_GAPS)) + form for form in keyed)


def _moved(text: str, indent: int) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(" " * indent + line if line.strip() else line for line in lines)


def _padded(size: int) -> str:
    return "".join(PAD.replace("K", str(number)) for number in range(size // len(PAD)))


@st.composite
def block_documents(
    draw: st.DrawFn,
    sizes: tuple[int, ...] = (0, 0, 0, 1_000),
    has_section: st.SearchStrategy[bool] = st.sampled_from([True, True, False]),  # noqa: B008  # it holds no state
) -> Made:
    """Keys and values on lines, with anything between them; the section anywhere or nowhere."""
    size, indent = draw(st.sampled_from(sizes)), draw(st.sampled_from([0, 0, 2]))
    own = st.sampled_from(SECTIONS) | VALUES.map(lambda value: write({KEY: value}))
    of_text = st.sampled_from(SECTIONS_OF_TEXT)
    section = draw(st.one_of(own, own, of_text)) if draw(has_section) else ""
    above, below = _padded(draw(st.sampled_from([0, size]))), _padded(size).replace("pad", "more")
    before = draw(_entries("a", most=3)) + above + draw(st.sampled_from(GAPS))
    close = GAPS_BEHIND_TEXT if section in SECTIONS_OF_TEXT else WIDE_GAPS
    after = draw(st.sampled_from(close)) + below + draw(_entries("b", most=3))
    after += draw(st.sampled_from(GAPS)) if after else ""
    says = any(line.strip()[:1] not in ("", "#") for line in (before + after).splitlines())
    head, tail = draw(st.sampled_from(HEADS)), draw(st.sampled_from(TAILS))
    parts = [head + _moved(before, indent), _moved(section, indent), _moved(after, indent)]
    if not section:
        parts = [parts[0] + parts[2], "", ""]
    parts[2] += tail
    if draw(st.booleans()):
        parts = _torn(parts)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    before, section, after = (part.replace("\n", end) for part in parts)
    before = draw(st.sampled_from(["", BOM])) + before
    if not says:
        indent = 0
    if end not in before + section + after:
        end = "\n"
    return Made(before, section, after, end, indent)


def _torn(parts: list[str]) -> list[str]:
    """Without the last line end, unless a text block would lose its own."""
    last = max((at for at, part in enumerate(parts) if part), default=0)
    if not {"|", ">"} & set("".join(parts)):
        parts[last] = parts[last].removesuffix("\n")
    return parts


FLOW_ENTRIES = [
    "K: 1",
    "\"K\": 'x'",
    "K: [1, {resumption: b}]",
    "K",
    "K: ",
    "? K : v",
    "K: &K {a: 1}",
]
FLOW_SECTIONS = [
    "resumption: {a: 1}",
    "'resumption': [\n1]",
    "resumption",
    "resumption:",
    "resumption: x",
]
FLOW_GAPS = ["", " ", "\n", " # a, b: c\n", "\n\t\n  # d\n "]


@st.composite
def flow_documents(draw: st.DrawFn) -> Made:
    """The whole file in one pair of braces."""
    forms = draw(st.lists(st.sampled_from(FLOW_ENTRIES), max_size=3))
    items = [form.replace("K", f"k{number}") for number, form in enumerate(forms)]
    at = draw(st.integers(0, len(items)))
    section = draw(st.sampled_from(["", *FLOW_SECTIONS]))
    gap = st.sampled_from(FLOW_GAPS)
    before = "".join(f"{draw(gap)}{item}{draw(gap)}," for item in items[:at])
    after = "".join(f",{draw(gap)}{item}{draw(gap)}" for item in items[at:])
    if not section:
        before, after = before.removesuffix(",") + (after if at else after[1:]), ""
    trailing = draw(st.sampled_from(["", ","])) if items or section else ""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    parts = ["{" + before + draw(gap), section, draw(gap) + after + trailing + draw(gap) + "}\n"]
    if not section:
        parts = ["".join(parts), "", ""]
    before, section, after = (part.replace("\n", end) for part in parts)
    return Made(before, section, after, end)
