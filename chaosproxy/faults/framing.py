"""`framing`: the answer is framed in another way, or says of its length what is not true.

Imitates a converter that passes on the Content-Length of what it has converted, a server that breaks off in the middle of a
body that it had announced, an HTTP/1.0 server, one that ends its answers by closing the connection, so that no client can
tell a whole one from one that was cut, and one that sends chunks to who cannot know them. A machine that asks in HTTP/1.0, as
nginx did until 1.29.7, gets its answers without chunks; and one that passes answers on frames them as it likes itself.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, Actions, Note
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.model.headers import first, replaced, without
from chaosproxy.model.messages import Event, RequestHead, ResponseHead
from chaosproxy.model.units import Size
from chaosproxy.model.vocabulary import Framing as Framed
from chaosproxy.model.vocabulary import Way

LENGTH = b"Content-Length"
CHUNKS = (b"Transfer-Encoding", b"chunked")
_BODILESS = (Framed.NONE, Framed.TUNNEL)


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Framing(FaultSpec):
    """Frames the answer in another way, asks in another version, or makes a message the last on its connection."""

    name: ClassVar[str] = "framing"
    main: ClassVar[str | None] = "as_"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    as_: Literal["chunked", "chunked_twice", "close_delimited", "auto"] | None = None
    """`chunked`: in chunks, a Content-Length goes; to an HTTP/1.0 client too. `chunked_twice`: the same, and the field that
    says so stands there twice, as where application and framework both add it. `close_delimited`: neither chunks nor a length,
    the FIN is the end. `auto`: as most machines do that pass an answer on, a length stays, all else is in chunks, or ends with
    the connection where HTTP/1.0 was asked. On HTTP/2 there is none of these."""
    content_length: Size | None = None
    """The Content-Length, whatever the body's length is. Of one that is too large the rest never comes, only the FIN; behind
    one that is too small come the bytes that are too many, and then the FIN. With `as: chunked` both are said. On HTTP/2 the
    field is the same and END_STREAM comes where the body ends."""
    http: Literal["1.0"] | None = None
    """`1.0`: the status line of an HTTP/1.0 server, which closes behind each answer; it knows no chunks, so that a chunked
    body ends with the connection, unless it says `as: chunked`. With `way: request` it is asked in HTTP/1.0, with `Connection:
    close`; a request in chunks, which HTTP/1.0 has not, stays what it is. HTTP/1 only."""
    connection: Literal["close"] | None = None
    """`close`: the answer says `Connection: close`, and the connection ends behind it; with `way: request` the server is told
    so, and its connection serves this request alone. HTTP/1 only."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        others = self.as_ is not None or self.content_length is not None or self.http is not None
        if self.connection is not None:
            message = "`connection` is no matter of the body; give it a framing of its own"
            return [(("connection",), message)] if others else []
        if not others:
            return [((), "framing needs one of as, content_length, http, connection")]
        if self.as_ == "close_delimited" and self.content_length is not None:
            message = "a body that ends with the connection has no length; leave one of them out"
            return [(("content_length",), message)]
        if self.as_ == "auto" and (self.content_length is not None or self.http is not None):
            return [(("as",), "`auto` says nothing that is not true; leave the others out")]
        if self.way is Way.REQUEST and (self.http is None or self.as_ is not None or self.content_length is not None):
            return [
                (("way",), "of a request only the version is another, {http: 1.0, way: request}, or its connection")
            ]
        return []

    def start(self, context: Context) -> Fault:
        if self.connection is not None:
            return LastOfConnection(possible=self.way is Way.REQUEST or context.protocol != "h2")
        if self.way is Way.REQUEST:
            return OldRequest()
        return OwnFraming() if self.as_ == "auto" else RunningFraming(self, context)


_SAID = {
    "chunked": "in chunks",
    "chunked_twice": "in chunks, said twice",
    "close_delimited": "until the connection ends",
}


class RunningFraming(Fault):
    """Rests; it changes the head, and who writes it frames as it says."""

    rest = FOREVER
    sees = (ResponseHead,)

    def __init__(self, spec: Framing, context: Context) -> None:
        self._spec = spec
        self._is_h2 = context.protocol == "h2"

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, ResponseHead):
            return (event,)
        if event.final or event.framing in _BODILESS:
            self.unfired = "no body"
            return (event,)
        if self._is_h2 and self._spec.content_length is None:
            self.unfired = "protocol"
            return (event,)
        return (Note("fired", self._detail), self._over_h2(event) if self._is_h2 else self._over_h1(event))

    def _over_h2(self, head: ResponseHead) -> ResponseHead:
        return replace(head, headers=replaced(head.headers, LENGTH, b"%d" % (self._spec.content_length or 0)))

    def _over_h1(self, head: ResponseHead) -> ResponseHead:
        spec, headers, framing = self._spec, head.headers, head.framing
        if spec.content_length is not None:
            headers, framing = replaced(headers, LENGTH, b"%d" % spec.content_length), Framed.LENGTH
        elif spec.as_ is not None:
            headers = without(headers, (LENGTH.lower(),))
        elif first(headers, LENGTH.lower()) is None:
            framing = Framed.CLOSE  # all that HTTP/1.0 has besides a length
        if spec.as_ is not None:
            framing = Framed.CLOSE if spec.as_ == "close_delimited" else Framed.CHUNKED
        if spec.as_ == "chunked_twice":
            headers = (*without(headers, (CHUNKS[0].lower(),)), CHUNKS, CHUNKS)
        version = b"1.0" if spec.http else head.version
        return replace(head, headers=headers, framing=framing, version=version, literal=True)

    @property
    def _detail(self) -> str:
        spec, said = self._spec, list[str]()
        if spec.as_ is not None and not self._is_h2:
            said.append(_SAID[spec.as_])
        if spec.content_length is not None:
            said.append(f"Content-Length {spec.content_length}")
        if spec.http is not None and not self._is_h2:
            said.append("HTTP/1.0")
        return ", ".join(said)


class LastOfConnection(Fault):
    """Rests; what the head says of its connection is for who writes it, who leaves it out on HTTP/2."""

    rest = FOREVER
    sees = (RequestHead, ResponseHead)

    def __init__(self, *, possible: bool) -> None:
        self._possible = possible

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, RequestHead | ResponseHead):
            return (event,)
        tunnel = isinstance(event, RequestHead) and bool(event.upgrade or event.method == b"CONNECT")
        if not self._possible or tunnel or event.framing is Framed.TUNNEL:
            self.unfired = "tunnel" if self._possible else "protocol"
            return (event,)
        head = replace(event, headers=replaced(event.headers, b"Connection", b"close"))
        return (Note("fired", "Connection: close"), head)


class OldRequest(Fault):
    """Rests; it changes the request's head."""

    rest = FOREVER
    sees = (RequestHead,)

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, RequestHead):
            return (event,)
        if event.upgrade or event.method == b"CONNECT":
            self.unfired = "tunnel"
            return (event,)
        if not event.final and first(event.headers, LENGTH.lower()) is None:
            self.unfired = "in chunks"
            return (event,)
        return (Note("fired", "asks in HTTP/1.0"), replace(event, old=True))


class OwnFraming(Fault):
    """Rests; it looks at the request's head to know who asks, and changes that of the answer."""

    rest = FOREVER
    sees = (ResponseHead,)

    def __init__(self) -> None:
        self._as = Framed.CHUNKED

    def request_head(self, head: RequestHead, now: float) -> Actions:
        if head.old or head.version == b"1.0":
            self._as = Framed.CLOSE
        return ()

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, ResponseHead):
            return (event,)
        if event.framing not in (Framed.CHUNKED, Framed.CLOSE) or event.framing is self._as or event.literal:
            self.unfired = "framed so"
            return (event,)
        said = "in chunks" if self._as is Framed.CHUNKED else "until the connection ends"
        return (Note("fired", said), replace(event, framing=self._as))
