"""Programs that take a secret in a flag of one letter, as data, and what of theirs is one.

A line is the kind of the secret, the flags, what must stand between (a subcommand, or `-`), and
the programs. `redactor.py` has a word of each with its flag once more, since hooks may
not load this.
"""

import re
from typing import NamedTuple


class Command(NamedTuple):
    """Programs whose *flags* are followed by a secret."""

    kind: str
    flags: tuple[str, ...]
    subcommand: str
    programs: tuple[str, ...]


_TABLE = """
password -p login docker podman nerdctl buildah skopeo oras helm az oc cf
password -a|--pass - redis-cli valkey-cli keydb-cli
password -p - mongosh mongo mongodump mongorestore mongoexport mongoimport mongostat mongotop
password -w - ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd ldapcompare
password -P - sqlcmd
password -k|-K - openssl
password -storepass|-keypass - keytool jarsigner
cookie -b - curl
"""

# What stands between two words, on a line and in a list of JSON.
_BLANK = r"(?:[ \t,\"']|\\{1,8}[\"'\r]?\n?[ \t]?){1,8}"
_WORD = r"[^\s|;&\"',\\]{1,120}"


def commands() -> list[Command]:
    """Every line of the table."""
    return [_read(line) for line in _TABLE.split("\n") if line]


def _read(line: str) -> Command:
    kind, flags, subcommand, *programs = line.split(" ")
    return Command(kind, tuple(flags.split("|")), subcommand.strip("-"), tuple(programs))


def shape(command: Command, start: str) -> str:
    """The expression of a line: the program, a few words, a flag, and group `s` behind it."""
    between = rf"(?:{_BLANK}{_WORD}){{0,16}}?"
    subcommand = rf"{between}{_BLANK}{command.subcommand}(?![\w\-])" if command.subcommand else ""
    flags = "|".join(map(re.escape, command.flags))
    # A cookie is a pair: without one, the flag names a file.
    pair = r"(?=[^\s=\"'\\]{1,200}=)" if command.kind == "cookie" else ""
    return (
        rf"{start}(?:{'|'.join(map(re.escape, command.programs))}){subcommand}{between}{_BLANK}"
        rf"(?:{flags})(?:[ \t=]|\\{{0,7}}[\"'],[ \t]?|\\{{1,8}}\r?\n)"
        rf"[ \t]{{0,8}}(?:\\{{0,7}}[\"'](?=[^\r\n]{{0,4096}}[\"']))?(?![\-$<]){pair}"
        r"(?P<s>(?:(?<=[\"'])[^\r\n\"'\\]{1,4096}|[^\s\"'\\]{1,256}))"
    )


def kind_after(flag: str, words: list[str]) -> str | None:
    """The kind of what follows *flag* in a list of *words* that names a program."""
    names = {word.rpartition("/")[2] for word in words}
    for each in commands():
        is_called = not names.isdisjoint(each.programs)
        if flag in each.flags and is_called and each.subcommand in {"", *names}:
            return each.kind
    return None
