"""`strip`: what goes, of whom; what stays as it was, and when it passes; what cannot be written."""

import pytest

from chaosproxy.chain.fault import Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut, Strip
from chaosproxy.model.messages import Abort, Data, End, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer, Way
from chaosproxy.testing.play import POST, SSE, Upload

STATUS = Trailers(((b"grpc-status", b"0"),))


def head(kind, *more):
    return ResponseHead(200, ((b"content-type", kind), *more), framing=Framing.CHUNKED)


LINES, GRPC, GRPC_WEB = head(b"application/x-ndjson"), head(b"application/grpc"), head(b"application/grpc-web+proto")
PLAIN, CODED = head(b"text/plain"), head(b"text/event-stream", (b"content-encoding", b"gzip"))


def event(data, *fields):
    return b"".join([*(b"%b\n" % field for field in fields), b"data: %b\n\n" % data])


CHAT = [
    event(b'{"choices": [{"delta": {"content": "usage"}}], "usage": null}'),
    event(b'{"choices": [], "usage": {"total_tokens": 3}}'),
    event(b"[DONE]"),
]
RESPONSES = [
    event(b'{"type":"response.output_text.delta","delta":"x"}', b"event: response.output_text.delta"),
    event(
        b'{"type":"response.completed","response":{"id":"r","usage":{"output_tokens":1}}}', b"event: response.completed"
    ),
]
ANTHROPIC = [
    event(
        b'{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1},"role":"assistant"}}',
        b"event: message_start",
    ),
    event(
        b'{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}',
        b"event: message_delta",
    ),
    event(b'{"type":"message_stop"}', b"event: message_stop"),
]
OLLAMA = [
    b'{"message":{"content":"x"},"done":false}\n',
    b'{"done":true,"done_reason":"stop","eval_count":3,"prompt_eval_count":1}\n',
]
GEMINI = [event(b'{"candidates":[{}],"usageMetadata":{"totalTokenCount":3}}')]
RESUMED = [b": hello\n\n", b"retry: 5\nid: 1\n\n", b"id: 2\nevent: e\n: ping\ndata: x\n\n", b"data: y\nid\n\n"]

TABLE = {
    "openai usage": (SSE, "usage", CHAT, [event(b'{"choices": [{"delta": {"content": "usage"}}]}'), CHAT[2]]),
    "openai done": (SSE, "done", CHAT, CHAT[:2]),
    "responses usage": (
        SSE,
        "usage",
        RESPONSES,
        [RESPONSES[0], RESPONSES[1].replace(b',"usage":{"output_tokens":1}', b"")],
    ),
    "responses done": (SSE, "done", RESPONSES, RESPONSES[:1]),
    "anthropic usage": (
        SSE,
        "usage",
        ANTHROPIC,
        [
            ANTHROPIC[0].replace(b'"usage":{"input_tokens":1},', b""),
            ANTHROPIC[1].replace(b',"usage":{"output_tokens":2}', b""),
            ANTHROPIC[2],
        ],
    ),
    "anthropic done": (SSE, "done", ANTHROPIC, ANTHROPIC[:2]),
    "gemini usage": (SSE, "usage", GEMINI, [event(b'{"candidates":[{}]}')]),
    "ollama usage": (LINES, "usage", OLLAMA, [OLLAMA[0], b'{"done":true,"done_reason":"stop"}\n']),
    "ollama done": (LINES, "done", OLLAMA, OLLAMA[:1]),
    "ids": (SSE, "ids", RESUMED, [b": hello\n\n", b"retry: 5\n\n", b"event: e\n: ping\ndata: x\n\n", b"data: y\n\n"]),
    "comments": (SSE, "comments", RESUMED, [RESUMED[1], b"id: 2\nevent: e\ndata: x\n\n", RESUMED[3]]),
    "grpc-web done": (GRPC_WEB, "done", [b"\0\0\0\0\1x", b"\x80\0\0\0\3a:b"], [b"\0\0\0\0\1x"]),
}


def timed(pieces):
    return [(float(number), piece) for number, piece in enumerate(pieces, 1)]


@pytest.mark.parametrize(("answer", "part", "sent", "left"), TABLE.values(), ids=TABLE)
def test_what_goes(play, answer, part, sent, left):
    played = play([Strip(what=(part,))], [*timed(sent), (9.0, End())], head=answer)
    assert [payload for _, payload in played.body] == left
    assert played.end == (9.0, End())
    assert {(fault, detail) for _, fault, detail in played.fired} == {("strip", f"removed {part}")}
    assert len(played.fired) == 1


@pytest.mark.parametrize(("answer", "part", "sent", "left"), TABLE.values(), ids=TABLE)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_goes_does_not_depend_on_the_reads(play, answer, part, sent, left, size):
    whole = b"".join(sent)
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    played = play([Strip(what=(part,))], [*((1.0, piece) for piece in pieces), (9.0, End())], head=answer)
    assert played.data == b"".join(left)


def test_a_terminal_record_without_its_blank_line_goes_too(play):
    """No event by the standard; but many clients read lines."""
    played = play([Strip(what=("done",))], [(1.0, CHAT[0] + b"data: [DO"), (2.0, b"NE]\n"), (3.0, End())])
    assert (played.data, played.end) == (CHAT[0], (3.0, End()))


def test_several_at_once(play):
    played = play([Strip(what=("usage", "done", "ids", "comments"))], [*timed([*RESUMED, *CHAT]), (9.0, End())])
    assert played.data == b"retry: 5\n\nevent: e\ndata: x\n\ndata: y\n\n" + TABLE["openai usage"][3][0]
    assert {detail for _, _, detail in played.fired} == {
        f"removed {part}" for part in ("usage", "done", "ids", "comments")
    }


UNTOUCHED = [
    b"data: [DONE] and more\n\n",
    b'data: {"choices":[],"usage":null,"done":1}\n\n'.replace(b'"usage":null,', b""),
    b'data: "usage"\n\n',
    b'data: {"usage": broken\n\n',
    b'data: {"delta":{"usage":1}}\n\n',
    b"data: x\r\n\r\n",
    b"event: e\n\n",
    b"\n\n",
]


@pytest.mark.parametrize("raw", UNTOUCHED)
def test_what_only_looks_like_it_stays(play, raw):
    played = play([Strip(what=("usage", "done", "ids", "comments"))], [(1.0, raw), (2.0, End())])
    assert (played.body, played.not_fired) == ([(1.0, raw)], [("strip", "not reached")])


def test_an_empty_choices_chunk_without_a_count_only_loses_the_member(play):
    raw = b'data: {"choices":[],"usage":null,"id":1}\n\n'
    assert play([Strip(what=("usage",))], [(1.0, raw)]).data == b'data: {"choices":[],"id":1}\n\n'


def test_a_document_over_several_lines(play):
    raw = b'event: e\r\ndata: {"a": 1.0,\r\ndata: "usage": {},\r\ndata: "b": 2}\r\n\r\n'
    left = b'event: e\r\ndata: {"a": 1.0,\r\ndata: "b": 2}\r\n\r\n'
    assert play([Strip(what=("usage",))], [(1.0, raw)]).data == left


# ---- when it passes


def test_only_the_unfinished_record_waits(play):
    played = play(
        [Strip(what=("done",))], [(1.0, b"data: 1\n\ndata: [D"), (2.0, b"ON"), (3.0, b"T]\n\nda"), (4.0, End())]
    )
    assert played.body == [
        (1.0, b"data: 1\n\n"),
        (3.0, b"data: [D"),
        (3.0, b"ON"),
        (3.0, b"T]\n\n"),
        (4.0, b"da"),
    ]


def test_a_body_without_what_is_stripped_leaves_in_its_own_pieces(play):
    pieces = [b"data: 1\n\ndata: 2\n\n", b": x\n\n", b"data: 3\n\n"]
    assert play([Strip(what=("done",))], timed(pieces)).body == timed(pieces)


def test_what_is_held_when_the_upstream_breaks_off_leaves_as_it_stands(play):
    broken = Abort("upstream:fin", Peer.UPSTREAM)
    played = play([Strip(what=("done",))], [(1.0, b"data: [DO"), (2.0, broken)])
    assert (played.data, played.end) == (b"data: [DO", (2.0, broken))


def test_a_terminal_line_without_its_line_feed_goes_too(play):
    played = play(
        [[Strip(what=("done",))], [Cut(at=Trigger(event=2))]],
        [(1.0, OLLAMA[0]), (2.0, b'{"done":true}'), (3.0, End())],
        head=LINES,
    )
    assert (played.data, played.end) == (OLLAMA[0], (3.0, End()))
    assert (played.records_in, played.records_out) == (2, 1)


def test_a_last_line_that_stays_is_still_counted(play):
    played = play(
        [[Strip(what=("done",))], [Cut(at=Trigger(event=2))]],
        [(1.0, OLLAMA[0]), (2.0, b"{}"), (3.0, End())],
        head=LINES,
    )
    assert (played.data, played.fired) == (OLLAMA[0] + b"{}", [(3.0, "cut", "abort after event 2")])


def test_a_fault_nearer_the_client_counts_what_is_left(play):
    played = play([[Strip(what=("usage",))], [Cut(at=Trigger(event=2))]], [(1.0, b"".join(CHAT)), (2.0, End())])
    assert played.data == TABLE["openai usage"][3][0] + CHAT[2]
    assert isinstance(played.end[1], Abort)


def test_a_record_that_is_too_long_passes_and_says_so(play):
    long = b'data: {"usage":{},"text":"' + b"x" * (1024 * 1024) + b'"}\n\n'
    played = play([Strip(what=("usage",))], [(1.0, long[:9]), (2.0, long[9:]), (3.0, End())])
    assert (played.data, played.not_fired) == (long, [("strip", "record too long")])


# ---- trailers


@pytest.mark.parametrize(
    ("answer", "part"),
    [(SSE, "trailers"), (PLAIN, "trailers"), (CODED, "trailers"), (GRPC, "trailers"), (GRPC, "done")],
)
def test_trailers(play, answer, part):
    body = b"\0\0\0\0\1x"
    played = play([Strip(what=(part,))], [(1.0, body), (2.0, STATUS), (2.0, End())], head=answer)
    assert [type(one) for _, one in played.out] == [ResponseHead, Data, End]
    assert (played.data, played.fired) == (body, [(2.0, "strip", "removed trailers")])


def test_trailers_of_another_body_stay_with_done(play):
    played = play([Strip(what=("done",))], [(1.0, CHAT[2]), (2.0, STATUS), (2.0, End())])
    assert [event for _, event in played.out[1:]] == [STATUS, End()]


def test_the_length_stays_where_only_trailers_go(play):
    length = ResponseHead(200, ((b"content-length", b"1"),), framing=Framing.LENGTH)
    assert play([Strip(what=("trailers",))], [(1.0, b"x"), (2.0, End())], head=length).head[1] == length
    changed = play([Strip(what=("trailers", "done"))], [(1.0, b"x"), (2.0, End())], head=length).head[1]
    assert changed == ResponseHead(200, (), framing=Framing.CHUNKED)


# ---- where it does not fire


@pytest.mark.parametrize(
    ("answer", "what", "reason"),
    [
        (PLAIN, ("done",), "no records"),
        (CODED, ("done",), "coded body"),
        (LINES, ("ids",), "format"),
        (GRPC, ("usage",), "format"),
        (SSE, ("done",), "not reached"),
        (SSE, ("trailers",), "not reached"),
    ],
)
def test_why_it_did_not_fire(play, answer, what, reason):
    played = play([Strip(what=what)], [(1.0, b"x\n\n"), (2.0, End())], head=answer)
    assert (played.data, played.not_fired) == (b"x\n\n", [("strip", reason)])


def test_if(play):
    played = play([Strip(what=("done",), if_=Condition(status=500))], timed(CHAT))
    assert (played.data, played.not_fired) == (b"".join(CHAT), [("strip", "if")])


# ---- the request


def test_an_upload(play):
    request = POST.__class__(
        b"POST", b"/", (*POST.headers, (b"content-type", b"application/jsonl")), framing=Framing.CHUNKED
    )
    script = [(1.0, Upload(OLLAMA[0])), (2.0, Upload(OLLAMA[1])), (3.0, Upload(STATUS)), (3.0, Upload(End()))]
    played = play([Strip(what=("done", "trailers"), way=Way.REQUEST)], script, request=request)
    assert [event for _, event in played.request[1:]] == [Data(OLLAMA[0], (len(OLLAMA[0]),)), End()]
