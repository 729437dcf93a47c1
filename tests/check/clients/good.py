"""A client that does everything right, over a bare socket: the card has nothing to say against it.

Each duty is a method of its own, so that `wrong.py` can leave out one at a time. As a program it prints the text as it
comes, and leaves with 0 only if it believes the answer.
"""

import codecs
import json
import os
import re
import socket
import sys
import time
import zlib
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

QUESTION = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}).encode()
LINE_END = re.compile(r"\r\n|\n|\r")


class NotWhole(Exception):
    """The answer is not believed; `text` is what came of it."""

    def __init__(self, why: str, text: str = "") -> None:
        super().__init__(why)
        self.text = text


class Refused(Exception):
    """May be asked again, after so many seconds."""

    def __init__(self, status: int, wait: float | None) -> None:
        super().__init__(f"status {status}")
        self.wait = wait


class Wire:
    """A connection."""

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), 10)
        self.rest = b""

    def read(self, timeout: float) -> bytes:
        """What comes next; b"" at its end."""
        if self.rest:
            data, self.rest = self.rest, b""
            return data
        self.socket.settimeout(timeout)
        return self.socket.recv(65536)

    def line(self, timeout: float) -> bytes:
        while b"\n" not in self.rest:
            data = self._more(timeout)
            if not data:
                raise EOFError
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line.rstrip(b"\r")

    def _more(self, timeout: float) -> bytes:
        self.socket.settimeout(timeout)
        return self.socket.recv(65536)

    def close(self) -> None:
        self.socket.close()


class Good:
    attempts = 3
    longest_wait = 5.0
    accept = "gzip, deflate"
    path = "/v1/chat/completions"
    media_type = "text/event-stream"

    def __init__(self, timeout: float = 1.0, case: str = "") -> None:
        self.head_limit = self.first_limit = 2.0 + timeout
        self.idle_limit = timeout
        self.content_limit = 3.0 + timeout
        self.case = case
        self.text = ""
        self.shown = lambda _: None
        self._kept: Wire | None = None

    @property
    def idle(self) -> float:
        """The first piece may take longer than the others."""
        return self.idle_limit if self.text else self.first_limit

    # Asking.

    def ask(self, url: str) -> str:
        """The text. NotWhole if it is not believed, or some error of the wire's."""
        try:
            for attempt in range(1, self.attempts + 1):
                try:
                    self.attempt(url)
                    break
                except Refused as refused:
                    if attempt == self.attempts or (refused.wait or 0.0) > self.longest_wait:
                        raise
                    self.sleep(refused.wait)
        finally:
            if self._kept is not None:
                self._kept.close()
        return self.text

    def sleep(self, wait: float | None) -> None:
        time.sleep(0.1 if wait is None else max(0.0, wait))

    def attempt(self, url: str) -> None:
        wire = self.send(url)
        try:
            status, headers = self.head(wire)
            if status != 200:
                self.refused(wire, status, headers)
                return
            self.check_type(headers)
            self.answer(wire, headers)
        finally:
            if wire is not self._kept:
                wire.close()

    def send(self, url: str) -> Wire:
        there = urlsplit(url)
        request = (
            f"POST {self.path} HTTP/1.1\r\nHost: {there.netloc}\r\nContent-Type: application/json\r\n"
            f"Accept-Encoding: {self.accept}\r\nContent-Length: {len(QUESTION)}\r\n\r\n"
        ).encode() + QUESTION
        wire, self._kept = self._kept, None
        if wire is not None and not self.is_alive(wire):
            wire = wire.close()
        if wire is None:
            wire = Wire(there.hostname, there.port)
        wire.socket.sendall(request)
        return wire

    def is_alive(self, wire: Wire) -> bool:
        """Nothing has come on it since."""
        time.sleep(0.02)
        wire.socket.settimeout(0)
        try:
            wire.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    # What comes before the body.

    def head(self, wire: Wire) -> tuple[int, dict[str, str]]:
        until = time.monotonic() + self.head_limit
        lines = []
        while line := wire.line(max(0.01, until - time.monotonic())):
            lines.append(line.decode("latin-1"))
        fields = (line.partition(":") for line in lines[1:])
        return int(lines[0].split()[1]), {name.lower(): value.strip() for name, _, value in fields}

    def refused(self, wire: Wire, status: int, headers: dict[str, str]) -> None:
        for _ in self.body(wire, headers):
            pass
        if not self.may_ask_again(status):
            raise NotWhole(f"status {status}")
        self._kept = wire
        raise Refused(status, self.told_to_wait(headers))

    def may_ask_again(self, status: int) -> bool:
        return status in {408, 409, 429} or status >= 500

    def told_to_wait(self, headers: dict[str, str]) -> float | None:
        told = headers.get("retry-after", "")
        if re.fullmatch(r"-?\d+", told):
            return float(told)
        try:
            return parsedate_to_datetime(told).timestamp() - time.time()
        except ValueError:
            return None

    def check_type(self, headers: dict[str, str]) -> None:
        if headers.get("content-type", "").partition(";")[0].strip().lower() != self.media_type:
            raise NotWhole(f"no stream but {headers.get('content-type')}")

    # The body.

    def body(self, wire: Wire, headers: dict[str, str]) -> Iterator[bytes]:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            yield from self.chunks(wire)
        elif "content-length" in headers:
            yield from self.exactly(wire, int(headers["content-length"]))
        else:
            while data := wire.read(self.idle):
                yield data

    def chunks(self, wire: Wire) -> Iterator[bytes]:
        while size := self.chunk_size(wire.line(self.idle)):
            yield from self.exactly(wire, size)
            wire.line(self.idle)
        while wire.line(self.idle):
            pass

    def chunk_size(self, line: bytes) -> int:
        return int(line.partition(b";")[0], 16)

    def exactly(self, wire: Wire, size: int) -> Iterator[bytes]:
        while size:
            data = wire.read(self.idle)
            if not data:
                raise EOFError
            data, wire.rest = data[:size], data[size:] + wire.rest
            size -= len(data)
            yield data

    def decoded(self, pieces: Iterator[bytes], headers: dict[str, str]) -> Iterator[bytes]:
        coding = headers.get("content-encoding", "")
        if not coding:
            return pieces
        return self.inflated(pieces, zlib.decompressobj(zlib.MAX_WBITS + (16 if coding == "gzip" else 0)))

    def inflated(self, pieces: Iterator[bytes], decoder: "zlib._Decompress") -> Iterator[bytes]:
        for piece in pieces:
            yield decoder.decompress(piece)

    # Its events.

    def characters(self, pieces: Iterator[bytes]) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        for piece in pieces:
            yield decoder.decode(piece)

    def lines(self, texts: Iterator[str]) -> Iterator[str]:
        rest, after_cr = "", False
        for text in texts:
            new = text.removeprefix("\n") if after_cr else text
            after_cr = (text or (after_cr and "\r") or "").endswith("\r")
            *whole, rest = LINE_END.split(rest + new)
            yield from whole

    def events(self, lines: Iterator[str]) -> Iterator[str]:
        data = []
        for line in lines:
            if line:
                name, value = self.field(line)
                if name == "data":
                    data.append(value)
            else:
                if any(data):
                    yield "\n".join(data)
                data = []

    def field(self, line: str) -> tuple[str, str]:
        name, _, value = line.partition(":")
        return name, value.removeprefix(" ")

    # The answer.

    def answer(self, wire: Wire, headers: dict[str, str]) -> None:
        finish = None
        self.said = time.monotonic()
        try:
            pieces = self.kept_up(self.decoded(self.body(wire, headers), headers))
            for event in self.events(self.lines(self.characters(pieces))):
                if self.is_done(event):
                    break
                finish = self.chunk(self.parsed(event)) or finish
                if self.leaves():
                    wire.close()
                    self.lives_on()
                    return
        except (OSError, EOFError) as error:
            self.broken(error)
            return
        self.check_end(finish)

    def kept_up(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """As long as it says something."""
        for piece in pieces:
            if time.monotonic() - self.said > self.content_limit:
                raise TimeoutError("alive, and says nothing")
            yield piece

    def is_done(self, event: str) -> bool:
        return event == "[DONE]"

    def parsed(self, event: str) -> dict:
        return json.loads(event)

    def chunk(self, said: dict) -> str | None:
        """The finish reason, if it has one."""
        if "error" in said or said.get("type") == "error":
            raise NotWhole(str(said), self.text)
        finish = None
        for choice in self.choices(said):
            self.show(choice["delta"].get("content") or "")
            finish = choice.get("finish_reason") or finish
        return finish

    def choices(self, said: dict) -> list:
        return said.get("choices") or []

    def show(self, text: str) -> None:
        if text:
            self.said = time.monotonic()
        self.text += text
        self.shown(text)

    def broken(self, error: Exception) -> None:
        raise NotWhole(f"{type(error).__name__}: {error}", self.text) from error

    def check_end(self, finish: str | None) -> None:
        if finish is None:
            raise NotWhole("nobody said why it ended", self.text)

    def leaves(self) -> bool:
        return self.case.startswith("leave") and len(self.text.split()) >= 3

    def lives_on(self) -> None:
        time.sleep(2)


def main(client: Good) -> None:
    """Print what comes; leave with 0 if it is believed."""
    client.shown = lambda text: print(text, end="", flush=True)
    try:
        client.ask(os.environ["CHAOSPROXY_URL"])
    except (NotWhole, Refused, OSError, EOFError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main(Good(case=os.environ["CHAOSPROXY_CASE"]))
