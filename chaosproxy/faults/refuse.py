"""`refuse`: streams are refused as they are opened (RST_STREAM), before anybody has looked at their requests.

Imitates a server with more streams than it allows, one that is shutting down, one whose limit the client has not heard of
yet. REFUSED_STREAM says that nothing was processed (RFC 9113 section 8.7): the request may be sent again, a POST too; a client
that does so at once, for ever, is a storm.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.actions import Actions, Finish, Note
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.chain.session_fault import SessionActs, SessionFault
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.faults.on_session import Code, SessionSpec
from chaosproxy.model.codes import code_number
from chaosproxy.model.conduct import Act, Refuse, Take
from chaosproxy.model.units import Count, Within
from chaosproxy.model.vocabulary import Moment


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseStreams(SessionSpec):
    """Refuses streams of a client's HTTP/2 connection: all of them, those above a limit, or the Nth. A refused request is no
    exchange: the journal has it in the `faults` of those that run on the connection. In a hop it refuses every exchange that
    its rule takes, with a `code` alone; such a request was looked at, and is journalled."""

    name: ClassVar[str] = "refuse"
    main: ClassVar[str | None] = "over"
    in_hops: ClassVar[bool] = True
    sides: ClassVar[frozenset[str]] = frozenset({"client"})
    session_keys: ClassVar[tuple[str, ...]] = ("over", "streams", "times")

    over: Annotated[int, Within(0, 2**31 - 1)] = 0
    """Refused is what is opened while so many streams run. Default 0: every stream that is asked for."""
    streams: tuple[Count, ...] = ()
    """Only the Nth of those that are opened on the connection. Default: any."""
    times: Count | None = None
    """At most so many of a connection. Default: no limit."""
    code: Code = "REFUSED_STREAM"
    """The code of the RST_STREAM."""

    def start(self, context: Context) -> Fault:
        return RefusedExchange(self, context)

    def conduct(self, context: Context) -> SessionFault:
        return RunningRefuse(self)


class RefusedExchange(Triggered):
    """At the request; on HTTP/1 the connection ends."""

    def __init__(self, spec: RefuseStreams, context: Context) -> None:
        super().__init__(Trigger(moment=Moment.REQUEST), context)
        self._finish = Finish((Ending("stream", code=code_number(spec.code)),), "refuse")

    def fire(self, now: float) -> Actions:
        return (self._finish,)


class RunningRefuse(SessionFault):
    """Counts what is opened."""

    def __init__(self, spec: RefuseStreams) -> None:
        self._spec = spec
        self._code = code_number(spec.code)
        self._opened = self._refused = 0

    def does(self, act: Act, now: float) -> SessionActs:
        if not isinstance(act, Take):
            return (act,)
        self._opened += 1
        spec = self._spec
        meant = act.live >= spec.over and (not spec.streams or self._opened in spec.streams)
        if not meant or self._refused == spec.times:
            return (act,)
        self._refused += 1
        return (Note("fired", f"refused stream {act.stream}"), Refuse(act.stream, self._code))
