"""Every case of h2spec's list, and what it leaves out, through a server's session, whole and byte by byte."""

from collections import Counter
from collections.abc import Callable

from chaosproxy.http2.frames import ACK, END_HEADERS, PREFACE, frame
from chaosproxy.model import codes
from chaosproxy.model.messages import Data, End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.session import Closing, Granted
from tests.http2.conftest import Wire
from tests.security.h2_frames import CONTINUATION, GET, PING, POST, RST, SETTINGS, four, setting
from tests.security.h2_list import ACCEPTED, FALL, RESET, TAKEN, VERDICTS, Frames

CUTS = (False, True)
Verdict = tuple[str, int]
"""What falls, and with which code."""


def server(bytewise: bool, **options: int) -> Wire:
    """Whose client has greeted."""
    wire = Wire(Role.SERVER, bytewise, **options)
    wire.feed(PREFACE, frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0))
    wire.written()
    return wire


def judged(wire: Wire, frames: Frames) -> Verdict:
    """What it costs the peer to say `frames`, and that what stays is as before."""
    wire.feed(frames(wire))
    written = wire.written()
    fallen = [one.body[0] for one in written if one.kind == "GOAWAY"]
    if fallen:
        assert (len(fallen), written[-1].kind, wire.session.closing) == (1, "GOAWAY", Closing.FIN)
        assert wire.feed(wire.headers(9, GET, end=True)) == []
        return "connection", fallen[0]
    reset = [(one.stream, one.body) for one in written if one.kind == "RST_STREAM"]
    signals = wire.feed(wire.headers(9, (*GET, (b"x", b"in step")), end=True))
    assert next(event for stream, event in signals if stream == 9).headers == ((b"x", b"in step"),)
    assert wire.session.closing is None
    if reset:
        ((stream, code),) = reset
        assert stream == 1
        return "stream", code
    return "nothing", 0


def required(name: str) -> tuple[Verdict, Frames]:
    if name in FALL:
        frames, code = FALL[name]
        return ("connection", code), frames
    if name in RESET:
        frames, code = RESET[name]
        return ("stream", code), frames
    return ("nothing", 0), TAKEN[name]


def named(verdicts: list[Verdict]) -> str:
    """How often what fell, with which code."""
    found = Counter(verdicts)
    parts = []
    for what in ("connection", "stream"):
        counted = sorted(
            ((number, codes.code_name(code)) for (one, code), number in found.items() if one == what), reverse=True
        )
        if counted:
            parts.append(f"{what}: " + ", ".join([f"{name} {number}" for number, name in counted]))
    if found["nothing", 0]:
        parts.append(f"nothing: {found['nothing', 0]}")
    return "; ".join(parts)


# ---- what has a function of its own


def our_settings_come_first(bytewise: bool) -> None:
    assert Wire(Role.SERVER, bytewise).greeting[0].kind == "SETTINGS"


def a_wrong_preface(bytewise: bool) -> None:
    wire = Wire(Role.SERVER, bytewise)
    wire.feed(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\rX")
    assert wire.written()[-1].body[0] == codes.PROTOCOL_ERROR


def unknown_flags(bytewise: bool) -> None:
    wire = server(bytewise)
    wire.feed(frame(PING, 0x16, 0, b"12345678"))
    assert [(one.kind, one.body) for one in wire.written()] == [("PING", b"12345678")]


def the_largest_frame(bytewise: bool) -> None:
    wire = server(bytewise)
    signals = wire.feed(wire.headers(1, POST), wire.data(1, b"x" * 16_384))
    assert signals[1:] == [(1, Data(b"x" * 16_384))]


def continuation_behind_a_reset(bytewise: bool) -> None:
    wire = server(bytewise)
    frames = wire.headers(1, POST) + frame(RST, 0, 1, four(8)) + frame(CONTINUATION, END_HEADERS, 1)
    assert judged(wire, lambda _: frames) == ("connection", codes.PROTOCOL_ERROR)


def answered(bytewise: bool) -> Wire:
    """Stream 1 is over, both ways."""
    wire = server(bytewise)
    wire.feed(wire.headers(1, GET, end=True))
    wire.session.send(1, [ResponseHead(200), End()])
    wire.written()
    return wire


def data_on_a_closed_stream(bytewise: bool) -> None:
    assert judged(answered(bytewise), lambda w: w.data(1, b"x")) == ("connection", codes.STREAM_CLOSED)


def headers_on_a_closed_stream(bytewise: bool) -> None:
    assert judged(answered(bytewise), lambda w: w.headers(1, GET, end=True)) == ("connection", codes.STREAM_CLOSED)


def continuation_on_a_closed_stream(bytewise: bool) -> None:
    verdict = judged(answered(bytewise), lambda _: frame(CONTINUATION, END_HEADERS, 1))
    assert verdict == ("connection", codes.PROTOCOL_ERROR)


def more_streams_than_allowed(bytewise: bool) -> None:
    wire = server(bytewise, max_streams=1)
    wire.feed(wire.headers(1, POST), wire.headers(3, POST))
    assert [(one.stream, one.body) for one in wire.written()] == [(3, codes.REFUSED_STREAM)]
    assert wire.feed(wire.data(1, b"x")) == [(1, Data(b"x"))]


def a_priority_on_itself(bytewise: bool) -> None:
    wire = server(bytewise)
    signals = wire.feed(ACCEPTED["a priority on itself"](wire))
    assert [type(event) for _, event in signals] == [RequestHead, End]


def the_last_of_two_values(bytewise: bool) -> None:
    wire = server(bytewise)
    wire.feed(frame(SETTINGS, 0, 0, b"\0\4" + four(100) + b"\0\4" + four(1)), wire.headers(1, GET, end=True))
    assert wire.session.allowance(1) == 1


def settings_are_acknowledged(bytewise: bool) -> None:
    wire = server(bytewise)
    wire.feed(frame(SETTINGS, 0, 0), frame(SETTINGS, 0, 0))
    assert [(one.kind, one.body) for one in wire.written()] == [("SETTINGS", b"")] * 2


def a_ping_is_answered(bytewise: bool) -> None:
    wire = server(bytewise)
    wire.feed(frame(PING, 0, 0, b"\0\1\2\3\4\5\6\7"))
    assert [(one.kind, one.body) for one in wire.written()] == [("PING", b"\0\1\2\3\4\5\6\7")]


def a_window_of_one_byte(bytewise: bool) -> None:
    wire = server(bytewise)
    wire.feed(setting(4, 1), wire.headers(1, GET, end=True))
    wire.session.send(1, [ResponseHead(200)])
    for _ in range(3):
        assert wire.session.allowance(1) == 1
        wire.session.send(1, [Data(b"x")])
        assert wire.session.allowance(1) == 0
        wire.feed(frame(8, 0, 1, four(1)))
    assert [len(one.body) for one in wire.written() if one.kind == "DATA"] == [1, 1, 1]


def a_window_that_changes_behind_the_head(bytewise: bool) -> None:
    wire = server(bytewise)
    wire.feed(setting(4, 0), wire.headers(1, GET, end=True))
    wire.session.send(1, [ResponseHead(200)])
    assert wire.session.allowance(1) == 0
    signals = wire.session.receive(setting(4, 1))
    assert Granted(0) in signals
    assert wire.session.allowance(1) == 1


def a_negative_window(bytewise: bool) -> None:
    wire = server(bytewise)
    wire.feed(setting(4, 3), wire.headers(1, GET, end=True))
    wire.session.send(1, [ResponseHead(200), Data(b"abc")])
    wire.feed(setting(4, 2), frame(8, 0, 1, four(1)))
    assert wire.session.allowance(1) == 0
    wire.feed(frame(8, 0, 1, four(2)))
    assert wire.session.allowance(1) == 2


def a_block_in_several_frames(bytewise: bool) -> None:
    wire = server(bytewise)
    signals = wire.feed(ACCEPTED["a block in many"](wire))
    assert [type(event) for _, event in signals] == [RequestHead, End]


def a_reset_of_an_unknown_code(bytewise: bool) -> None:
    wire = server(bytewise)
    wire.feed(wire.headers(1, POST), frame(RST, 0, 1, four(0xFF)))
    assert wire.written() == []
    assert wire.session.closing is None
    assert [type(event) for _, event in wire.feed(wire.headers(3, GET, end=True))] == [RequestHead, End]


BEHAVES: dict[str, Callable[[bool], None]] = {
    "3.5/1": our_settings_come_first,
    "3.5/2": a_wrong_preface,
    "4.1/2": unknown_flags,
    "4.2/1": the_largest_frame,
    "5.1/10": continuation_behind_a_reset,
    "5.1/11": data_on_a_closed_stream,
    "5.1/12": headers_on_a_closed_stream,
    "5.1/13": continuation_on_a_closed_stream,
    "5.1.2/1": more_streams_than_allowed,
    "5.3.1/1": a_priority_on_itself,
    "6.5.3/1": the_last_of_two_values,
    "6.5.3/2": settings_are_acknowledged,
    "6.7/1": a_ping_is_answered,
    "6.9.1/1": a_window_of_one_byte,
    "6.9.2/1": a_window_that_changes_behind_the_head,
    "6.9.2/2": a_negative_window,
    "6.10/1": a_block_in_several_frames,
    "7/2": a_reset_of_an_unknown_code,
}


def test_the_list(shown):
    """The whole of it: 95 cases and 8 of compression."""
    tried, verdicts = 0, list[Verdict]()
    for case, name in VERDICTS.items():
        verdict, frames = required(name)
        for bytewise in CUTS:
            assert judged(server(bytewise), frames) == verdict, case
            tried += 1
        verdicts.append(verdict)
    for case, behaves in BEHAVES.items():
        assert case not in VERDICTS
        for bytewise in CUTS:
            behaves(bytewise)
            tried += 1
    cases = {*VERDICTS, *BEHAVES}
    assert (len([one for one in cases if not one.startswith("hpack")]), len(cases)) == (95, 103)
    shown(
        "http2",
        "h2spec's list of cases, put again by hand, as a server",
        tried=tried,
        must="the verdict that RFC 9113 names, whole and byte by byte",
        happens=f"{named(verdicts)}; as asked: {len(BEHAVES)}",
    )


def test_what_the_list_leaves_out(shown):
    listed = set(VERDICTS.values())
    tried, verdicts = 0, list[Verdict]()
    for name in [*FALL, *RESET, *TAKEN]:
        if name in listed:
            continue
        verdict, frames = required(name)
        for bytewise in CUTS:
            assert judged(server(bytewise), frames) == verdict, name
            tried += 1
        verdicts.append(verdict)
    shown(
        "http2",
        "further broken frames, and malformed requests: names, values, lengths, authority, path, CONNECT, connection fields",
        tried=tried,
        must="a malformed request costs its stream, a broken frame the connection",
        happens=named(verdicts),
    )
