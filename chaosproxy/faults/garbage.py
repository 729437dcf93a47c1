"""`garbage`: bytes that are no HTTP/2 frames, at the beginning of the connection or between two of its frames.

Imitates a port where something else answers (an SSH banner, an HTTP/1.1 error page, a database) though ALPN has said h2, a
middlebox that writes into the connection, a server with a bug in its framing. RFC 9113 sections 3.4 and 4.1: what is no
frame, or no SETTINGS at first, costs the connection; a client that waits for more waits for ever.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.actions import Note
from chaosproxy.chain.fault import Context, register
from chaosproxy.chain.session_fault import AtPlace, Part, Parting, SessionActs, SessionFault
from chaosproxy.faults.octets import Octets, octets, octets_problem
from chaosproxy.faults.on_session import PlacedSpec
from chaosproxy.model import conduct
from chaosproxy.model.units import Size, show_size

MOST = 1024 * 1024
BANNER = b"SSH-2.0-OpenSSH_9.6\r\n"


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Garbage(PlacedSpec):
    """Writes bytes on an HTTP/2 connection that are no frame."""

    name: ClassVar[str] = "garbage"
    main: ClassVar[str | None] = "bytes"

    bytes: Octets | None = None
    """Text, or `{hex: "ff ff"}`. Without it an SSH server's banner."""
    size: Size | None = None
    """In its place so many random bytes, at most 1MiB."""
    then: Literal["keep", "hang", "fin", "rst"] = "keep"
    """What comes behind them: `keep`, the frames that were due; `hang`, nothing; `fin` or `rst`, the end. At the beginning of
    the connection all but `keep` leave out our SETTINGS too."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = [*super(Garbage, self).problems(), *octets_problem("bytes", self.bytes)]
        if self.size is not None and self.bytes is not None:
            found.append((("size",), "`bytes` says already what; leave one out"))
        elif self.size is not None and not 0 < self.size <= MOST:
            found.append((("size",), "1 to 1MiB of them"))
        return found

    def conduct(self, context: Context) -> SessionFault:
        return RunningGarbage(self, context)


class RunningGarbage(AtPlace):
    """Waits for its place."""

    def __init__(self, spec: Garbage, context: Context) -> None:
        super().__init__(spec.at, spec.stream, context.speed)
        self._bytes = BANNER if spec.bytes is None else octets(spec.bytes)
        if spec.size is not None:
            self._bytes = context.random.randbytes(spec.size)
        parting: dict[str, Parting] = {"hang": "silence", "fin": "fin", "rst": "rst", "keep": "keep"}
        self._parting = parting[spec.then]

    def fire(self, now: float) -> SessionActs:
        alone = self._parting != "keep"
        note = Note("fired", f"{show_size(len(self._bytes))} that are no frame")
        return (note, conduct.Octets(self._bytes, alone), Part(self._parting))
