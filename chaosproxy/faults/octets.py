"""Bytes as a scenario writes them: as text, which stands for its UTF-8, or by their hexadecimal digits.

Must not know: what the bytes are for.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hex:
    """Bytes that may be no text."""

    hex: str


Octets = bytes | Hex


def octets(given: Octets) -> bytes:
    """The bytes. ValueError if they are none."""
    return bytes.fromhex(given.hex) if isinstance(given, Hex) else given


def octets_problem(key: str, given: Octets | None) -> list[tuple[tuple[str, ...], str]]:
    """What is wrong with the value of `key`, as `problems` has it."""
    if given is None:
        return []
    try:
        found = octets(given)
    except ValueError:
        return [((key, "hex"), "not hexadecimal; expected two digits for each byte: `ef bb bf`")]
    return [] if found else [((key,), "no bytes; expected one or more")]
