"""What a peer has done wrong on HTTP/2: a `StreamFault` costs one stream, a `ConnectionFault` the connection.

Rules: neither leaves the package as an exception. Must not know: frames, streams, what is sent because of them.
"""

from chaosproxy.model.codes import PROTOCOL_ERROR


class ConnectionFault(Exception):
    """The peer broke a rule that costs the whole connection (RFC 9113 section 5.4.1)."""

    def __init__(self, code: int, detail: str, cause: str = "malformed") -> None:
        super().__init__(detail)
        self.code, self.detail, self.cause = code, detail, cause


class StreamFault(Exception):
    """The peer broke a rule that costs one stream (RFC 9113 section 5.4.2). `status` is what its request deserves."""

    def __init__(self, detail: str, code: int = PROTOCOL_ERROR, status: int = 400) -> None:
        super().__init__(detail)
        self.code, self.detail, self.status = code, detail, status
