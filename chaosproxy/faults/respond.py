"""`respond`: the machine answers by itself; the upstream never hears of the request.

Imitates an overloaded server (429 or 503 with Retry-After), a gateway's error page, a maintenance window.
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.actions import FOREVER, WAKE, Actions, Note
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.chain.resolve import answer
from chaosproxy.model.headers import Headers, first, replaced
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.units import Duration, Within
from chaosproxy.model.validate import field_problem


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Respond(FaultSpec):
    """Answers by itself, nothing is dialled."""

    name: ClassVar[str] = "respond"
    main: ClassVar[str | None] = "status"

    status: Annotated[int, Within(200, 599)] = 200  # 1xx is no answer yet (RFC 9110 section 15.2)
    """The status code."""
    headers: Headers = ()
    """Header fields. Content-Length follows the body; Content-Type is text/plain where a body has none."""
    body: bytes = b""
    """The body, as text."""
    delay: Duration = 0.0
    """How long after the request (`early`: its head) the answer goes out. Default 0."""
    early: bool = False
    """Answer at the request's head, before its body is complete. Default false."""
    retry_after: int | str | None = None
    """The Retry-After field: seconds, or a date (RFC 9110 section 10.2.3); what is neither goes out as it stands, for
    there are servers that send it."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        wrong = field_problem(b"retry-after", str(self.retry_after).encode())
        if wrong is not None:
            found.append((("retry_after",), wrong))
        return found

    def start(self, context: Context) -> Fault:
        return RunningRespond(self, context)


class RunningRespond(Fault):
    """Rests; the request's head or end makes it answer."""

    rest = FOREVER
    answers = True

    def __init__(self, spec: Respond, context: Context) -> None:
        self._early = spec.early
        self._delay = spec.delay / context.speed
        headers = spec.headers
        if spec.body and first(headers, b"content-type") is None:
            headers = (*headers, (b"content-type", b"text/plain; charset=utf-8"))
        if spec.retry_after is not None:
            headers = replaced(headers, b"retry-after", str(spec.retry_after).encode())
        self._reply = answer(spec.status, headers, spec.body, context.request.method)

    def request_head(self, head: RequestHead, now: float) -> Actions:
        return self._answer(now) if self._early else ()

    def request_end(self, now: float) -> Actions:
        return () if self._early else self._answer(now)

    def _answer(self, now: float) -> Actions:
        if self._delay:
            self.due = now + self._delay
            return (WAKE,)
        return self._now()

    def wake(self, now: float) -> Actions:
        self.due = math.inf
        return self._now()

    def _now(self) -> Actions:
        return (Note("fired", f"answered {self._reply.head.status}"), self._reply)
