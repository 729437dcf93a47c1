"""From events to frames: the order of the grammar in, HEADERS and DATA out.

Rules: one `send` is one write, every Data a DATA frame of its own in it; END_STREAM rides on the last frame there is, and
needs an empty DATA frame only where none is left. Whatever the stream no longer takes is dropped in silence: it has been
told to the driver. Must not know: what arrives, how output is flushed.
"""

from collections.abc import Sequence

from chaosproxy.http2 import fields, frames
from chaosproxy.http2.core import Core
from chaosproxy.http2.shaping import in_fragments, shape_of, shaped_data
from chaosproxy.http2.streams import Death, Part, Stream
from chaosproxy.model.codes import NO_ERROR
from chaosproxy.model.messages import Data, End, Event, Goaway, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Role


class Sender:
    """The writing of messages."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def send(self, stream: Stream, events: Sequence[Event]) -> None:
        """Write `events`, none of them an Abort. Data only within the allowance."""
        parts: list[bytes] = []
        try:
            self._frame(stream, events, parts)
        finally:
            # A block that is encoded has to leave, whatever failed behind it: both ends' tables must stay the same (RFC 7541
            # section 2.2).
            if parts:
                self._core.output.element(b"".join(parts))

    def _frame(self, stream: Stream, events: Sequence[Event], parts: list[bytes]) -> None:
        last = len(events) - 1
        output = self._core.output
        for index, event in enumerate(events):
            if stream.sending is Part.OVER and type(event) is not Goaway:
                continue  # a final head has ended it: the End behind is nothing, a GOAWAY speaks of the connection
            if type(event) is Data:
                end = index < last and type(events[index + 1]) is End
                if stream.shape is None:
                    parts.append(output.data(stream.wire, event.payload, end=end))
                else:
                    parts.append(
                        shaped_data(output, stream.wire, event.payload, stream.shape, events[index + 1 :], end=end)
                    )
                self._core.useful = True
                if end:
                    self._ended(stream, parts)
            else:
                self._control(stream, event, parts)

    def body(self, stream: Stream, events: Sequence[Event]) -> bool:
        """`send` of a stream that is sending its body, where speed counts: False if it is not Data alone."""
        if not self._core.output.body(stream.wire, events):
            return False
        self._core.useful = True
        return True

    def _control(self, stream: Stream, event: Event, parts: list[bytes]) -> None:
        core = self._core
        match event:
            case RequestHead() | ResponseHead():
                self._head(stream, event, parts)
            case Interim():
                parts.append(core.output.head(stream.wire, fields.response_fields(event), end=False))
            case Trailers():
                stream.trailers = event  # they carry END_STREAM, so they wait until it is sure (section 8.1)
            case End():
                self._end(stream, parts)
            case Goaway():
                parts.append(frames.goaway(event.code, event.last))
                core.announced(event)
            case _:
                raise AssertionError(f"{type(event).__name__} is not sent here")

    def _head(self, stream: Stream, head: RequestHead | ResponseHead, parts: list[bytes]) -> None:
        if isinstance(head, RequestHead):
            stream.method = head.method
            block = fields.request_fields(head)
            end = head.final and head.method != b"CONNECT"  # a tunnel's way is never over with its head
        else:
            stream.head_sent = True
            stream.tunnel = stream.method == b"CONNECT" and 200 <= head.status < 300
            block = fields.response_fields(head)
            end = head.final and not stream.tunnel
        stream.sending = Part.BODY
        written = self._core.output.head(stream.wire, block, end=end)
        if head.asked and (shape := shape_of(head.asked)) is not None:
            stream.sending, stream.shape, shape.written = Part.SHAPED, shape, True
            written = in_fragments(written, shape.block) if shape.block else written
        parts.append(written)
        if end:
            self._ended(stream, parts)

    def _end(self, stream: Stream, parts: list[bytes]) -> None:
        output, trailers = self._core.output, stream.trailers
        block = fields.trailers_block(trailers.headers) if trailers is not None else []
        parts.append(output.head(stream.wire, block, end=True) if block else output.end(stream.wire))
        self._ended(stream, parts)

    def _ended(self, stream: Stream, parts: list[bytes]) -> None:
        """END_STREAM is written."""
        stream.sending = Part.OVER
        core = self._core
        reset = None if stream.shape is None else stream.shape.reset
        if reset is not None and not stream.tunnel:
            parts.append(frames.reset(stream.wire, reset))
            core.bury(stream, Death.RESET_BY_US)
        elif stream.receiving is Part.OVER:
            core.bury(stream, Death.ENDED)
        elif core.role is Role.SERVER and not stream.tunnel and stream.left != 0:
            # Section 8.1: an answer that needs no more of the request asks the client to stop, without an error. Where the
            # announced body is complete there is nothing to stop: only END_STREAM is still on its way.
            parts.append(frames.reset(stream.wire, NO_ERROR))
            core.bury(stream, Death.RESET_BY_US)
