r"""What announces a value: a name and what ties a value to it, up to where the value begins.

Between the two may stand a type, a tag, an anchor, a comment, a line break or the opening of a
bracket: all of that belongs to the head, so that the value is looked for behind it. A quote may
carry backslashes and a line break may be `\n`, since the text may be JSON inside JSON.
"""

import re

QUOTE = r"\\{0,7}[\"'`]"
_QUOTED_END = rf"(?:{QUOTE})?"
BREAK = r"(?:\r?\n|\\+r\\+n|\\+n)"
PREFIX = rf"(?:[rbfuRBFUL]{{0,2}}\$?(?={QUOTE}))"
# A type between the name and its value, as in `password: str | None = "..."`.
_TYPE = (
    r"(?:\[\d{0,6}\][ \t]{0,4})?"
    r"(?::[ \t]{0,4}(?:&(?:'\w{1,20}[ ])?(?:mut[ ])?)?(?:[A-Za-z.]{1,20}[\[<]&?)?"
    r"(?:str|string|String|bytes|SecretStr|Final|Any)\b[\]>]?(?:[ ]?\|[ ]?\w{1,20})?[ \t]{0,4}(?==)"
    r"|[ \t]{1,4}string[ \t]{1,4}(?==))?"
)
_TWO_WORDS = r"(?:(?i:api|access|private|account|auth|signing|encryption|connection)[ ])?"
# What YAML and Python let stand before a value; a password of its own may begin like an anchor.
_PROPERTY = (
    r"(?:(?<=:[ ])(?:(?:&[\w\-]{1,64}|!{1,2}[A-Za-z][\w.\-/]{0,64})[ \t]{1,8}(?=[^\s#\\])"
    r"|!![a-z]{1,64}(?=[\r\n\\])){1,2})?"
)
_ABOVE = r"(?:[&!][^\s\\]{1,64}[ \t]{0,8}){0,2}"
_BLOCK = (
    r"(?P<block>[|>][+\-\d]{0,2}[ \t]{0,8}(?:#[^\r\n\\]{0,200})?"
    rf"(?:{BREAK}[ \t]{{0,40}}){{1,3}})?"
)
_CONTINUED = r"(?:\\{1,8}\r?\n[ \t]{0,40}|\\{2,8}n[ \t]{0,40}(?=\\*[\"']))?"

ASSIGNED = re.compile(
    r"(?<![\w.$\-])(?P<name>" + _TWO_WORDS + rf"[\w.$\-]++)(?:{QUOTE}\]?)?[ \t]{{0,8}}"
    rf"{_TYPE}(?:(?::=|=>|\?=|[:=])(?!=)|(?:\|\||\?\?)(?=[ ]?{QUOTE}))"
    rf"(?P<gap>[ \t]{{0,8}}{_PROPERTY}{_BLOCK}{_CONTINUED}){PREFIX}?",
    re.ASCII,
)
# The same with a type that we do not know, before a quoted value.
TYPED = re.compile(
    r"(?<![\w.$\-])(?P<name>[\w$]++)[ \t]{0,4}:[ \t]{0,4}[&A-Za-z][\w.<>\[\]&|' ]{0,60}[ ]="
    rf"(?P<gap>[ ]){PREFIX}(?={QUOTE})",
    re.ASCII,
)
FLAG = re.compile(
    rf"(?<![\w\-])(?P<name>--?[A-Za-z][\w\-]*+){_QUOTED_END}(?P<gap>[ \t,]{{1,8}})(?!-)", re.ASCII
)
SPACED = re.compile(
    r"(?:#define|(?:\b|(?<=\\[nrt])|(?<=\dm))(?:ENV|setx?(?:[ \t]-\w{1,3})?|setenv))[ \t]{1,4}"
    r"(?P<name>[\w.\-]++)"
    r"(?P<gap>[ \t]{1,8})(?![=:])",
    re.ASCII,
)
PAIR = re.compile(
    rf"\bname{_QUOTED_END}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTED_END}(?P<name>[\w.\-]++){_QUOTED_END}"
    rf"(?:[\s,]|\\+[nrt]){{1,24}}{_QUOTED_END}value{_QUOTED_END}"
    r"[ \t]{0,4}[:=](?P<gap>[ \t]{0,4})",
    re.ASCII,
)
# `getenv("DB_PASSWORD", "...")`, `define('DB_PASSWORD', '...')`: a name in capitals, or one that
# is given to what keeps names and values.
CALLED = re.compile(
    rf"(?:(?i:env|define|get_?property|set_?property|header)\("
    rf"[ \t]{{0,4}}{QUOTE}(?P<name>[\w.\-]++)"
    rf"|\([ \t]{{0,4}}{QUOTE}(?P<capitals>[A-Z][A-Z0-9_]++)){QUOTE}[ \t]{{0,4}}"
    rf"(?P<gap>,[ \t]{{0,8}}){PREFIX}(?={QUOTE})",
    re.ASCII,
)
# What wraps a string without changing whose it is: `SecretStr("...")`, `Field(default="...")`.
WRAPPED = re.compile(
    r"(?<![\w.$\-])(?P<name>[\w.$\-]++)" + rf"(?:{QUOTE}\]?)?[ \t]{{0,8}}{_TYPE}(?::=|[:=])(?!=)"
    r"(?P<gap>[ \t]{0,8})(?:new[ ])?(?:[A-Za-z_]\w{0,40}(?:\.|::)){0,3}"
    r"(?:Secret\w{0,10}|Secure\w{0,10}|Some|from|from_str|b64decode|fromhex|unhexlify"
    r"|(?:Field|field)\([^()\r\n]{0,120}?\bdefault=|(?:Field|field)|Buffer|bytes|Bytes)"
    rf"(?:(?<==)|\()[ \t]{{0,4}}{PREFIX}(?={QUOTE})",
    re.ASCII,
)
# `password:` and below it the value, as YAML has it: each alone on its line.
BELOW = re.compile(
    rf"(?:^|\\n|[\"']|\[\d{{1,3}}m)[ \t]{{0,40}}(?:-[ \t])?"
    rf"{_QUOTED_END}(?P<name>[\w.\-]++){_QUOTED_END}:[ \t]{{0,4}}{_ABOVE}(?:#[^\r\n\\]{{0,200}})?"
    rf"(?P<gap>(?:{BREAK}[ \t]{{0,40}}){{1,3}}){_PROPERTY}"
    r"(?=[^\s:(\[{#\\`]+(?:\s|\\|$))(?!-[ \t])",
    re.ASCII | re.MULTILINE,
)
# A bracket that opens before more than a name, and the dash of a list below it.
SEVERAL = re.compile(
    rf"(?<![\w.$\-])(?P<name>[\w.\-]++){_QUOTED_END}[ \t]{{0,4}}{_TYPE}(?:=>|:=|[:=])(?!=)"
    rf"(?P<gap>[ \t]{{0,8}}{_PROPERTY}(?:dict[ \t]?\(|[\[({{]"
    rf"|(?:#[^\r\n\\]{{0,200}})?(?:{BREAK}[ \t]{{0,40}}){{1,3}}-[ \t]))(?!redacted:)",
    re.ASCII,
)
ELEMENT = re.compile(r"<(?P<name>[\w.:\-]++)[^<>]{0,80}>(?P<gap>)(?=[^<>\r\n]{1,400}</)", re.ASCII)
HEADS = (SEVERAL, WRAPPED, CALLED, BELOW, TYPED, ASSIGNED, FLAG, SPACED, PAIR, ELEMENT)


def name_of(found: re.Match[str]) -> str:
    """The name of a head."""
    return found["name"] or found["capitals"]
