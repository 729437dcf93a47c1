"""`line_endings`: each line ends as the scenario says, however it ended before and however it was cut; nothing is held."""

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, LineEndings
from chaosproxy.model.messages import Abort, Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer, Way
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.checks import SCRIPTS
from chaosproxy.testing.play import POST, Upload, play


def head(kind, *more):
    return ResponseHead(200, ((b"content-type", kind), *more), framing=Framing.CHUNKED)


LINES, GRPC, PLAIN = head(b"application/x-ndjson"), head(b"application/grpc"), head(b"text/plain")
CODED = head(b"text/event-stream", (b"content-encoding", b"gzip"))
SENT = {
    "lf": b"\xef\xbb\xbfdata: 1\n\nevent: e\ndata: 2\n\n: ping\n\ndata: 3\n\ndata",
    "crlf": b"\xef\xbb\xbfdata: 1\r\n\r\nevent: e\r\ndata: 2\r\n\r\n: ping\r\n\r\ndata: 3\r\n\r\ndata",
    "cr": b"\xef\xbb\xbfdata: 1\r\revent: e\rdata: 2\r\r: ping\r\rdata: 3\r\rdata",
    "mixed": b"\xef\xbb\xbfdata: 1\n\r\nevent: e\r\ndata: 2\n\r: ping\r\r\ndata: 3\n\r\ndata",
}
"""One stream, as it may be written."""
MADE = {
    **{mode: SENT[mode] for mode in ("lf", "crlf", "cr")},
    "mixed": b"\xef\xbb\xbfdata: 1\n\r\nevent: e\r\ndata: 2\n\r: ping\r\r\ndata: 3\r\n\r\ndata",
}


def cut(body, size):
    return [body[begin : begin + size] for begin in range(0, len(body), size)]


@pytest.mark.parametrize("size", [1, 2, 5, 9, 1000])
@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
@pytest.mark.parametrize("mode", MADE)
def test_each_line_ends_so(mode, sent, size):
    played = play([LineEndings(mode=mode)], [*((1.0, piece) for piece in cut(sent, size)), (2.0, End())])
    assert played.data == MADE[mode]
    assert played.records_out == 3
    assert len(played.fired) == 1 or (played.data == sent and not played.fired)


@pytest.mark.parametrize("mode", MADE)
def test_it_is_all_the_same_to_who_reads_by_the_standard(mode):
    """By lines as `bytes.splitlines` finds them, which knows LF, CRLF and CR and no others."""
    for sent in SENT.values():
        assert play([LineEndings(mode=mode)], [(1.0, sent)]).data.splitlines() == SENT["lf"].splitlines()


@pytest.mark.parametrize("mode", MADE)
def test_a_line_end_leaves_as_soon_as_it_has_begun(mode):
    """Nobody knows yet whether a LF follows."""
    end = {"lf": b"\n\n", "crlf": b"\r\n\r\n", "cr": b"\r\r", "mixed": b"\n\r\n"}[mode]
    script = [(1.0, b"data: 1\r\n\r"), (2.0, b"\n"), (3.0, b"data: 2\r\n\r\n")]
    played = play([LineEndings(mode=mode)], script)
    assert played.body[0] == (1.0, b"data: 1" + end)
    assert [time for time, _ in played.body] == [1.0, 3.0]


@pytest.mark.parametrize(
    ("mode", "body"), [("lf", b"a\nb\n\nc\rd\n"), ("crlf", b"a\r\nb\r\n\r\nc\rd\r\n"), ("mixed", b"a\nb\r\n\r\nc\rd\n")]
)
@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_body_of_lines(mode, body, size):
    played = play(
        [LineEndings(mode=mode)], [*((1.0, one) for one in cut(b"a\r\nb\n\nc\rd\n", size)), (2.0, End())], head=LINES
    )
    assert (played.data, played.records_out) == (body, 3)


@pytest.mark.parametrize(
    "end", [End(), Abort("upstream:fin", Peer.UPSTREAM), Trailers(((b"a", b"b"),))], ids=["end", "abort", "trailers"]
)
def test_of_lines_a_cr_is_held_until_it_is_known_to_be_none(end):
    played = play([LineEndings(mode="lf")], [(1.0, b"a\r"), (2.0, b"\nb\r"), (3.0, end)], head=LINES)
    assert played.body == [(1.0, b"a"), (2.0, b"\nb"), (3.0, b"\r")]


def test_what_has_these_line_ends_passes_as_it_is():
    script = [(1.0, b"data: 1\n\nda"), (2.0, b"ta: 2\n\n"), (3.0, End())]
    played = play([LineEndings(mode="lf")], script)
    assert (played.body, played.not_fired) == (script[:-1], [("line_endings", "not reached")])


def test_it_is_noted_once():
    played = play([LineEndings(mode="cr")], [(1.0, b"data: 1\n\n"), (2.0, b"data: 2\n\n")])
    assert played.fired == [(1.0, "line_endings", "wrote other line ends")]


@pytest.mark.parametrize("mode", MADE)
def test_a_fault_nearer_the_client_finds_the_same_events(mode):
    faults = [LineEndings(mode=mode), Cut(at=Trigger(event=2), then=(Ending("clean"),))]
    data = play(faults, [(1.0, SENT["lf"])]).data
    assert MADE[mode].startswith(data)
    assert data.splitlines() == SENT["lf"].splitlines()[:5]


@pytest.mark.parametrize(
    ("answer", "mode", "reason"),
    [(PLAIN, "cr", "no records"), (CODED, "cr", "coded body"), (GRPC, "cr", "format"), (LINES, "cr", "format")],
)
def test_why_it_did_not_fire(answer, mode, reason):
    played = play([LineEndings(mode=mode)], [(1.0, b"a\n"), (2.0, End())], head=answer)
    assert (played.data, played.not_fired) == (b"a\n", [("line_endings", reason)])


def test_if():
    played = play([LineEndings(mode="cr", if_=Condition(status=500))], [(1.0, b"data: 1\n\n")])
    assert (played.data, played.not_fired) == (b"data: 1\n\n", [("line_endings", "if")])


def test_an_upload():
    request = POST.__class__(
        b"POST", b"/", (*POST.headers, (b"content-type", b"application/jsonl")), framing=Framing.CHUNKED
    )
    script = [(1.0, Upload(b"1\n")), (2.0, Upload(b"2\n")), (3.0, Upload(End()))]
    played = play([LineEndings(mode="crlf", way=Way.REQUEST)], script, request=request)
    assert b"".join(one.payload for _, one in played.request if isinstance(one, Data)) == b"1\r\n2\r\n"


@pytest.mark.parametrize("way", list(Way))
@pytest.mark.parametrize("mode", MADE)
def test_it_stands_every_script(mode, way):
    check_fault(LineEndings(mode=mode, way=way))


def test_lf_is_neutral_where_all_lines_end_so():
    plain = {name: script for name, script in SCRIPTS.items() if name != "cut anywhere"}
    check_fault(LineEndings(mode="lf"), neutral=True, scripts=plain)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("line_endings: unix", 19, "lf, crlf, cr, mixed"),
        ("line_endings: {}", 5, "mode"),
        ("line_endings: [lf]", 19, "lf, crlf, cr, mixed"),
        ("line_endings: {mode: cr, at: end}", 30, "at"),
    ],
)
def test_what_cannot_be_has_its_place(refused, text, column, words):
    refused(text, column, words)


def test_what_can_be_is_read_and_written():
    scenario = load("version: 1\nfaults:\n  - line_endings: mixed\n  - line_endings: {mode: cr, way: request}\n")
    assert scenario.rules[0].faults == (LineEndings(mode="mixed"), LineEndings(mode="cr", way=Way.REQUEST))
    assert load(dump(scenario)) == scenario
