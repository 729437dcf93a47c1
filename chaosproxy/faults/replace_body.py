"""`replace_body`: the head is the server's, the body is another.

Imitates a server that has sent 200 and then streams nothing but its failure, a gateway that answers a request which
should have been refused by a single error object, a cache that serves what belonged to somebody else.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import FOREVER, Actions, Finish, Note, PassOn
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.octets import Octets, octets, octets_problem
from chaosproxy.faults.written import EventFields, event_block, event_line, one_line
from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Data, End, Event, RequestHead, ResponseHead
from chaosproxy.model.units import counted
from chaosproxy.model.vocabulary import Way

CLEAN = Ending("clean")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceBody(FaultSpec):
    """Lets the head pass, and puts a body of its own behind it, all at once; what it replaces is not waited for."""

    name: ClassVar[str] = "replace_body"
    main: ClassVar[str | None] = "events"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    edits_body: ClassVar[bool] = True

    events: tuple[str | EventFields, ...] = ()
    """A list of events, or one: its data as text, or a mapping of `event`, `data`, `id` and `retry`. Data that is no text is
    written as JSON. In a body of lines each is a line, and has nothing but `data`."""
    bytes: Octets | None = None
    """The whole body as it stands: text, or `{hex: "ef bb bf"}`; also where there are no events. The head keeps its
    Content-Encoding."""
    then: tuple[Ending, ...] = (CLEAN,)
    """How it ends; of a list the first that is possible. Default `clean`: on the way of the request that ends the request
    alone."""

    @property
    def reads_records(self) -> bool:
        return bool(self.events)

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = octets_problem("bytes", self.bytes) if self.bytes != b"" else []
        if not self.events and self.bytes is None:
            found.append(((), "nothing to put there; expected `events` or `bytes`"))
        if self.events and self.bytes is not None:
            found.append((("bytes",), "beside `events`; expected one of them"))
        for event in self.events:
            found += [(("events",), words) for _, words in event.problems()] if isinstance(event, EventFields) else []
        return found

    def start(self, context: Context) -> Fault:
        return RunningReplaceBody(self)


class RunningReplaceBody(Fault):
    """Rests; the head makes it act."""

    rest = FOREVER

    def __init__(self, spec: ReplaceBody) -> None:
        self._spec = spec
        self._unsaid: tuple[Note, ...] = ()
        """What the ending will say; unless the body itself makes a fault nearer the client end it all before."""

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, ResponseHead | RequestHead):
            return (event,)
        body = self._body(event)
        if body is None:
            return (event,)
        spec = self._spec
        what = (
            counted(len(spec.events), "event")
            if spec.events
            else counted(sum(len(one.payload) for one in body), "byte")
        )
        detail = f"with {what} in place of the body"
        if spec.way is Way.REQUEST and spec.then[:1] == (CLEAN,):
            return (event, Note("fired", f"clean {detail}"), *body, End())
        self._unsaid = (Note("fired", detail),)
        return (event, *body, Finish(spec.then, "replace_body", detail=detail))

    def hangup(self, now: float) -> Actions:
        return (*self._unsaid, PassOn())

    def _body(self, head: ResponseHead | RequestHead) -> list[Data] | None:
        """Piece by piece; None where it cannot stand, which `unfired` tells."""
        spec, kind = self._spec, self.kind
        if head.final:
            self.unfired = "no body"
            return None
        if not spec.events:
            return _marked([octets(spec.bytes or b"")], kind)
        if kind is None:
            return None  # the chain knows why
        alone = all(isinstance(one, str) or one == EventFields(data=one.data) for one in spec.events)
        if kind == "sse":
            return _marked([event_block(one) for one in spec.events], kind)
        if kind == "lines" and alone and not any(one_line(event_line(one)[:-1].decode()) for one in spec.events):
            return _marked([event_line(one) for one in spec.events], kind)
        self.unfired = "format"
        return None


def _marked(pieces: list[bytes], kind: RecordKind | None) -> list[Data]:
    records = splitter_for(kind) if kind is not None else None
    return [Data(one, records.feed(one) if records is not None else ()) for one in pieces if one]
