"""The frames that we write by hand are those that hyperframe writes, and their form is judged at its edges."""

import pytest
from hyperframe.frame import DataFrame, GoAwayFrame, RstStreamFrame, WindowUpdateFrame

from chaosproxy.http2 import frames
from chaosproxy.http2.mistakes import ConnectionFault
from chaosproxy.model import codes


def test_what_we_write_is_what_hyperframe_writes():
    assert frames.reset(5, codes.CANCEL) == RstStreamFrame(5, error_code=codes.CANCEL).serialize()
    assert frames.window_update(5, 70_000) == WindowUpdateFrame(5, window_increment=70_000).serialize()
    assert frames.window_update(0, 1) == WindowUpdateFrame(0, window_increment=1).serialize()
    assert frames.frame(frames.DATA, 0, 3, b"abc") == DataFrame(3, b"abc").serialize()
    assert frames.frame(frames.DATA, frames.END_STREAM, 3) == DataFrame(3, b"", flags=["END_STREAM"]).serialize()


def test_a_goaway_says_why_in_ascii_and_briefly():
    long = frames.goaway(codes.PROTOCOL_ERROR, 7, frames.brief("x" * 300))
    assert long == GoAwayFrame(0, 7, codes.PROTOCOL_ERROR, additional_data=b"x" * 200).serialize()
    assert frames.goaway(0, 0, frames.brief("\u20ac")).endswith(b"?")


@pytest.mark.parametrize(
    ("kind", "flags", "stream", "size", "code"),
    [
        (frames.DATA, 0, 0, 1, codes.PROTOCOL_ERROR),
        (frames.DATA, 0, 1, 0, None),
        (frames.HEADERS, 0, 0, 1, codes.PROTOCOL_ERROR),
        (frames.PRIORITY, 0, 0, 5, codes.PROTOCOL_ERROR),
        (frames.RST_STREAM, 0, 0, 4, codes.PROTOCOL_ERROR),
        (frames.RST_STREAM, 0, 1, 4, None),
        (frames.RST_STREAM, 0, 1, 3, codes.FRAME_SIZE_ERROR),
        (frames.RST_STREAM, 0, 1, 5, codes.FRAME_SIZE_ERROR),
        (frames.PUSH_PROMISE, 0, 0, 4, codes.PROTOCOL_ERROR),
        (frames.CONTINUATION, 0, 0, 4, codes.PROTOCOL_ERROR),
        (frames.SETTINGS, 0, 1, 0, codes.PROTOCOL_ERROR),
        (frames.SETTINGS, 0, 0, 12, None),
        (frames.SETTINGS, 0, 0, 13, codes.FRAME_SIZE_ERROR),
        (frames.SETTINGS, frames.ACK, 0, 0, None),
        (frames.SETTINGS, frames.ACK, 0, 6, codes.FRAME_SIZE_ERROR),
        (frames.PING, 0, 1, 8, codes.PROTOCOL_ERROR),
        (frames.PING, 0, 0, 8, None),
        (frames.PING, 0, 0, 7, codes.FRAME_SIZE_ERROR),
        (frames.GOAWAY, 0, 1, 8, codes.PROTOCOL_ERROR),
        (frames.GOAWAY, 0, 0, 8, None),
        (frames.GOAWAY, 0, 0, 7, codes.FRAME_SIZE_ERROR),
        (frames.WINDOW_UPDATE, 0, 0, 4, None),
        (frames.WINDOW_UPDATE, 0, 1, 4, None),
        (frames.WINDOW_UPDATE, 0, 0, 5, codes.FRAME_SIZE_ERROR),
        (10, 0, 0, 99, None),
        (10, 0, 1, 99, None),
    ],
)
def test_the_form_that_a_header_alone_must_have(kind, flags, stream, size, code):
    if code is None:
        frames.check_form(kind, flags, stream, size)
        return
    with pytest.raises(ConnectionFault) as caught:
        frames.check_form(kind, flags, stream, size)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("flags", "payload", "body"),
    [
        (0, b"\2abc", b"\2abc"),
        (frames.PADDED, b"\2abc", b"a"),
        (frames.PADDED, b"\0abc", b"abc"),
        (frames.PADDED, b"\3abc", b""),
        (frames.PADDED, b"\0", b""),
    ],
)
def test_padding_is_taken_off(flags, payload, body):
    assert frames.without_padding(flags, payload) == body


@pytest.mark.parametrize(("payload", "code"), [(b"", codes.FRAME_SIZE_ERROR), (b"\4abc", codes.PROTOCOL_ERROR)])
def test_padding_that_cannot_be_is_named(payload, code):
    with pytest.raises(ConnectionFault) as caught:
        frames.without_padding(frames.PADDED, payload)
    assert caught.value.code == code
