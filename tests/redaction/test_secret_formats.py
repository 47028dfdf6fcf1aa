"""Every format of the table is found wherever it stands; what only nearly is one is kept."""

import importlib
import json
import random
import string
from pathlib import Path

import pytest

from secret_samples import ALNUM, CONTEXTS, HEX, UPPER, URL_SAFE, draw
from standfast import __file__ as package
from standfast.redaction.patterns import odd_kinds
from standfast.redaction.redactor import might_hold_secret, redact
from standfast.redaction.secret_formats import Format, formats

LETTERS = {
    "h": HEX,
    "H": HEX + "ABCDEF",
    "l": string.ascii_lowercase + string.digits,
    "u": UPPER,
    "a": ALNUM,
    "w": URL_SAFE,
    "d": URL_SAFE + ".",
    "b": ALNUM + "+/",
}
EVERY = formats()
DICE = random.Random(11)


def body(each: Format, length: int) -> str:
    if each.alphabet == "i":
        digits = draw(DICE, HEX, max(length - 4, 4))
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    letter, _, more = each.alphabet.partition("&")
    drawn = draw(DICE, LETTERS[letter], length)
    return drawn[:4] + more + drawn[5:] if more else drawn


def whole(each: Format, literal: str, length: int) -> tuple[str, str]:
    """A line that holds a key, and the key."""
    key = each.beginnings[-1] + body(each, length)
    return (f"{literal}{key}", key) if each.literals else (f"{literal}: '{key}'", key)


@pytest.mark.req("SEC-11", "SEC-04")
def test_at_least_250_formats_are_known_each_by_a_name_of_its_own() -> None:
    names = [each.name for each in EVERY]

    assert len(set(names)) == len(names)
    assert len(names) + len(set(odd_kinds()) - set(names)) >= 250


@pytest.mark.req("SEC-11", "SEC-04")
@pytest.mark.parametrize("each", EVERY, ids=lambda each: each.name)
def test_key_of_each_format_is_found_wherever_it_stands(each: Format) -> None:
    first, *_ = marks = each.literals or each.words
    for mark in marks:
        for length in each.lengths:
            line, key = whole(each, mark, length)
            for where, embed in list(CONTEXTS.items())[:: 1 if mark == first else 4]:
                text = embed(line)

                assert might_hold_secret(text), (where, mark)
                assert might_hold_secret(json.dumps({"text": text})), (where, mark)
                assert key not in redact(text), (where, text)
                assert redact(redact(text)) == redact(text)


@pytest.mark.req("SEC-11")
@pytest.mark.parametrize("each", EVERY, ids=lambda each: each.name)
def test_near_miss_of_each_format_is_left_alone(each: Format) -> None:
    """Too short behind its literal, by much or by one; or without the word that tells whose."""
    for length in each.lengths:
        key = body(each, length)
        if each.beginnings != ("",):
            near = f"see {each.words[0]}: '{key}' there"
            assert redact(near) == near
        for mark in each.literals:
            near = f"see {mark}{key[:7]} there"
            assert redact(near) == near
            spare = max(len(mark) - len(other) for other in each.literals if mark.startswith(other))
            near = f"see {mark}{key[: length - spare - 1]} there"
            # Where it is a key of another format, that one may take it.
            assert f"[redacted:{each.name}]" not in redact(near)
        if each.words:
            near = f"see some_item: '{each.beginnings[0]}{key}' there"
            assert redact(near) == near


# Two are as short as that by what they are; nobody names an ordinary thing `xapp-1-…`.
SHORT = {"slack-app-token", "flutterwave-key"}


@pytest.mark.req("SEC-11")
@pytest.mark.parametrize("each", EVERY, ids=lambda each: each.name)
def test_name_of_ordinary_length_behind_a_literal_is_no_key(each: Format) -> None:
    for mark in each.literals:
        near = f"see {mark}configuration there"
        assert (redact(near) == near) is (each.name not in SHORT), each
    assert min(each.lengths) >= 10


# As an outside look at them listed those that passed: written down apart from the table.
PASSED = [
    *(("gl" + kind, URL_SAFE, 24) for kind in ("rt-", "ft-", "cbt-", "imt-", "soat-", "ffct-")),
    *(("gl" + kind, URL_SAFE, 64) for kind in ("oas-", "agent-")),
    *(("AB" + "SK", ALNUM + "+/", 128), ("sb" + "p_", HEX, 40), ("sb_" + "secret_", URL_SAFE, 31)),
    *(("vercel" + "_", ALNUM, 24), ("pscale" + "_tkn_", URL_SAFE, 43), ("fm" + "2_", ALNUM, 300)),
    *(("nv" + "api-", URL_SAFE, 64), ("lsv2" + "_pt_", HEX, 32), ("tvly" + "-", ALNUM, 32)),
    *(("NR" + "AK-", UPPER, 27), ("PM" + "AK-", HEX, 59), ("CCI" + "PAT_", ALNUM + "_", 60)),
    *(("bk" + "ua_", HEX, 40), ("ruby" + "gems_", HEX, 48), ("pu" + "l-", HEX, 40)),
    *(("fi" + "gd_", URL_SAFE, 40), ("gl" + "c_", ALNUM, 120), ("ops" + "_eyJ", ALNUM, 300)),
    *((draw(DICE, ALNUM, 14) + ".atlas" + "v1.", URL_SAFE, 67), ("npm" + "_", ALNUM, 36)),
]


@pytest.mark.req("SEC-11", "SEC-04")
@pytest.mark.parametrize(("prefix", "alphabet", "length"), PASSED)
def test_key_that_once_passed_is_found(prefix: str, alphabet: str, length: int) -> None:
    for _ in range(20):
        key = draw(DICE, alphabet, length)
        for embed in CONTEXTS.values():
            assert key not in redact(embed(prefix + key))


@pytest.mark.req("SEC-11")
def test_token_of_azure_devops_is_found() -> None:
    key = draw(DICE, ALNUM, 76) + "AZ" + "DO" + draw(DICE, ALNUM, 4)

    assert key not in redact(f"git clone with {key} here")


# Shapes that are more than a beginning and a length.
ODD = [
    ("pat" + draw(DICE, ALNUM, 14) + ".{}", HEX, 64),
    ("{}-us12", HEX, 32),
    ("_gitlab" + "_session={}", HEX, 32),
    ("ngrok config add-authtoken {}", ALNUM, 49),
]


@pytest.mark.req("SEC-11", "SEC-04")
@pytest.mark.parametrize(("shape", "alphabet", "length"), ODD)
def test_key_of_an_odd_shape_is_found_and_a_shorter_one_is_not(
    shape: str, alphabet: str, length: int
) -> None:
    key = draw(DICE, alphabet, length)
    for embed in CONTEXTS.values():
        text = embed(shape.replace("{}", key))

        assert might_hold_secret(text)
        assert key not in redact(text)
    near = f"see {shape.replace('{}', key[:20])} there"
    assert redact(near) == near


@pytest.mark.req("SEC-11", "SEC-04")
def test_key_that_slashes_cut_into_short_pieces_is_found() -> None:
    key = "wh" + "sec_Ab3/dE6fG7/hI8jK9l"

    assert might_hold_secret(key)
    assert redact(key) == "[redacted:webhook-secret]"


@pytest.mark.req("SEC-11", "SEC-04")
def test_webhook_of_teams_is_found() -> None:
    name, key = "0b6f7e0e-5c5b-4e6e-9a3e-1f2e3d4c5b6a", draw(DICE, HEX, 32)
    place = f"https://acme.webhook.office.com/webhookb2/{name}@{name}/IncomingWebhook/"

    for embed in CONTEXTS.values():
        assert key not in redact(embed(f"{place}{key}/{name}"))
    assert redact(place) == place


@pytest.mark.req("SEC-11", "SEC-04")
def test_ordinary_source_is_hit_at_most_once_in_2000_lines() -> None:
    """Our own source, and as much of Python's own: the modules that speak of secrets first."""
    own = [path for path in Path(package).parent.rglob("*.py") if "testing" not in path.parts]
    names = ("getpass", "ftplib", "imaplib", "netrc", "shlex", "smtplib", "tokenize", "zipfile")
    std = [Path(getattr(importlib.import_module(name), "__file__", "")) for name in names]
    lines = [
        line
        for path in (*own, *std, *Path(string.__file__).parent.glob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]

    hit = [line for line in lines if redact(line) != line]

    assert len(lines) > 50_000
    assert len(hit) <= len(lines) / 2_000, hit[:20]
