"""The client that does everything right, for other interfaces and over HTTP/2; and those that break a rule which only
these can break."""

import socket
from urllib.parse import urlsplit

from h2.config import H2Configuration
from h2.connection import ConnectionState, H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset

from tests.check.clients.good import QUESTION, Good, NotWhole, Refused


class Messages(Good):
    """Anthropic's: typed events, of which message_stop is the last."""

    path = "/v1/messages"

    def is_done(self, event):
        return event.startswith('{"type":"message_stop"')

    def chunk(self, said):
        match said.get("type"):
            case "content_block_delta":
                self.show(said["delta"]["text"])
            case "message_delta":
                return said["delta"]["stop_reason"]
            case "error":
                raise NotWhole(str(said), self.text)
            case other:
                self.beside(other, said)
        return None

    def beside(self, kind, said):
        if "error" in said:
            raise NotWhole(str(said), self.text)


class KnowsItsTypes(Messages):
    def beside(self, kind, said):
        if kind not in {"message_start", "content_block_start", "content_block_stop"}:
            raise NotWhole(f"what is {kind}?", self.text)


class Lines(Good):
    """Ollama's: a JSON object a line, of which the last one is done."""

    path = "/api/chat"
    media_type = "application/x-ndjson"

    def events(self, lines):
        return (line for line in lines if line.strip())

    ended = None

    def is_done(self, event):
        said = self.parsed(event)
        if said.get("done"):
            self.ended = said.get("done_reason")
        return bool(said.get("done"))

    def check_end(self, finish):
        super().check_end(self.ended)

    def chunk(self, said):
        if "error" in said:
            raise NotWhole(str(said), self.text)
        self.show(said["message"]["content"])


class H2(Good):
    """With prior knowledge. One attempt more where a stream was refused, over a connection of its own."""

    def attempt(self, url):
        there = urlsplit(url)
        with socket.create_connection((there.hostname, there.port), 10) as wire:
            session = H2Connection(H2Configuration(header_encoding="utf-8"))
            session.initiate_connection()
            head = {":method": "POST", ":scheme": "http", ":authority": there.netloc, ":path": self.path}
            head |= {"content-type": "application/json", "content-length": str(len(QUESTION))}
            session.send_headers(1, list(head.items()))
            session.send_data(1, QUESTION, end_stream=True)
            wire.sendall(session.data_to_send())
            self.over_h2(wire, session)

    def over_h2(self, wire, session):
        pieces = self.frames(wire, session)
        status, headers = next(pieces)
        if status != "200":
            if not self.may_ask_again(int(status)):
                raise NotWhole(f"status {status}")
            raise Refused(int(status), self.told_to_wait(headers))
        self.check_type(headers)
        self.pieces = pieces
        self.answer(wire, headers)

    def body(self, wire, headers):
        return self.pieces

    def frames(self, wire, session):
        """The head, then each piece of the body."""
        for frame in self.cut(wire):
            for event in session.receive_data(frame):
                match event:
                    case ResponseReceived():
                        headers = dict(event.headers)
                        yield headers.pop(":status"), headers
                    case DataReceived():
                        session.acknowledge_received_data(event.flow_controlled_length, 1)
                        yield event.data
                    case StreamEnded():
                        return
                    case StreamReset(error_code=7):
                        raise Refused(0, None)
                    case StreamReset():
                        self.reset(event.error_code)
                        return
                    case ConnectionTerminated():
                        self.told_to_go(event)
                        session.state_machine.state = ConnectionState.CLIENT_OPEN  # it would read nothing more
            wire.sendall(session.data_to_send())
        raise EOFError

    def cut(self, wire):
        """One frame at a time: behind a GOAWAY h2 reads nothing more of what came with it."""
        wire.settimeout(self.first_limit)
        rest = b""
        while data := wire.recv(65536):
            rest += data
            while len(rest) >= 9 and len(rest) >= (size := 9 + int.from_bytes(rest[:3])):
                yield rest[:size]
                rest = rest[size:]

    def reset(self, code):
        raise EOFError(f"RST_STREAM({code})")

    def told_to_go(self, event):
        if (event.last_stream_id or 0) < 1:
            raise EOFError("GOAWAY")


class BelievesResets(H2):
    """A reset is an end."""

    was_reset = False

    def reset(self, code):
        self.was_reset = True

    def check_end(self, finish):
        if not self.was_reset:
            super().check_end(finish)


class LeavesAtOnce(H2):
    """It is told to go, and goes."""

    def told_to_go(self, event):
        raise EOFError("GOAWAY")


class TakesRefusalsForAnswers(H2):
    def over_h2(self, wire, session):
        try:
            super().over_h2(wire, session)
        except Refused as refused:
            if str(refused) != "status 0":
                raise


BESIDE = {
    "pings": KnowsItsTypes,
    "stream-reset": BelievesResets,
    "goaway": LeavesAtOnce,
    "refused": TakesRefusalsForAnswers,
}
"""By the rule that it breaks."""
