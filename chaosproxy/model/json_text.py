"""Takes members out of a JSON text without touching the rest: not a blank, not a digit, not an escape.

A document that is parsed and written again is another text; a gateway that drops a field should not be told from its
number format. Rules: only for texts that `json_values.parse` has read; a path that leads nowhere changes nothing.
Must not know: what the members mean.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

_DECODER = json.JSONDecoder()
_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class _Member:
    """One member of an object, by offsets into the text."""

    name: str
    start: int
    """Where its name begins."""
    value: int
    end: int
    """Right behind its value."""


def without_member(text: str, path: str) -> str:
    """The text without the member at a dotted path of names (`message.usage`)."""
    *outer, last = path.split(".")
    place = _skip(text, 0)
    for name in outer:
        found = next((member for member in _members(text, place) if member.name == name), None)
        if found is None:
            return text
        place = found.value
    members = list(_members(text, place))
    for at, member in enumerate(members):
        if member.name == last:
            if at + 1 < len(members):
                return text[: member.start] + text[members[at + 1].start :]
            start = members[at - 1].end if at else member.start
            return text[:start] + text[member.end :]
    return text


def _members(text: str, place: int) -> Iterator[_Member]:
    """The members of the object at `place`; none where something else stands."""
    if text[place : place + 1] != "{":
        return
    place = _skip(text, place + 1)
    while text[place] == '"':
        name, behind = _DECODER.raw_decode(text, place)
        value = _skip(text, _skip(text, behind) + 1)  # over the colon
        _, end = _DECODER.raw_decode(text, value)
        yield _Member(name, place, value, end)
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _BLANKS:
        place += 1
    return place
