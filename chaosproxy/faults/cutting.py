"""Where `resegment` cuts a piece of body: the offsets, lazily, of each cut that lies in it.

A piece that ends where a cut has to be, because the sender has cut there already, has one at its end: then what follows may
not share its read. Rules: what depends on what came before is kept from piece to piece, so that the cuts lie at the same
bytes however the body came; the cuts of a piece are all taken before those of the next one are asked for.
Must not know: when a piece leaves.
"""

import re
from collections.abc import Callable, Iterator
from random import Random

from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import RecordKind, Splitter
from chaosproxy.model.messages import Data

Cuts = Callable[[Data, RecordKind | None], Iterator[int]]
"""The offsets of the cuts in a piece, ascending, from 1 to its length; the kind is that of the body's records."""

_CHARACTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_BROKEN_OFF = re.compile(rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z")
"""A character of several bytes (RFC 3629 section 4), and one that goes on behind the piece."""


def in_characters(data: Data, kind: RecordKind | None) -> Iterator[int]:  # noqa: ARG001 - as the others
    """In the middle of each character of several bytes."""
    payload = data.payload
    for found in _CHARACTER.finditer(payload):
        yield (found.start() + found.end()) // 2
    if _BROKEN_OFF.search(payload, max(0, len(payload) - 3)):
        yield len(payload)


def between_crlf(data: Data, kind: RecordKind | None) -> Iterator[int]:  # noqa: ARG001 - as the others
    """Between each CR and its LF; a CR at the end may be one whose LF has not come."""
    payload = data.payload
    found = payload.find(b"\r\n")
    while found >= 0:
        yield found + 1
        found = payload.find(b"\r\n", found + 2)
    if payload.endswith(b"\r"):
        yield len(payload)


class EveryBytes:
    """Behind so many bytes, again and again."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._left = size

    def __call__(self, data: Data, kind: RecordKind | None) -> Iterator[int]:
        length, at = len(data.payload), self._left
        while at <= length:
            yield at
            at += self.draw()
        self._left = at - length

    def draw(self) -> int:
        """The length of the next piece."""
        return self._size


class AtRandom(EveryBytes):
    """Behind 1 to so many bytes, drawn each time."""

    def __init__(self, longest: int, random: Random) -> None:
        self._random = random
        self._longest = longest
        super().__init__(self.draw())

    def draw(self) -> int:
        return self._random.randint(1, self._longest)


class EveryEvents:
    """Behind so many records, again and again."""

    def __init__(self, events: int) -> None:
        self._events = events
        self._seen = 0

    def __call__(self, data: Data, kind: RecordKind | None) -> Iterator[int]:
        for end in data.ends:
            self._seen += 1
            if self._seen % self._events == 0:
                yield end


class InEvents:
    """In the middle of each record; what stands between two of them, a comment, stays whole."""

    def __init__(self) -> None:
        self._units: Splitter | None = None
        self._within = False
        """A unit has begun in an earlier piece."""

    def __call__(self, data: Data, kind: RecordKind | None) -> Iterator[int]:
        assert kind is not None
        if self._units is None:
            self._units = splitter_for(kind, every_unit=True)
        records, begin, length = frozenset(data.ends), 0, len(data.payload)
        for end in self._units.feed(data.payload):
            middle = (begin + end) // 2
            if end in records and begin < middle and not self._within:
                yield middle
            begin, self._within = end, False
        if begin < length:
            self._within = True
            yield length
