r"""The regular expressions behind `redact`, loaded only when its prefilter has hit.

Every expression runs in linear time: what repeats without a bound is either the last thing
in its expression or can begin at one place of a run only. Text may be JSON inside JSON, so a
word may begin right after an escape (`\n`, `\u001b`, `%3D`) and a quote may carry backslashes.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from standfast.redaction.assignments import assignments
from standfast.redaction.private_keys import private_keys
from standfast.redaction.redactor import SHORT
from standfast.redaction.secret_flags import commands, shape
from standfast.redaction.secret_formats import Format, characters, formats
from standfast.redaction.secret_names import is_placeholder, looks_random

# Where a word may begin: also after an escaped line break, a percent code or a colour code.
_START = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\[\dm)|(?<=[\[;]\d\dm)|(?<=;\dm))"
)
_END = r"(?![A-Za-z0-9])"
_GAP = r"(?:\s|\\+[nrt])"
_USER = r"(?:\[redacted:[a-z\-]+\]|[^\s/@:\"'<>\\\[]{0,128})"
_TELLING = 5  # so many characters of a literal stand nowhere else
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


class Rule(NamedTuple):
    """One shape of secret: tried only if a hint is in the text; group `s`, if any, is cut."""

    kind: str
    hints: tuple[str, ...]
    shape: str
    flags: re.RegexFlag
    accepts: Callable[[str], bool]


def _always(_secret: str) -> bool:
    return True


def _is_no_reference(secret: str) -> bool:
    return not is_placeholder(secret)


def _is_no_address(secret: str) -> bool:
    """Whether it is no rest of an address such as `2001:db8::1`."""
    is_address = ":" in secret and not secret.lower().strip("0123456789abcdef:.)`'")
    return not is_address and not is_placeholder(secret)


def _is_not_hex(secret: str) -> bool:
    return bool(secret.strip("0123456789abcdef"))


def _mixes_letters_and_digits(secret: str) -> bool:
    return any(char.isdigit() for char in secret) and any(char.isalpha() for char in secret)


def _rule(kind: str, hints: str, shape: str, *, accepts: Callable[[str], bool] = _always) -> Rule:
    flags = re.ASCII | re.IGNORECASE if hints.startswith("?") else re.ASCII
    return Rule(kind, tuple(hints.lstrip("?").split()), shape, flags, accepts)


def _holds_digit(secret: str) -> bool:
    return any(char.isdigit() for char in secret)


def _prefixed(each: Format) -> Rule:
    """A literal and what follows it; a short one only where a word may begin."""
    made = characters(each.alphabet)
    start = "" if all(map(_is_telling, each.literals)) else _START
    shape = f"{start}(?:{'|'.join(map(re.escape, each.literals))}){made}{{{each.lengths[0]},}}"
    is_common = any(literal.encode() in SHORT for literal in each.literals)
    accepts = _holds_digit if is_common else looks_random
    return Rule(each.name, each.literals, shape, re.ASCII, accepts)


def _is_telling(literal: str) -> bool:
    return len(literal) >= _TELLING or literal.startswith("gh")


def _named(each: Format) -> Rule:
    """A key that stands beside the name of whose it is: as a value, and as long as it must be."""
    made = characters(each.alphabet)
    beginning = f"(?:{'|'.join(map(re.escape, each.beginnings))})"
    sizes = "|".join(f"{made}{{{length}}}" for length in reversed(each.lengths))
    shape = (
        rf"(?:{'|'.join(map(re.escape, each.words))})[\w .\-]{{0,24}}"
        rf"(?:\\{{0,7}}[\"'`]\]?)?[ \t]{{0,4}}(?::=|=>|[:=,>])[ \t]{{0,4}}(?:\\{{0,7}}[\"'`])?"
        rf"(?-i:(?P<s>{beginning}(?:{sizes})))(?![A-Za-z0-9_\-+/])"
    )
    return Rule(each.name, each.words, shape, re.ASCII | re.IGNORECASE, _mixes_letters_and_digits)


# Hints that begin with `?` are looked for in any case, and so is the shape.
_RULES = (
    _rule("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_\-]{10,}"),
    _rule("openai-key", "sk-", _START + r"sk-(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,}"),
    _rule("google-oauth", "1//0", _START + r"1//0[A-Za-z0-9_\-]{30,}"),
    _rule(
        "aws-secret",
        "AKIA ASIA ABIA ACCA",
        r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}[\s,:;|\"'\\]{1,8}(?P<s>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _rule("aws-key", "AKIA ASIA ABIA ACCA", _START + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}" + _END),
    _rule("azure-key", "+ASt", r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{6}=="),
    _rule("azure-secret", "Q~", r"[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{30,40}"),
    _rule(
        "url-signature",
        "sig= ignature=",
        r"(?:[?&;]|0026)(?:sig|X-(?:Amz|Goog)-Signature|Signature)=(?P<s>[A-Za-z0-9%+/=_~\-]{20,})",
    ),
    _rule(
        "slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/[a-z]+/(?P<s>[A-Za-z0-9/_]{16,})"
    ),
    _rule(
        "teams-webhook",
        "webhookb2",
        r"webhook\.office\.com/webhookb2/(?P<s>[0-9a-f\-]{36}@[0-9a-f\-]{36}/IncomingWebhook/[\w\-/]{32,200})",
    ),
    _rule("airtable-token", "pat", _START + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _END),
    _rule("mailchimp-key", "-us", _START + r"[0-9a-f]{32}-us\d{1,2}" + _END),
    _rule("gitlab-session", "_gitlab_session=", r"_gitlab_session=(?P<s>[0-9a-z]{32})"),
    _rule(
        "ngrok-token",
        "authtoken",
        r"authtoken[ \t]{1,4}\\{0,7}[\"']?(?P<s>\w{40,80})",
        accepts=looks_random,
    ),
    _rule("discord-webhook", "/api/webhooks/", r"/api/webhooks/\d+/(?P<s>[A-Za-z0-9_\-]{20,})"),
    _rule(
        "discord-token",
        ".",
        _START + r"[MNO][A-Za-z0-9_\-]{22,28}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,}",
    ),
    _rule("telegram-token", ":AA", r"(?<!\d)\d{8,10}:(?P<s>AA[A-Za-z0-9_\-]{30,})"),
    _rule("twilio-key", "SK", _START + r"SK[0-9a-f]{32}" + _END),
    _rule("twilio-token", "?twilio", r"twilio[^\r\n]{0,60}?\b(?P<s>[0-9a-f]{32})\b"),
    _rule("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_\-]{16,80}\.[A-Za-z0-9_\-]{16,}"),
    _rule("mailgun-key", "key-", _START + r"key-[0-9a-f]{32}" + _END),
    _rule(
        "mailgun-key",
        "?mailgun",
        r"mailgun[^\r\n]{0,60}?\b(?P<s>[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})\b",
    ),
    _rule("heroku-key", "?heroku", r"heroku[^\r\n]{0,60}?\b(?P<s>" + _UUID + r")\b"),
    _rule(
        "cloudflare-token",
        "?cloudflare",
        r"cloudflare[^\r\n]{0,60}?(?<![A-Za-z0-9_\-])(?P<s>[A-Za-z0-9_\-]{40}|[0-9a-f]{37})"
        r"(?![A-Za-z0-9_\-])",
        accepts=lambda secret: len(secret) == len("0" * 37) or _is_not_hex(secret),
    ),
    _rule("azure-devops-token", "AZDO", _START + r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}" + _END),
    _rule("terraform-token", "atlasv1", _START + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{50,}"),
    _rule("maxmind-key", "_mmk", _START + r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk" + _END),
    _rule("private-key", "LS0tLS1CRUdJTiB", r"LS0tLS1CRUdJTiB(?!DRVJU)[A-Za-z0-9+/]{20,}={0,2}"),
    _rule(
        "jwt",
        "eyJ",
        _START.replace("A-Za-z0-9]", r"A-Za-z0-9_\-]", 1)
        + r"eyJ[A-Za-z0-9_\-]{8,}+\.[A-Za-z0-9_\-]{8,}+(?:\.[A-Za-z0-9_\-]*)*",
    ),
    _rule(
        "bearer-token",
        "?bearer",
        r"\bbearer[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/\-]{16,}=*)",
        accepts=looks_random,
    ),
    _rule(
        "credential",
        "?auth",
        r"(?<![A-Za-z0-9])auth(?:\\{0,7}[\"'])?[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,7}[\"'])?"
        r"(?P<s>[A-Za-z0-9+/]{12,}+={0,2})(?![(\[.])",
        accepts=looks_random,
    ),
    _rule(
        "password",
        "://",
        "://" + _USER + r":(?P<s>[^\s/\"'<>\\]{1,512})@",
        accepts=_is_no_reference,
    ),
    _rule(
        "password",
        "://",
        r"(?<!http)(?<!https)://" + _USER + r":(?P<s>(?!\d+/)[^\s\"'<>\\@]{1,256})@",
        accepts=_is_no_reference,
    ),
    _rule("url-token", "://", r"://(?P<s>[A-Za-z0-9_\-]{20,256})@", accepts=looks_random),
    _rule(
        "password",
        "curl",
        r"(?<=[\s\"'])(?:-u|--user|--proxy-user)(?:\\{0,7}[\"'],)?[\s=]?\\{0,7}[\"']?"
        r"(?!\d+:\d)[^\s:\"'$\\]{1,64}:(?P<s>[^\s\"'\\]{1,256})",
        accepts=_is_no_reference,
    ),
    _rule(
        "password",
        "mysql sshpass",
        _START + r"(?:mysql(?:dump|admin)?(?:[ \t]{1,4}[^\s|;&]{1,80}){0,8}?[ \t]{1,4}-p"
        r"|sshpass[ \t]+-p[ \t]*)"
        r"\\{0,7}[\"']?(?P<s>[^\s\"'\\]{1,256})",
        accepts=_is_no_reference,
    ),
    _rule(
        "password",
        "?login machine",
        r"\b(?:login|machine)"
        + _GAP
        + r"{1,4}[^\s\\]{1,128}"
        + _GAP
        + r"{1,8}password"
        + _GAP
        + r"{1,4}(?P<s>[^\s\"'\\]{1,256})",
        accepts=_is_no_reference,
    ),
    _rule(
        "password",
        "?identified password",
        _START + r"(?:identified[ \t]{1,4}(?:with[ \t]{1,4}[\w\"'`]{1,64}[ \t]{1,4})?by"
        r"|(?:with|role|user|set|for|encrypted)\b[^\r\n;:=]{0,120}?(?:=[ \t]{0,4})?\bpassword)"
        r"(?:[ \t]{1,4}|[ \t]{0,4}=?[ \t]{0,4}(?:password)?\()"
        r"\\{0,7}[\"'](?P<s>[^\r\n\"'\\]{1,512})",
        accepts=_is_no_reference,
    ),
    *(
        _rule(
            "password",
            "htpasswd",
            rf"{_START}htpasswd(?=[^\r\n]{{0,60}}?[ \t]-\w{{0,8}}b){flags}"
            rf"(?:[ \t]{{1,4}}[^\s|;&\\\-][^\s|;&\\]{{0,200}}){{{words}}}"
            r"[ \t]{1,4}\\{0,7}[\"']?(?P<s>[^\s\"'\\|;&]{1,256})",
            accepts=_is_no_reference,
        )
        for flags, words in (
            (r"(?:[ \t]{1,4}-(?:(?!n)\w){1,8}(?:[ \t]{1,4}\d{1,4})?){1,6}", 2),
            (r"(?=[^\r\n]{0,60}?-\w{0,8}n)(?:[ \t]{1,4}-\w{1,8}(?:[ \t]{1,4}\d{1,4})?){1,6}", 1),
        )
    ),
    _rule("password", "openssl", r"-pass(?:in|out)?[ \t=]{1,4}pass:(?P<s>[^\s\"'\\]{1,256})"),
    _rule(
        "password",
        "pgpass :5432: :*:",
        _START.replace("A-Za-z0-9]", r"\w.*\-]", 1)
        + r"[\w.*\-]{1,253}:(?:543\d|6432|\*):[^\s:\"'/]{1,64}:(?=[A-Za-z_])[^\s:\"'/]{1,64}:"
        r"(?P<s>[^\s\"'\\]{4,256})",
        accepts=_is_no_address,
    ),
    _rule(
        "password",
        "?passw passphrase",
        r"\bpass(?:word|phrase)[ \t]is:?[ \t]\\{0,7}[\"'`]?(?P<s>[^\s\"'`\\]{4,256})(?<![.,])",
        accepts=_mixes_letters_and_digits,
    ),
)


_COMMANDS = tuple(
    Rule(each.kind, each.programs, shape(each, _START), re.ASCII, _is_no_reference)
    for each in commands()
)
_TABLE = tuple(_prefixed(each) if each.literals else _named(each) for each in formats())


def odd_kinds() -> list[str]:
    """What is known besides the table: kinds whose shape is more than a beginning and a length."""
    return sorted({rule.kind for rule in _RULES})


def redact_once(text: str) -> str:
    """*text* after one round of every rule, the telling shapes before the telling names."""
    text = private_keys(text)
    lower = text.lower()
    for rule in (*_RULES, *_COMMANDS, *_TABLE):
        if any(hint in text or hint in lower for hint in rule.hints):
            # Compiled here and kept by `re`: all at once would cost a hook 20 milliseconds.
            text = re.compile(rule.shape, rule.flags).sub(partial(_cut, rule), text)
    return assignments(text)


def _cut(rule: Rule, found: re.Match[str]) -> str:
    """What stands in place of *found*: all of it but the secret, if the secret is a part."""
    group = "s" if "s" in found.re.groupindex else 0
    if not rule.accepts(found[group]):
        return found[0]
    start, end = (place - found.start() for place in found.span(group))
    return f"{found[0][:start]}[redacted:{rule.kind}]{found[0][end:]}"
