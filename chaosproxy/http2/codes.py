"""HTTP/2 error codes (RFC 9113 section 7), and the two faults that carry one inside this package.

Rules: a `StreamFault` costs one stream, a `ConnectionFault` the connection; neither leaves the package as an exception.
Must not know: frames, streams, what is sent because of them.
"""

from h2.errors import ErrorCodes

NO_ERROR = int(ErrorCodes.NO_ERROR)
PROTOCOL_ERROR = int(ErrorCodes.PROTOCOL_ERROR)
INTERNAL_ERROR = int(ErrorCodes.INTERNAL_ERROR)
FLOW_CONTROL_ERROR = int(ErrorCodes.FLOW_CONTROL_ERROR)
STREAM_CLOSED = int(ErrorCodes.STREAM_CLOSED)
FRAME_SIZE_ERROR = int(ErrorCodes.FRAME_SIZE_ERROR)
REFUSED_STREAM = int(ErrorCodes.REFUSED_STREAM)
CANCEL = int(ErrorCodes.CANCEL)
COMPRESSION_ERROR = int(ErrorCodes.COMPRESSION_ERROR)
ENHANCE_YOUR_CALM = int(ErrorCodes.ENHANCE_YOUR_CALM)


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
