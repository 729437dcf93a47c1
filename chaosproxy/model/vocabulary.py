"""The small closed vocabularies: which way, which peer, how far an ending reaches, what it looks like on the wire.

Rules: enums only, no behaviour. Must not know: protocols, the engine, time.
"""

from enum import StrEnum
from typing import Literal


class Way(StrEnum):
    """A direction of travel. It belongs to the lane, never to the event."""

    REQUEST = "request"
    RESPONSE = "response"


BothWays = Literal["both"]
"""What a few faults may say in place of one way."""


class Peer(StrEnum):
    """Who did it, as the journal names them."""

    CLIENT = "client"
    UPSTREAM = "upstream"
    PROXY = "proxy"


class Role(StrEnum):
    """Which end of a connection a session plays."""

    CLIENT = "client"
    SERVER = "server"


class Scope(StrEnum):
    """How far an ending reaches: one exchange, or everything on its connection."""

    STREAM = "stream"
    CONNECTION = "connection"


class Manner(StrEnum):
    """What an ending looks like on the wire. The table in `Abort` says what each means in each protocol."""

    RESET = "reset"
    FIN = "fin"
    AT_ONCE = "at_once"
    MID_CHUNK = "mid_chunk"
    NO_CLOSE_NOTIFY = "no_close_notify"
    GOAWAY = "goaway"
    SILENCE = "silence"


class Framing(StrEnum):
    """How the end of a message body is found (RFC 9112 section 6.3, RFC 9113 section 8.1)."""

    NONE = "none"
    """No body at all: a GET, an answer to HEAD, 204, 304."""
    LENGTH = "length"
    CHUNKED = "chunked"
    CLOSE = "close"
    """An HTTP/1 response that ends with its connection."""
    STREAM = "stream"
    """HTTP/2: END_STREAM."""
    TUNNEL = "tunnel"
    """After 101 or a successful CONNECT: raw bytes, each way ends by itself."""


BodyFraming = Literal["chunked", "content_length", "close_delimited"]
"""How a body that there is ends, for a person; over HTTP/2 one without a length is as good as chunked."""


class Moment(StrEnum):
    """The named places in an exchange where a trigger can stand (`at: request`, `at: headers` ...)."""

    REQUEST = "request"
    REQUEST_END = "request_end"
    HEADERS = "headers"
    BODY = "body"
    END = "end"
    AFTER_END = "after_end"
