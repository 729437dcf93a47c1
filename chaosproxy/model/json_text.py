"""Changes members of a JSON text without touching the rest: not a blank, not a digit, not an escape.

A document that is parsed and written again is another text; a gateway that drops a field should not be told from its
number format. A path is dotted: names, and numbers of items (`choices.0.delta`). Rules: only for texts that
`json_values.parse` has read; a path that leads nowhere changes nothing, nor does one into a text
that is nested as deep as the parser takes: it has read it from a place where the stack was lower. Must not know: what the members mean.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

_DECODER = json.JSONDecoder()
_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class _Member:
    """One member of an object, or item of a list, by offsets into the text."""

    name: str
    """Of an item its number."""
    start: int
    """Where its name begins; of an item its value."""
    value: int
    end: int
    """Right behind its value."""


def without_member(text: str, path: str) -> str:
    """The text without the member, or item, at a path."""
    try:
        return _without(text, path)
    except RecursionError:
        return text


def _without(text: str, path: str) -> str:
    outer, _, last = path.rpartition(".")
    within = _span(text, outer)
    if within is None:
        return text
    members = list(_members(text, within[0]))
    for at, member in enumerate(members):
        if member.name == last:
            if at + 1 < len(members):
                return text[: member.start] + text[members[at + 1].start :]
            start = members[at - 1].end if at else member.start
            return text[:start] + text[member.end :]
    return text


def with_member(text: str, path: str, value: object) -> str:
    """The text with `value` at a path: in place of what stands there, or as a new member of the object that it leads
    into."""
    try:
        return _with(text, path, value)
    except RecursionError:
        return text


def _with(text: str, path: str, value: object) -> str:
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    found = _span(text, path)
    if found is not None:
        return text[: found[0]] + written + text[found[1] :]
    outer, _, last = path.rpartition(".")
    within = _span(text, outer)
    if within is None or text[within[0]] != "{":
        return text
    members = list(_members(text, within[0]))
    end = members[-1].end if members else within[0] + 1
    return f"{text[:end]}{',' if members else ''}{json.dumps(last)}:{written}{text[end:]}"


def span(text: str, path: str) -> tuple[int, int] | None:
    """Where the value at a path begins and ends, the document's own for an empty one; None if there is none."""
    try:
        return _span(text, path)
    except RecursionError:
        return None


def _span(text: str, path: str) -> tuple[int, int] | None:
    place = _skip(text, 0)
    end = len(text.rstrip(_BLANKS))
    for name in path.split(".") if path else ():
        found = next((member for member in _members(text, place) if member.name == name), None)
        if found is None:
            return None
        place, end = found.value, found.end
    return place, end


def _members(text: str, place: int) -> Iterator[_Member]:
    """The members of the object, or the items of the list, at `place`; none where something else stands."""
    opening = text[place : place + 1]
    if opening not in ("{", "["):
        return
    place, number = _skip(text, place + 1), 0
    while text[place] not in "}]":
        value, name = place, str(number)
        if opening == "{":
            name, behind = _DECODER.raw_decode(text, place)
            value = _skip(text, _skip(text, behind) + 1)  # over the colon
        _, end = _DECODER.raw_decode(text, value)
        yield _Member(name, place, value, end)
        place, number = _skip(text, end), number + 1
        if text[place] == ",":
            place = _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _BLANKS:
        place += 1
    return place
