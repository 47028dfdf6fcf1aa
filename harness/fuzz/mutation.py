"""Bytes that were right once, changed in the ways that break parsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

TOKENS = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\t", b"\x1b[31m", b"\xe2\x80\xae"),
    *(b"&a", b"*a", b"!!python/object:os.system", b"---", b"...", b"<<: *a"),
    *(b"{", b"}", b"[", b"]"),
    *(b"'", b'"', b"\\", b": ", b"- ", b"#", b"|", b">", b"null", b"true", b".inf", b"1e999"),
    *(b"../", b"/etc/passwd", b".git", b"9" * 40, b"-1", b"NaN", b"\xed\xa0\x80", b"\\ud800"),
    *(b"## Decisions", b"- RD-001 x", b"- RD-999999999 y", b"* z", b"<<<<<<< HEAD", b"=======\n"),
    *(b"[" * 200, b'{"a":' * 200, b"a" * 3_000, b"SFSPOOL1", b'"crc":"', b"git: ./evil.sh"),
)
CUT_WHOLE = 400  # bytes: a seed up to that size is tried cut at every byte


def mutate(data: bytes, dice: random.Random) -> bytes:
    """Between one and four changes of the kinds that break parsers."""
    mutant = bytearray(data)
    for _ in range(dice.randrange(1, 5)):
        at = dice.randrange(len(mutant) + 1)
        end = min(len(mutant), at + dice.randrange(1, 40))
        match dice.randrange(6):
            case 0 if mutant:
                mutant[at % len(mutant)] ^= 1 << dice.randrange(8)
            case 1:
                mutant[at:at] = dice.choice(TOKENS)
            case 2:
                mutant[at:end] = dice.choice(TOKENS)
            case 3:
                del mutant[at:end]
            case 4:
                mutant[at:at] = mutant[at:end] * dice.randrange(1, 50)
            case _:
                mutant[at:end] = dice.randbytes(end - at)
    return bytes(mutant)


def cuts(seeds: Sequence[bytes]) -> Iterator[bytes]:
    """Each seed whole, and cut at every byte or, of a large one, at some of them."""
    for seed in seeds:
        step = 1 if len(seed) <= CUT_WHOLE else len(seed) // CUT_WHOLE + 1
        yield seed
        yield from (seed[:end] for end in range(0, len(seed), step))


def mutants(seeds: Sequence[bytes], dice: random.Random) -> Iterator[bytes]:
    """Mutants of the seeds without end; a good part of them changed more than once over."""
    while True:
        mutant = mutate(dice.choice(seeds), dice)
        yield mutant
        yield mutate(mutant, dice)
