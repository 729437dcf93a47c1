"""`line_endings`: the lines of a stream end in other characters.

Imitates a server on another platform, a gateway that writes its own line ends between those of the upstream, an old
framework that ends lines in CR alone. An event stream may end each of its lines in LF, CRLF or CR, mixed too (WHATWG
HTML section 9.2.6); readers that look for two LF in a row wait for ever.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, WAKE, Actions
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.splitter import Splitter
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Way

LF, CR, CRLF = b"\n", b"\r", b"\r\n"
_TURNS = (LF, CRLF, CRLF, LF, CR, CR)
"""For events of one field these are all the ways to write a line end and a blank line that are none of the usual ones,
and CR alone."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class LineEndings(FaultSpec):
    """Writes every line end of an event stream, or of a body of lines, in one way, or in each in turn."""

    name: ClassVar[str] = "line_endings"
    main: ClassVar[str | None] = "mode"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    edits_body: ClassVar[bool] = True

    mode: Literal["lf", "crlf", "cr", "mixed"]
    """`lf`, `crlf`, `cr`; `mixed`: LF, CRLF, CRLF, LF, CR, CR and so on, so that an event of one line ends in LF CRLF, the
    next in CRLF LF, the next in CR CR. Never does a LF that is a line end of its own stand behind a CR. A body of lines
    knows no CR alone: there `cr` does not fire, and `mixed` is LF and CRLF."""

    @property
    def reads_records(self) -> bool:
        return True

    def start(self, context: Context) -> Fault:
        return RunningLineEndings(self)


class RunningLineEndings(Fault):
    """Awake for the whole body. A line end is written as soon as its first character has come; only in a body of lines,
    where a CR need not be one, that waits for the next."""

    rest = FOREVER

    def __init__(self, spec: LineEndings) -> None:
        self._ends = {"lf": (LF,), "crlf": (CRLF,), "cr": (CR,), "mixed": _TURNS}[spec.mode]
        self._turn = 0
        self._records: Splitter | None = None
        self._cr = b""
        """A CR that came last: the line end is written already (of lines: it is held)."""
        self._last = b""
        """The line end that was written last, if nothing has come since."""

    def control(self, event: Event, now: float) -> Actions:
        match event:
            case ResponseHead() | RequestHead():
                return (WAKE, event) if self._fits() else (event,)
            case Trailers() | End() | Abort() if self.held:
                self.held = 0
                return (Data(CR, self._find(CR)), event)  # it was none
            case _:
                return (event,)

    def _fits(self) -> bool:
        if self.kind == "lines":
            self._ends = tuple(end for end in self._ends if end != CR)
        if self.kind is None or self.kind not in ("sse", "lines") or not self._ends:
            self.unfired = "format" if self.kind is not None else ""
            return False
        self._records = splitter_for(self.kind)
        return True

    def data(self, data: Data, now: float) -> Actions:
        payload = self._written(data.payload)
        if payload == data.payload:
            return (Data(payload, self._find(payload), data.whole, data.size),)
        said = self.once("wrote other line ends")
        return (*said, Data(payload, self._find(payload), data.whole)) if payload else said

    def _find(self, payload: bytes) -> tuple[int, ...]:
        assert self._records is not None
        return self._records.feed(payload)

    def _written(self, payload: bytes) -> bytes:
        """`payload` with other line ends."""
        cr, self._cr = self._cr, payload[-1:] if payload.endswith(CR) else b""
        if self.kind == "lines":
            payload = (cr + payload).removesuffix(CR) if self._cr else cr + payload
            self.held = len(self._cr)
            lines = payload.replace(CRLF, LF).split(LF)
        else:
            lines = (payload.removeprefix(LF) if cr else payload).replace(CRLF, LF).replace(CR, LF).split(LF)
        return self._joined(lines)

    def _joined(self, lines: list[bytes]) -> bytes:
        parts: list[bytes] = []
        for line in lines[:-1]:
            end = self._ends[self._turn % len(self._ends)]
            if end == LF and self._last == CR and not line:
                end = CRLF  # else it would be the second half of that line end
            self._turn += 1
            self._last = end
            parts += [line, end]
        if lines[-1]:
            self._last = b""
        return b"".join([*parts, lines[-1]])
