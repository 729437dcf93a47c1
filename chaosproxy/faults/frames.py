"""`frames`: an answer's HTTP/2 frames are as few servers write them, and legal all the same.

Imitates servers that pad against traffic analysis (RFC 9113 section 10.7), that write a byte or a token per frame, whose
headers are longer than a frame (CONTINUATION, section 6.10), and those that reset a stream behind its clean end: nginx and
others do so to stop an upload (section 8.1). Clients take such a reset for a failure, count padding as body, or never credit
it.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.asking import RunningAsk
from chaosproxy.faults.on_session import Code
from chaosproxy.model.asked import FrameSyntax
from chaosproxy.model.codes import code_name, code_number
from chaosproxy.model.units import Count, Within, show_size

_NAMES = ("data", "padding", "block", "reset")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Frames(FaultSpec):
    """Puts an answer into other frames, on HTTP/2."""

    name: ClassVar[str] = "frames"
    main: ClassVar[str | None] = "data"

    data: Count | None = None
    """Body bytes of a DATA frame at most. Without it a frame for each piece, as it came."""
    padding: Annotated[int, Within(1, 255)] | None = None
    """Bytes of padding in each DATA frame, as far as the client's windows have room for them: padding counts there."""
    block: Count | None = None
    """Bytes of the head's block in HEADERS and in each CONTINUATION behind it; a client may take too many of them for an
    attack."""
    reset: Code | None = None
    """The code of an RST_STREAM right behind END_STREAM: `NO_ERROR` is how a server stops an upload, and the answer counts."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if all(getattr(self, name) is None for name in _NAMES):
            return [((), f"nothing to write otherwise; expected one of {', '.join(_NAMES)}")]
        return []

    def start(self, context: Context) -> Fault:
        reset = None if self.reset is None else code_number(self.reset)
        words = {
            "data": f"frames of {show_size(self.data or 0)}",
            "padding": f"{self.padding} bytes of padding",
            "block": f"header block in {show_size(self.block or 0)}",
            "reset": f"RST_STREAM({code_name(reset or 0)}) behind the end",
        }
        wanted = FrameSyntax(self.data or 0, self.padding or 0, self.block or 0, reset)
        detail = ", ".join(words[name] for name in _NAMES if getattr(self, name) is not None)
        return RunningAsk(wanted, detail, possible=context.protocol == "h2")
