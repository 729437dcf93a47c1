"""`error_event`: the server fails in the middle of an answer that began with 200, and says so in the stream.

Imitates a model that is overloaded or runs out of memory while it answers, and a gateway that turns its upstream's
failure into an event. The status was sent long ago: what a client raises, if anything, is decided by the shape of the
event, which is every provider's own.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, Actions, Finish, Note, PassOn, Rest
from chaosproxy.chain.endings import CLEAN, Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.chain.scope import Group, Scope, Together, scope_problems
from chaosproxy.chain.triggered import Triggered
from chaosproxy.faults.error_shapes import ErrorFormat, error_record, usual_format
from chaosproxy.framing.choose import kind_of
from chaosproxy.framing.seam import Seam
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Data, End, Event, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Moment, Way

_IN_A_BODY = {Moment.HEADERS, Moment.BODY, Moment.END}


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent(FaultSpec):
    """Puts an error event into the stream, then ends it."""

    name: ClassVar[str] = "error_event"
    main: ClassVar[str | None] = "format"
    needs_at: ClassVar[bool] = True
    has_at: ClassVar[bool] = True
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    edits_body: ClassVar[bool] = True

    format: ErrorFormat | None = None
    """The shape of the event. Default: that of whoever is asked, by the request's path (`/messages` is anthropic,
    `/responses` openai_responses, `/completions` openai, any other sse), and ndjson in a body of lines. In a body that
    cannot hold it the fault does not fire."""
    code: int | str | None = None
    """Its `code`. Default: `server_error` in the flat shapes, null in openai and sse, absent in anthropic and ndjson."""
    message: str | None = None
    """Its text. Default: what such a server says."""
    type: str | None = None
    """Its `type`. Default: `server_error`; `overloaded_error` in anthropic, `error` in the flat shapes, absent in
    ndjson."""
    then: tuple[Ending, ...] = (CLEAN,)
    """How the stream ends behind it; of a list the first that is possible. Default `clean`: on the way of the request
    that ends the request alone."""

    scope: Scope | None = None
    """`all`, or a share such as 0.3: at the moment at which the place comes in one exchange, the others that run have the
    event too, as soon as there is a stream that it can stand in; those that begin later do not. Default: each by itself."""

    @property
    def reads_records(self) -> bool:
        return True

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = scope_problems(self.scope, self.trigger)
        moment = self.at.moment if self.at is not None else None
        if moment is not None and moment not in _IN_A_BODY:
            what = f"at `{moment}` there is no body to put an event into; of the moments: headers, body, end"
            found.append((("at",), what))
        return found

    def share(self) -> object:
        return None if self.scope is None else Group(self.scope)

    def start(self, context: Context) -> Fault:
        return (RunningErrorEvent if context.shared is None else ErrorTogether)(self, context)


class RunningErrorEvent(Triggered):
    """Rests until the place; looks at what passes where that may lie inside a record, which then has to be closed."""

    _anywhere = False
    """Whatever the place is."""

    def __init__(self, spec: ErrorEvent, context: Context) -> None:
        assert spec.at is not None
        super().__init__(spec.at, context)
        self._spec = spec
        self._request = context.request
        self._format: ErrorFormat | None = None
        self._seam: Seam | None = None
        self._unsaid: tuple[Note, ...] = ()
        """What the ending will say; unless the error itself makes a fault nearer the client end it all before."""

    def control(self, event: Event, now: float) -> Actions:
        if isinstance(event, ResponseHead | RequestHead) and not self._fits(event):
            return (FOREVER, event)
        return super().control(event, now)

    def _fits(self, head: ResponseHead | RequestHead) -> bool:
        """Whether an error can stand in this body; if so, how it is written there."""
        kind = kind_of(first(head.headers, b"content-type")) if self.kind == "chunks" else self.kind
        if self.kind is None:
            return False
        if head.final:
            self.unfired = "no records"
            return False
        family: Literal["sse", "lines"] = "lines" if kind == "lines" else "sse"
        name = self._spec.format or usual_format(self._request, family)
        if kind not in ("sse", "lines") or (name == "ndjson") is not (family == "lines"):
            self.unfired = "format"
            return False
        self._format = name
        between = (
            self._at.event is not None and self.kind == "sse"
        )  # behind an event of a stream there is nothing to close
        if self._anywhere or not between:
            self._seam, self.looks = Seam(family), True
        return True

    def saw(self, data: Data) -> None:
        assert self._seam is not None
        self._seam.feed(data.payload)

    def reached(self, limit: str, now: float) -> Actions:
        if self._format is None:
            return (Rest(moment=Moment.HEADERS),)  # no stream yet that it could stand in: as soon as there is one
        return super().reached(limit, now)

    def hangup(self, now: float) -> Actions:
        return (*self._unsaid, PassOn())

    def fire(self, now: float) -> Actions:
        spec, seam, name = self._spec, self._seam, self._format
        assert name is not None
        number = self.records if seam is None else seam.records
        record = error_record(name, spec.code, spec.message, spec.type, number)
        data = Data(record, (len(record),)) if seam is None else seam.joined(record)
        detail = f"with an error ({name}) {self._place}"
        if spec.way is Way.REQUEST and spec.then[:1] == (CLEAN,):
            return (data, Note("fired", f"clean {detail}"), End())
        if not any(ending.kind == "goaway" for ending in spec.then):  # one that may be survived is no last word
            self._unsaid = (Note("fired", detail),)
        return (data, Finish(spec.then, "error_event", detail=detail))


class ErrorTogether(Together, RunningErrorEvent):
    """Several at one moment; where there is no stream yet, as soon as there is one."""

    _anywhere = True

    def reached(self, limit: str, now: float) -> Actions:
        return self._answer(limit, now) if self._called else super().reached(limit, now)

    def _answer(self, limit: str, now: float) -> Actions:
        if self._called and self._format is None:
            return (Rest(moment=Moment.HEADERS),)
        return super()._answer(limit, now)
