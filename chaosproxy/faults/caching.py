"""The running `cache`: what is kept, an answer on its way into it, an answer out of it.

Must not know: how a scenario is written.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chaosproxy.chain.actions import FOREVER, Actions, Finish, Note
from chaosproxy.chain.fault import Context, Fault
from chaosproxy.model.headers import Headers, first, replaced, tokens
from chaosproxy.model.messages import Abort, Data, End, Event, ResponseHead
from chaosproxy.model.units import counted
from chaosproxy.model.vocabulary import Framing

if TYPE_CHECKING:
    from chaosproxy.faults.cache import Cache

Key = tuple[bytes | Headers, ...]
ANSWERS = 1000
ROOM = 16 * 1024 * 1024
_OBJECT = 80
"""Bytes of a field, or of any other small object, beside what it says."""
_END = 40
"""Of a number that says where a record ends."""
OK = 200
_REFUSALS = {b"no-store", b"no-cache", b"private"}


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer."""

    head: ResponseHead
    body: bytes
    ends: tuple[int, ...]
    """Where records end in it."""
    at: float
    """When it was complete."""


def _size(key: Key, kept: Kept) -> int:
    """What it takes of the memory: a body may be nothing, or nothing but ends of records."""
    said = sum(len(part) if isinstance(part, bytes) else _size_of_fields(part) for part in key)
    return said + _size_of_fields(kept.head.headers) + len(kept.head.reason) + len(kept.body) + _END * len(kept.ends)


def _size_of_fields(headers: Headers) -> int:
    return sum(len(name) + len(value) + 3 * _OBJECT for name, value in headers)  # both, and the pair


class Store:
    """Answers by key; of too many, or too much, the one that was not asked for longest goes first."""

    def __init__(self) -> None:
        self._kept: dict[Key, Kept] = {}
        self._size = 0

    def find(self, key: Key, now: float, ttl: float) -> Kept | None:
        """What there is for `key` that is not older than `ttl`."""
        kept = self._take(key)
        if kept is None or now - kept.at >= ttl:
            return None
        self.put(key, kept)
        return kept

    def put(self, key: Key, kept: Kept) -> None:
        """Keep it, in the place of another."""
        self._take(key)
        self._kept[key] = kept
        self._size += _size(key, kept)
        while len(self._kept) > ANSWERS or self._size > ROOM:
            self._take(next(iter(self._kept)))

    def _take(self, key: Key) -> Kept | None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._size -= _size(key, kept)
        return kept


class Storing(Fault):
    """Passes everything on, and looks at it."""

    rest = FOREVER
    sees = (ResponseHead, End, Abort)

    def __init__(self, spec: "Cache", context: Context, store: Store, key: Key) -> None:
        self._spec, self._store, self._key = spec, store, key
        self._head: ResponseHead | None = None
        self._body = bytearray()
        self._ends: list[int] = []
        method = context.request.method.decode("latin-1")
        if spec.methods and method not in spec.methods:
            self.unfired = "method"
        self.looks = not self.unfired

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead():
                self._begin(event)
            case End():
                return (*self._keep("stored", now), event)
            case Abort() if self._spec.truncated:
                return (*self._keep("stored, broken off", now), event)
            case _:
                pass
        return (event,)

    def _begin(self, head: ResponseHead) -> None:
        if self.unfired:
            return
        said = tokens(head.headers, b"cache-control") if self._spec.honour else []
        if head.status != OK:
            self._give_up(f"status {head.status}")
        elif not _REFUSALS.isdisjoint(said):
            self._give_up("cache-control")
        elif head.framing is Framing.TUNNEL:
            self._give_up("protocol")
        else:
            self._head = head

    def _give_up(self, why: str) -> None:
        self.unfired, self.looks, self._head = why, False, None
        self._body.clear()
        self._ends.clear()

    def saw(self, data: Data) -> None:
        self._ends += [len(self._body) + end for end in data.ends]
        self._body += data.payload
        if len(self._body) > self._spec.limit:
            self._give_up("too long")

    def _keep(self, how: str, now: float) -> Actions:
        head, cut = self._head, self._spec.cut
        if head is None:
            return ()
        body = bytes(self._body if cut is None else self._body[:cut])
        ends = tuple(end for end in self._ends if end <= len(body))
        self._store.put(self._key, Kept(_framed(head, body), body, ends, now))
        self._head = None
        return (Note("fired", f"{how}: {counted(len(body), 'byte')}"),)


def _framed(head: ResponseHead, body: bytes) -> ResponseHead:
    """A Content-Length that is true stays; one that is not would tell who gets it that something is missing."""
    head = replace(head, asked=(), literal=False)
    length = first(head.headers, b"content-length")
    if head.final or (length is not None and length == b"%d" % len(body)):
        return head
    headers = tuple(pair for pair in head.headers if pair[0].lower() != b"content-length")
    return replace(head, headers=headers, framing=Framing.CHUNKED)


class Serving(Fault):
    """Answers in the upstream's place."""

    rest = FOREVER
    answers = True

    def __init__(self, spec: "Cache", context: Context, kept: Kept) -> None:
        self._spec, self._kept = spec, kept

    def request_end(self, now: float) -> Actions:
        kept = self._kept
        age = max(0, int(now - kept.at))
        headers = replaced(kept.head.headers, b"age", b"%d" % age)
        for name, value in self._spec.headers:
            headers = replaced(headers, name, value)
        detail = f"from the cache: {counted(len(kept.body), 'byte')}, {age} s old"
        head = replace(kept.head, headers=headers)
        body = (Data(kept.body, kept.ends),) if kept.body else ()
        return (head, *body, Finish(self._spec.then, "cache", detail=detail))
