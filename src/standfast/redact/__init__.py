"""The one door through which text leaves for a disk: secrets are replaced by `[redacted:KIND]`.

Hooks import this module in a bare interpreter, so it imports nothing itself. A prefilter of
plain substrings decides whether the regular expressions are loaded at all; what it lets pass
is written as it is, so it must hit on everything that `redact` would change, also when the
text is JSON and its quotes and line breaks are escaped.
"""

# A pass may lay bare a boundary that hid a second secret; more than a few never happens.
_PASSES = 4

# Prefixes of provider keys, which all mind their case; one stands for all that contain it.
_EXACT = (
    *("gsk_", "xai-", "pplx-", "AIza", "GOCSPX-", "ya29.", "1//0", "AKIA", "ASIA", "Q~"),
    *("hf_", "r8_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "_pat_", "glpat-", "glsa_", "gldt-"),
    *("xox", "xapp-", "hooks", ":AA", "SG.", "key-", "npm_", "k_live_", "k_test_", "whsec_"),
    *("pypi-", "_v1_", "HRKU-", "dapi", "dp.", "lin_", "ntn_", "hvs.", "hvb.", "hvr.", "shp"),
    *("sntry", "ATATT3", "eyJ", "LS0tLS1CRUdJTiB"),
)
_SHORTEST_KEY = 16  # no key of theirs has fewer characters in one piece
_PROVIDERS = ("heroku", "cloudflare", "twilio", "mailgun")

# Words too common to be told apart without what follows or precedes them.
_PASS = ("passw", "passp", "passc", "_pass", "-pass", ".pass", "sshpass")
_SK = ("sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-")

# Names of two words, looked for with whatever stands between the words taken out.
_COMPOUNDS = (
    *("apikey", "accesskey", "privatekey", "accountkey", "authkey", "signingkey", "sshkey"),
    *("encryptionkey", "masterkey", "sharedkey", "clientkey", "sessionkey", "servicekey"),
    *("licensekey", "hmackey", "deploykey", "connectionstring", "connstr"),
)

_QUOTES = 24
_HEX = "0123456789abcdef"
_DISCORD_MIDDLE = 6
_LONG_USER = 20


def might_hold_secret(text: str) -> bool:
    """Whether *text*, plain or as JSON, holds anything that `redact` could want to change."""
    lower = text.lower()
    return (
        _holds_name(lower)
        or _holds_common_word(lower)
        or _holds_key_with_blanks(text)
        or ("@" in text and "://" in text and _holds_user_info(text))
        or (_has_long_word(text) and _holds_key(text, lower))
    )


def _holds_name(lower: str) -> bool:
    """Names that stand before a secret. Spelled out: a loop over them takes twice as long."""
    return (
        "secret" in lower
        or "token" in lower
        or "credential" in lower
        or "cookie" in lower
        or "bearer" in lower
        or "authorization" in lower
        or "pwd" in lower
        or "dsn" in lower
        or "mysql" in lower
        or "curl" in lower
    )


def _holds_key_with_blanks(text: str) -> bool:
    """Keys that may hold blanks or `/`: a rare character is looked for before each of them."""
    return (
        ("P" in text and ("PRIVATE KEY" in text or "Private-Lines" in text))
        or ("=" in text and ("sig=" in text or "ignature=" in text))
        or ("+" in text and "+ASt" in text)
    )


def _has_long_word(text: str) -> bool:
    """Most texts are words and paths, none as long as a key: one split saves fifty searches."""
    words = text.replace('"', " ").replace("/", " ").split(" ")
    return max(map(len, words)) >= _SHORTEST_KEY


def _holds_key(text: str, lower: str) -> bool:
    return (
        any(map(text.__contains__, _EXACT))
        or any(map(lower.__contains__, _PROVIDERS))
        or _holds_shape(text)
    )


def redact(text: str) -> str:
    """*text* with every secret replaced by `[redacted:KIND]`, and not a byte else changed."""
    for _ in range(_PASSES):
        if not might_hold_secret(text):
            return text
        cleaned = _one_pass(text)
        if cleaned == text:
            return text
        text = cleaned
    return text


def redact_value(value: object) -> object:
    """A JSON-like *value* with its strings redacted, those under secret-looking keys wholly."""
    from standfast.redact.values import walk  # with what it needs, on a hit only

    return walk(value, None, 0)


def squeeze(lower: str) -> str:
    """A lower-case name without what people put between its words."""
    return lower.replace("_", "").replace("-", "").replace(".", "").replace(" ", "")


def _one_pass(text: str) -> str:
    from standfast.redact.patterns import redact_once  # loads `re`, so on a hit only

    return redact_once(text)


def _holds_common_word(lower: str) -> bool:
    return (
        ("pass" in lower and (any(part in lower for part in _PASS) or _assigns(lower, "pass")))
        or ("auth" in lower and _assigns(lower, "auth"))
        or (("key" in lower or "conn" in lower) and _holds_compound(lower))
    )


def _assigns(lower: str, word: str) -> bool:
    """Whether *word* ends a name that is given a value, whatever quotes stand around the name."""
    at = lower.find(word)
    while at >= 0:
        at += len(word)
        if lower[at : at + _QUOTES].lstrip("\\\"' \t")[:1] in {"=", ":"}:
            return True
        at = lower.find(word, at)
    return False


def _holds_compound(lower: str) -> bool:
    squeezed = squeeze(lower)
    return any(compound in squeezed for compound in _COMPOUNDS)


def _holds_shape(text: str) -> bool:
    """Whether a secret without a telling prefix may be here: each guard is one substring test."""
    return (
        ("sk-" in text and (any(key in text for key in _SK) or _starts_a_word(text, "sk-")))
        or ("SK" in text and _holds_twilio_key(text))
        or (text.count(".") > 1 and _holds_discord_token(text))
    )


def _starts_a_word(text: str, prefix: str) -> bool:
    at = text.find(prefix)
    while at >= 0:
        if _ends_a_word(text[max(at - 6, 0) : at]):
            return True
        at = text.find(prefix, at + 1)
    return False


def _ends_a_word(before: str) -> bool:
    r"""Whether a word may begin after *before*, which may end in an escape: \n, %3D, ESC[31m."""
    last = before[-1:]
    return (
        not (last.isascii() and last.isalnum())
        or before[-2:-1] == "\\"
        or before[-3:-2] == "%"
        or before.startswith("\\u")
        or (last == "m" and ("[" in before[-4:] or ";" in before[-4:]))
    )


def _holds_user_info(text: str) -> bool:
    for chunk in text.split("://")[1:]:
        user, at, _ = chunk[:1024].partition("@")
        if at and (":" in user or len(user) >= _LONG_USER):
            return True
    return False


def _holds_twilio_key(text: str) -> bool:
    for chunk in text.split("SK")[1:]:
        digits = chunk[:32]
        if len(digits) == 32 and not digits.strip(_HEX):  # noqa: PLR2004 - the key's length
            return True
    return False


def _holds_discord_token(text: str) -> bool:
    return any(len(part) == _DISCORD_MIDDLE for part in text.split(".")[1:-1])
