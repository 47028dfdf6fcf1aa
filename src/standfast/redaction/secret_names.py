"""Which names announce a secret, and which values are plainly none: `$VAR`, `<token>`, `***`."""

from standfast.redaction.redactor import MASK, squeeze

# Two words, whatever stands between them. The first that fits gives the kind.
_COMPOUNDS = (
    ("connectionstring", "connection-string"),
    ("connstr", "connection-string"),
    ("apikey", "api-key"),
    ("privatekey", "private-key"),
    ("sshkey", "private-key"),
    ("clientkey", "private-key"),
    ("deploykey", "private-key"),
    ("accesskey", "access-key"),
    ("accountkey", "access-key"),
    ("authkey", "access-key"),
    ("signingkey", "access-key"),
    ("encryptionkey", "access-key"),
    ("masterkey", "access-key"),
    ("sharedkey", "access-key"),
    ("sessionkey", "access-key"),
    ("servicekey", "access-key"),
    ("licensekey", "access-key"),
    ("hmackey", "access-key"),
)

# Wherever in the name they stand.
_ANYWHERE = (
    ("passw", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("secret", "secret"),
    ("credential", "credential"),
)

# At the end of the name only: `tokens`, `tokenizer` and `token_count` are no secrets.
_AT_THE_END = (
    ("token", "token"),
    ("token_value", "token"),
    ("pwd", "password"),
    ("authorization", "authorization"),
    ("cookie", "cookie"),
    ("cookies", "cookie"),
    ("dsn", "connection-string"),
)

# A name that ends so speaks about a secret and does not hold it.
_ABOUT = (
    *("count", "counts", "length", "limit", "policy", "reset", "file", "filename", "path", "dir"),
    *("name", "names", "type", "types", "field", "fields", "url", "uri", "expiry", "expires"),
    *("expiresat", "expiresin", "ttl", "version", "required", "enabled", "stdin", "manager"),
    *("provider", "helper", "store", "scanning", "scanner", "detection", "strength", "label"),
    *("hint", "prompt", "input", "form", "page", "regex", "pattern", "patterns", "rules", "less"),
    *("rotation", "env", "keyid", "credentialid", "createdat", "updatedat", "ref", "refs", "arn"),
)

# Tokens of a text, a page, a model: pieces, not passes.
_PIECES = (
    *(
        "next",
        "page",
        "pad",
        "eos",
        "bos",
        "unk",
        "stop",
        "output",
        "input",
        "prompt",
        "completion",
    ),
    *("cached", "reasoning", "start", "end", "special", "mask", "sep", "cls", "last", "first"),
    *("prev", "previous", "current", "cur", "peek", "eof", "newline", "per", "bad", "unexpected"),
)
_PAGING = tuple(f"{piece}token" for piece in _PIECES)

_MANY = ("secrets", "credentials", "cookies", "passwords", "tokens")

_NOT_BEFORE_PASS = ("first", "second", "third", "one", "two", "multi", "single", "tests", "all")

# What stands where a value is missing, wanted or described; whole values, lower-case.
_EMPTY_WORDS = frozenset(
    (
        *("null", "none", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "nan"),
        *("example", "placeholder", "redacted", "hidden", "masked", "removed", "unset", "empty"),
        *("required", "optional", "missing", "invalid", "expired", "string", "str", "bytes", "int"),
        *("number", "boolean", "bool", "any", "object", "text", "char", "void", "unknown", "todo"),
        *("tbd", "n/a", "secretstr", "password", "token", "secret", "ok", "fail", "failed", "self"),
        *("%s", "%r", "{}", "must", "should", "is", "the", "your", "for", "to", "and", "or", "a"),
        *("not", "with", "from", "in", "if", "when", "was", "has", "instead", "flag", "option"),
        *("options", "argument", "arguments", "parameter", "parameters", "expected", "got"),
    )
)

CLOSERS = ")]}>.,:"  # what may follow a value, and so a marker in its place
_RANDOM_LENGTH = 12
_MASK_LENGTH = 3


def kind_of_name(name: str) -> str | None:
    """The kind of secret that stands under *name*, or None for an ordinary name."""
    lower = name.lower().rstrip("0123456789")
    flat = squeeze(lower)
    if flat.endswith((*_ABOUT, *_PAGING)):
        return None
    for part, kind in _COMPOUNDS if "key" in lower or "conn" in lower else ():
        if part in flat:
            return kind
    for part, kind in _ANYWHERE:
        if part in lower:
            return kind
    for end, kind in _AT_THE_END:
        if lower.endswith(end):
            return kind
    return _kind_of_short_name(name)


def _kind_of_short_name(name: str) -> str | None:
    """`auth` and `DB_PASS`: too short to be looked for inside a longer word."""
    lower = name.lower().lstrip("_-.")
    if lower in {"auth", "pass"}:
        return "auth" if lower == "auth" else "password"
    before = lower.removesuffix("pass")
    is_a_word = before != lower and (before[-1] in "_-. " or name.endswith("Pass"))
    return (
        "password" if is_a_word and not before.rstrip("_-. ").endswith(_NOT_BEFORE_PASS) else None
    )


def kind_of_flag(word: str) -> str | None:
    """The kind of secret that follows *word* on a command line."""
    return kind_of_name(word) if word.startswith("-") and "=" not in word else None


def holds_many(name: str) -> bool:
    """Whether everything below *name* is secret, and not only a string right under it."""
    return squeeze(name.lower()).endswith(_MANY)


def is_marker(value: str) -> bool:
    """Whether *value* was redacted before; closing brackets may follow."""
    if not value.startswith(MASK):
        return False
    kind, end, rest = value[len(MASK) :].partition("]")
    return bool(end) and kind.replace("-", "").isalnum() and not rest.strip(CLOSERS)


def is_placeholder(value: str) -> bool:
    """Whether *value* stands for a secret without being one."""
    bare = value.strip()
    return (
        not bare
        or bare.lower() in _EMPTY_WORDS
        or not bare.strip("*.…-_?#")
        or (len(bare) >= _MASK_LENGTH and not bare.strip("xX*-"))
        or is_marker(bare)
        or _is_reference(bare)
    )


def _is_reference(bare: str) -> bool:
    name = bare.strip("${}()%<> ")
    if bare[0] == "$":
        return name.replace("_", "").isalnum() or bare[1:2] == "("
    pairs = (("<", ">"), ("{", "}"), ("%", "%"), ("[", "]"))
    return any(bare[0] == left and bare[-1] == right for left, right in pairs) and (
        name.replace("_", "").replace("-", "").replace(" ", "").replace(".", "").isalpha()
    )


def looks_random(value: str) -> bool:
    """Whether *value* looks drawn by lot: long, without spaces, letters mixed with other things."""
    body = value.rstrip("=")
    has_upper = body != body.lower()
    has_lower = body != body.upper()
    has_digit = any(char.isdigit() for char in body)
    return (
        len(value) >= _RANDOM_LENGTH
        and not any(char.isspace() for char in body)
        and has_upper + has_lower + has_digit > 1
    )
