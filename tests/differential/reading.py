"""An answer as it is read: what became readable when, without framing and coding, and how it ended. Nothing is repaired.

Must not know: sockets, who answers.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from chaosproxy.testing.recorder import Ending

FIELDS = re.compile(rb"(?im)^([^:\r\n]+):[ \t]*(.*?)\r?$")


@dataclass(slots=True)
class Answer:
    """What the client has seen, its body decoded."""

    status: int | None = None
    fields: dict[str, str] = field(default_factory=dict)
    head_at: float | None = None
    body: list[tuple[float, bytes]] = field(default_factory=list)
    ending: str = "nothing more comes"
    """`clean`, or in the protocol's words."""
    ended_at: float | None = None
    framing: str = ""
    """In HTTP/1.1 how the end of the body is told."""

    @property
    def how(self) -> str:
        """The same, of an answer that was to be longer."""
        return "looks whole" if self.ending == "clean" else self.ending

    @property
    def events(self) -> int:
        return b"".join([data for _, data in self.body]).count(b"\n\n")


class H1Reading:
    """An answer, out of what is read of it piece by piece."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._head = b""
        self._chunks: Chunks | None = None
        self._left: int | None = None
        self._decode: Callable[[bytes], bytes] = bytes

    def feed(self, at: float, data: bytes) -> None:
        answer = self.answer
        if answer.head_at is None:
            self._head += data
            head, found, data = self._head.partition(b"\r\n\r\n")
            if not found:
                return
            answer.head_at = at
            self._begin(head)
        if answer.ended_at is not None:
            return
        if self._chunks is not None:
            data = self._chunks.feed(data)
        elif self._left is not None:
            self._left -= len(data)
        if plain := self._decode(data):
            answer.body.append((at, plain))
        if (self._chunks is not None and self._chunks.last) or (self._left is not None and self._left <= 0):
            answer.ending, answer.ended_at = "clean", at

    def _begin(self, head: bytes) -> None:
        answer = self.answer
        status, _, lines = head.partition(b"\r\n")
        answer.status = int(status.split(b" ")[1])
        answer.fields = {name.decode().lower(): value.decode() for name, value in FIELDS.findall(lines)}
        self._decode = decoding(answer.fields)
        if "chunked" in answer.fields.get("transfer-encoding", ""):
            self._chunks = Chunks()
            answer.framing = "chunked"
        elif "content-length" in answer.fields:
            self._left = int(answer.fields["content-length"])
            answer.framing = "with length"
        else:
            answer.framing = "close-delimited"

    def end(self, ending: Ending, at: float) -> None:
        """The connection has ended."""
        answer = self.answer
        if answer.ended_at is not None:
            return
        answer.ended_at = at
        if answer.head_at is None:
            broken = " without a head"
        elif self._chunks is not None:
            broken = " behind an illegal chunk" if self._chunks.illegal else " without last chunk"
        elif self._left is not None:
            broken = " short of its length"
        else:
            broken = "" if ending is not Ending.FIN else " that ends the body"
        answer.ending = "clean" if broken == " that ends the body" else f"{ending.upper()}{broken}"


class Chunks:
    """The chunked coding, as far as it is legal."""

    def __init__(self) -> None:
        self._buffer = b""
        self._left: int | None = None
        self.last = False
        self.illegal = False

    def feed(self, data: bytes) -> bytes:
        """The payload in it."""
        self._buffer += data
        payload = b""
        while self._buffer and not self.last and not self.illegal:
            if self._left is None:
                line, found, behind = self._buffer.partition(b"\r\n")
                if not found and len(line) < 64:
                    break
                size = line.partition(b";")[0].strip()
                if not re.fullmatch(rb"[0-9a-fA-F]+", size):
                    self.illegal = True
                    break
                self._buffer, self._left = behind, int(size, 16)
                self.last = not self._left
            elif self._left:
                piece = self._buffer[: self._left]
                payload += piece
                self._buffer = self._buffer[len(piece) :]
                self._left -= len(piece)
            else:
                if len(self._buffer) < 2:
                    break
                self.illegal = not self._buffer.startswith(b"\r\n")
                self._buffer, self._left = self._buffer[2:], None
        return payload


def decoding(fields: dict[str, str]) -> Callable[[bytes], bytes]:
    """What makes the body of its pieces."""
    return zlib.decompressobj(31).decompress if fields.get("content-encoding") == "gzip" else bytes
