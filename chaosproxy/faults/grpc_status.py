"""`grpc_status`: the call ends with a status of gRPC, at an exact message or moment.

Imitates a service that fails in the middle of its stream, a gateway that answers a call by itself (no upstream, a deadline, a
limit), and a server that says OK too early: of a stream that was cut short so, nothing on the wire tells. The HTTP status is
200 all the while: a status of gRPC stands in trailers, in the one head of an answer that is nothing but its trailers, or, in
gRPC-Web, in the last frame of the body.
"""

import base64
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import Actions, Finish, Note, Reply
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.chain.resolve import answer
from chaosproxy.chain.triggered import Triggered
from chaosproxy.faults.grpc_words import (
    Code,
    content_type,
    is_grpc,
    is_text,
    is_web,
    name_of,
    status_fields,
    web_trailers,
)
from chaosproxy.model.headers import Headers
from chaosproxy.model.messages import Data, Event, ResponseHead
from chaosproxy.model.vocabulary import Moment


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcStatus(FaultSpec):
    """Ends the call with a status. Where no head has gone out yet the answer is nothing but its trailers: one head with the
    status in it."""

    name: ClassVar[str] = "grpc_status"
    main: ClassVar[str | None] = "code"
    needs_at: ClassVar[bool] = True
    has_at: ClassVar[bool] = True
    edits_body: ClassVar[bool] = True

    code: Code = "UNAVAILABLE"
    """The status: its name, or a number, which may be one that does not exist. Default UNAVAILABLE. `OK` ends a stream that
    is not over as if it were."""
    message: str | None = None
    """Its text (`grpc-message`), percent-encoded on the wire. Default: none."""
    details: str | None = None
    """More of it for who looks: in `grpc-status-details-bin`, as the text of a `google.rpc.DebugInfo`. Default: none."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        at = self.trigger
        if at.moment is Moment.AFTER_END or at.terminal == "after":
            return [(("at",), "behind the end of the call there is no place for a status; `end` is right before it")]
        if at.every is not None:
            return [(("at", "every"), "a call ends once")]
        return []

    def start(self, context: Context) -> Fault:
        return RunningGrpcStatus(self, context)


class RunningGrpcStatus(Triggered):
    """Rests until the place; the heads tell in which form the status is written."""

    def __init__(self, spec: GrpcStatus, context: Context) -> None:
        assert spec.at is not None
        super().__init__(spec.at, context)
        self._context = context
        self._fields = status_fields(spec.code, spec.message, spec.details)
        self._said = f"with {name_of(spec.code)}"
        self._kind = content_type(context.request)
        self._head: ResponseHead | None = None

    def control(self, event: Event, now: float) -> Actions:
        if isinstance(event, ResponseHead):
            self._head, self._kind = event, content_type(event)
        return super().control(event, now)

    def fire(self, now: float) -> Actions:
        head = self._head
        if not is_grpc(self._kind):
            return (Note("not_fired", "format"),)
        if head is None:
            return self._alone()
        if head.final:
            return (Note("not_fired", "head sent"),)
        detail = f"{self._said} {self._place}"
        if not is_web(self._kind):
            return (Finish((Ending("clean", headers=self._fields),), "grpc_status", detail=detail),)
        frame = web_trailers(self._fields)
        if is_text(self._kind):
            frame = base64.b64encode(frame)
        return (Data(frame), Finish((Ending("clean"),), "grpc_status", detail=detail))

    def _alone(self) -> Actions:
        """Nothing but trailers."""
        headers: Headers = ((b"content-type", self._kind), *self._fields)
        note = Note("fired", f"answered {self._said} {self._place}")
        if self._context.protocol == "h2":
            return (note, Reply(ResponseHead(200, headers, final=True)))
        return (note, answer(200, headers, b"", self._context.request.method))
