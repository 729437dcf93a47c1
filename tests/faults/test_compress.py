"""`compress`: each coding under each flush, decoded as it comes; when it applies, what its head says, what it may lack."""

import sys
import zlib
from dataclasses import replace
from importlib.util import find_spec
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.errors import ScenarioError
from chaosproxy.faults import Compress, Cut, Timeout, codings
from chaosproxy.faults.codings import LEVELS
from chaosproxy.faults.compress import Flush
from chaosproxy.model.headers import first, values
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Peer, Way
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET, POST, SSE, Upload
from tests.faults.decoding import CODINGS, Decoder, decoded

TICKS = [(float(number), b"data: token %d\n\n" % number) for number in range(1, 6)]
WHOLE = [*TICKS, (9.0, End())]
ALL = b"".join(event for _, event in TICKS)
BREAKS = (9.0, Abort("upstream:rst", Peer.UPSTREAM))
FLUSHES = ["sync", "end", "one_behind", Flush(bytes=20), Flush(every=1.5)]


def asking(accept: bytes | None, method: bytes = b"GET") -> RequestHead:
    field = () if accept is None else ((b"Accept-Encoding", accept),)
    return replace(GET, method=method, headers=(*GET.headers, *field))


ASKS = asking(b"gzip, deflate, br, zstd")


@pytest.fixture
def coded(play):
    """What an asking client can read, and when."""

    def run(spec, script, **options):
        played = play([spec], script, **{"request": ASKS, **options})
        return decoded(played, spec.coding)

    return run


@pytest.fixture(params=CODINGS)
def coding(request):
    return request.param


# ---- when it can be read


def test_sync_makes_each_piece_readable_as_it_comes(coded, coding):
    assert coded(Compress(coding=coding, flush="sync"), WHOLE) == TICKS


def test_end_holds_everything_to_the_end(coded, coding):
    assert coded(Compress(coding=coding, flush="end"), WHOLE) == [(9.0, ALL)]


def test_one_behind_is_late_by_exactly_one(coded, coding):
    late = [(time, event) for (time, _), (_, event) in zip([*TICKS[1:], (9.0, b"")], TICKS, strict=True)]
    assert coded(Compress(coding=coding, flush="one_behind"), WHOLE) == late


def test_bytes_flushes_after_exactly_so_many_wherever_they_fall(coded, coding):
    spec = Compress(coding=coding, flush=Flush(bytes=20))
    assert coded(spec, WHOLE) == [
        (2.0, ALL[:20]),
        (3.0, ALL[20:40]),
        (4.0, ALL[40:60]),
        (9.0, ALL[60:]),
    ]


def test_every_flushes_so_long_after_the_first_byte_since_the_last(coded, coding):
    spec = Compress(coding=coding, flush=Flush(every=1.5))
    assert coded(spec, WHOLE) == [(2.5, ALL[:30]), (4.5, ALL[30:60]), (6.5, ALL[60:])]


def test_every_at_speed(coded):
    spec = Compress(flush=Flush(every=3.0))
    context = Context(Random(0), ASKS, speed=4.0)
    assert coded(spec, [(1.0, b"a"), (9.0, End())], context=context) == [(1.75, b"a")]


def test_every_for_ever_is_the_end(coded):
    assert coded(Compress(flush=Flush(every=float("inf"))), WHOLE) == [(9.0, ALL)]


def test_bytes_and_every_whichever_is_first(coded):
    spec = Compress(flush=Flush(bytes=40, every=1.5))
    script = [(1.0, b"a" * 10), (2.0, b"b" * 35), (3.0, b"c"), (9.0, End())]
    assert coded(spec, script) == [(2.0, b"a" * 10 + b"b" * 30), (3.5, b"b" * 5 + b"c")]


def test_gzip_as_nobody_asked_for_anything_else_is_flushed_at_the_end_only(coded):
    assert coded(Compress(), WHOLE) == [(9.0, ALL)]


def test_each_flush_is_one_chunk_and_nothing_else_is_sent(play, coding):
    for flush, chunks in (("sync", 6), ("end", 1), ("one_behind", 5), (Flush(bytes=20), 4), (Flush(every=1.5), 4)):
        played = play([Compress(coding=coding, flush=flush)], WHOLE, request=ASKS)
        assert len(played.body) == chunks, flush


def test_one_read_of_several_records_leaves_all_but_the_last(coded):
    script = [(1.0, ALL), (2.0, b": ping\n\n"), (3.0, TICKS[0][1]), (9.0, End())]
    assert coded(Compress(flush="one_behind"), script) == [
        (1.0, ALL[:60]),
        (3.0, ALL[60:]),
        (9.0, b": ping\n\n" + TICKS[0][1]),
    ]


def test_a_record_in_pieces_counts_when_it_is_complete(coded):
    script = [(1.0, b"data: a\n\nda"), (2.0, b"ta: b\n"), (3.0, b"\ndata: c"), (9.0, End())]
    assert coded(Compress(flush="one_behind"), script) == [(3.0, b"data: a\n\n"), (9.0, b"data: b\n\ndata: c")]


def test_without_records_one_behind_is_the_end(coded):
    plain = replace(SSE, headers=((b"content-type", b"text/plain"),))
    assert coded(Compress(flush="one_behind"), WHOLE, head=plain) == [(9.0, ALL)]


def test_the_encoder_gathers_a_block_and_no_more(coded, coding):
    """So what a long body costs does not grow with it, and a long body does not come at its end alone."""
    noise = Random(1).randbytes(1_500_000).hex().encode()
    pieces = [(float(at), noise[at * 10_000 : (at + 1) * 10_000]) for at in range(300)]
    read = coded(Compress(coding=coding), [*pieces, (999.0, End())])
    assert b"".join(piece for _, piece in read) == noise
    assert 0.0 < read[0][0] <= 105.0
    assert len(read) > 2
    assert len(read[-1][1]) <= 1024 * 1024


@settings(max_examples=60)
@given(
    reads=st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=12),
    coding=st.sampled_from(CODINGS),
    flush=st.sampled_from([*FLUSHES, Flush(bytes=1)]),
)
def test_any_bytes_in_any_reads_come_out_the_same(play, reads, coding, flush):
    spec = Compress(coding=coding, flush=flush)
    played = play([spec], [*((float(time), read) for time, read in enumerate(reads)), (99.0, End())], request=ASKS)
    decoder = Decoder(coding)
    assert b"".join(decoder.feed(piece) for _, piece in played.body) == b"".join(reads)
    assert decoder.finished


@pytest.mark.parametrize(
    ("coding", "levels"),
    [("gzip", range(10)), ("deflate", range(10)), ("br", range(2, 12)), ("zstd", range(1, 20))],
)
def test_every_level_gathers_and_gives_when_it_is_flushed(coded, coding, levels):
    for level in levels:
        assert coded(Compress(coding=coding, level=level, flush="sync"), WHOLE) == TICKS, level
        assert coded(Compress(coding=coding, level=level), WHOLE) == [(9.0, ALL)], level


def test_a_higher_level_is_smaller(play, coding):
    body = b"".join(b"data: %d %d\n\n" % (number * number, number) for number in range(2000))
    sizes = [
        len(play([Compress(coding=coding, level=level)], [(1.0, body), (2.0, End())], request=ASKS).data)
        for level in (2, LEVELS[coding][1])
    ]
    assert sizes[1] < sizes[0] < len(body)


# ---- room


def test_a_record_too_long_to_be_held_goes_on_and_the_upstream_is_not_stopped(coded, play):
    long = Random(2).randbytes(1_500_000).hex().encode()
    script = [(1.0, b"data: a\n\n"), *((2.0 + at, long[at * 60_000 : (at + 1) * 60_000]) for at in range(50))]
    script += [(60.0, b"\n"), (61.0, b"data: b\n\n"), (70.0, End())]
    read = coded(Compress(flush="one_behind"), script)
    assert b"".join(piece for _, piece in read) == b"data: a\n\n" + long + b"\ndata: b\n\n"
    assert read[-1] == (70.0, read[-1][1])
    played = play([Compress(flush="one_behind")], script, request=ASKS)
    assert played.admitted == len(long) + 9 + 1 + 9


def test_a_client_that_takes_nothing_stops_the_upstream(play):
    noise = Random(3).randbytes(4_000_000)
    script = [(float(at), noise[at * 20_000 : (at + 1) * 20_000]) for at in range(200)]
    for flush in FLUSHES:
        played = play([Compress(flush=flush)], script, request=ASKS, room=0, window=1000)
        limit = 2_200_000 if flush == "one_behind" else 200_000  # once as it comes, once coded
        assert played.admitted < limit, flush


# ---- what may be missing


@pytest.mark.parametrize(("coding", "trailer"), [("gzip", 8), ("deflate", 4)])
@pytest.mark.parametrize("flush", FLUSHES)
def test_without_its_footer_all_can_be_read_and_only_the_trailer_is_missing(play, coding, trailer, flush):
    whole = play([Compress(coding=coding, flush=flush)], WHOLE, request=ASKS)
    lacking = play([Compress(coding=coding, flush=flush, footer=False)], WHOLE, request=ASKS)
    assert lacking.data == whole.data[:-trailer]
    assert [time for time, _ in lacking.body] == [time for time, _ in whole.body]
    assert decoded(lacking, coding) == decoded(whole, coding)
    decoder = Decoder(coding)
    decoder.feed(lacking.data)
    assert not decoder.finished
    assert lacking.end == (9.0, End())
    assert (9.0, "compress", f"the last {trailer} coded bytes are missing") in lacking.fired


@pytest.mark.parametrize("cut", [1, 3, 6, 10, 11, 25, 60])
@pytest.mark.parametrize("flush", FLUSHES)
def test_cut_takes_the_last_bytes_whatever_comes(play, coding, cut, flush):
    whole = play([Compress(coding=coding, flush=flush)], WHOLE, request=ASKS)
    lacking = play([Compress(coding=coding, flush=flush, cut=cut)], WHOLE, request=ASKS)
    assert lacking.data == whole.data[: max(0, len(whole.data) - cut)]
    assert lacking.end == (9.0, End())
    missing = min(cut, len(whole.data))
    assert (9.0, "compress", f"the last {missing} coded bytes are missing") in lacking.fired


def test_a_cut_within_the_encoder_s_own_end_delays_nothing(coded, coding):
    for spare, least in (("gzip", 10), ("deflate", 6), ("br", 1), ("zstd", 3)):
        if spare == coding:
            assert coded(Compress(coding=coding, flush="sync", cut=least), WHOLE) == TICKS


def test_the_footer_and_a_cut_add_up(play):
    whole = play([Compress()], WHOLE, request=ASKS)
    assert play([Compress(footer=False, cut=3)], WHOLE, request=ASKS).data == whole.data[:-11]


def test_cut_to_nothing_is_an_empty_body_with_a_clean_end(play):
    played = play([Compress(cut=1000)], WHOLE, request=ASKS)
    assert (played.data, played.end) == (b"", (9.0, End()))


# ---- how it ends


@pytest.mark.parametrize("flush", FLUSHES)
def test_what_the_encoder_holds_is_lost_when_the_upstream_breaks_off(play, flush):
    played = play([Compress(flush=flush)], [*TICKS, (5.1, BREAKS[1])], request=ASKS)
    assert played.end == (5.1, BREAKS[1])
    read = {"sync": 75, "end": 0, "one_behind": 60}.get(str(flush), 60)
    assert sum(len(piece) for _, piece in decoded(played, "gzip")) == read


def test_trailers_stand_behind_the_coded_end(play):
    played = play([Compress()], [(1.0, b"x"), (2.0, Trailers(((b"a", b"b"),))), (2.0, End())], request=ASKS)
    assert [type(event) for _, event in played.out[1:]] == [Data, Trailers, End]
    assert zlib.decompress(played.data, 31) == b"x"


def test_an_empty_body_of_unknown_length_is_coded_too(play, coding):
    played = play([Compress(coding=coding)], [(1.0, End())], request=ASKS)
    decoder = Decoder(coding)
    assert decoder.feed(played.data) == b""
    assert decoder.finished


@pytest.mark.parametrize("flush", FLUSHES)
def test_the_client_s_leaving_is_passed_on_at_once(play, flush):
    played = play([Compress(flush=flush)], [*TICKS[:3], (3.2, "hangup"), *TICKS[3:]], request=ASKS)
    assert played.cancelled_at == 3.2


def test_a_fault_nearer_the_client_sees_what_is_coded(play):
    """Under `end` the balancer sees silence, and drops a healthy stream; under `sync` it does not."""
    script = [*((float(number), b"data: x\n\n") for number in range(10)), (10.0, End())]
    silent = play([[Compress()], [Timeout(idle=4.0)]], script, request=ASKS)
    assert (silent.end[0], silent.end[1].cause) == (4.0, "timeout:idle")
    assert play([[Compress(flush="sync")], [Timeout(idle=4.0)]], script, request=ASKS).end == (10.0, End())


def test_a_cut_in_front_of_it_leaves_a_coded_body_without_an_end(play):
    faults = [[Cut(at=Trigger(event=3), then=(Ending("rst"),))], [Compress(flush="sync")]]
    played = play(faults, WHOLE, request=ASKS)
    assert decoded(played, "gzip") == TICKS[:3]
    assert isinstance(played.end[1], Abort)


# ---- when it applies


@pytest.mark.parametrize(
    ("accept", "coding", "yes"),
    [
        (b"gzip", "gzip", True),
        (b"GZIP", "gzip", True),
        (b"br, gzip;q=0.1", "gzip", True),
        (b"br ; q=1.0 , gzip ; q=0.5", "gzip", True),
        (b"gzip;q=1", "br", False),
        (b"gzip;q=0", "gzip", False),
        (b"gzip;q=0.000", "gzip", False),
        (b"gzip;q=a", "gzip", False),
        (b"gzip;level=9", "gzip", True),
        (b"*", "zstd", True),
        (b"*;q=0", "zstd", False),
        (b"gzip;q=0, *", "gzip", False),
        (b"gzip, *;q=0", "gzip", True),
        (b"gzip, *;q=0", "br", False),
        (b"x-gzip", "gzip", True),
        (b"x-gzip", "deflate", False),
        (b"identity", "gzip", False),
        (b"", "gzip", False),
        (None, "gzip", False),
    ],
)
def test_the_client_accepts_it(play, accept, coding, yes):
    played = play([Compress(coding=coding, flush="sync")], WHOLE, request=asking(accept))
    if yes:
        assert first(played.head[1].headers, b"content-encoding") == coding.encode()
        assert decoded(played, coding) == TICKS
    else:
        assert (played.body, played.head[1]) == (TICKS, SSE)
        assert (played.fired, played.not_fired) == ([], [("compress", "not accepted")])


def test_several_fields_are_one_list(play):
    request = replace(GET, headers=((b"Accept-Encoding", b"br"), (b"accept-encoding", b"gzip")))
    assert play([Compress()], WHOLE, request=request).fired == [(1.0, "compress", "gzip, flush end")]


def test_accepted_or_not(play):
    played = play([Compress(when_accepted=False)], WHOLE)
    assert decoded(played, "gzip") == [(9.0, ALL)]


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (ResponseHead(200, ((b"content-encoding", b"br"),), framing=Framing.CHUNKED), "coded body"),
        (ResponseHead(200, ((b"cache-control", b"private, No-Transform"),), framing=Framing.CHUNKED), "no-transform"),
        (ResponseHead(206, ((b"content-range", b"bytes 0-1/9"),), framing=Framing.CHUNKED), "status 206"),
        (ResponseHead(204, framing=Framing.NONE, final=True), "status 204"),
        (ResponseHead(304, framing=Framing.NONE, final=True), "status 304"),
        (ResponseHead(101, framing=Framing.TUNNEL), "tunnel"),
        (ResponseHead(200, ((b"content-length", b"0"),), framing=Framing.CHUNKED), "no body"),
        (ResponseHead(200, framing=Framing.NONE, final=True), "no body"),
    ],
)
def test_answers_that_stay_as_they_are(play, head, reason):
    script = [(1.0, head), *([] if head.final else [(2.0, b"x")]), (3.0, End())]
    played = play([Compress(when_accepted=False)], script)
    assert played.head == (1.0, head)
    assert played.data == (b"" if head.final else b"x")
    assert (played.fired, played.not_fired) == ([], [("compress", reason)])


def test_in_front_of_a_tunnel_it_does_nothing(play):
    request = RequestHead(b"CONNECT", b"x:1", framing=Framing.TUNNEL)
    played = play([Compress(when_accepted=False)], [(1.0, b"x")], request=request)
    assert (played.data, played.not_fired) == (b"x", [("compress", "tunnel")])


def test_identity_is_no_coding(play):
    head = replace(SSE, headers=((b"content-encoding", b"identity"),))
    played = play([Compress()], WHOLE, request=ASKS, head=head)
    assert values(played.head[1].headers, b"content-encoding") == [b"gzip"]


def test_only_if(play):
    spec = Compress(flush="sync", if_=Condition(content_type="text/event-stream"))
    assert decoded(play([spec], WHOLE, request=ASKS), "gzip") == TICKS
    other = replace(SSE, headers=((b"content-type", b"text/plain"),))
    played = play([spec], WHOLE, request=ASKS, head=other)
    assert (played.body, played.not_fired) == (TICKS, [("compress", "if")])


def test_one_machine_compresses_and_the_next_leaves_it(play):
    played = play([[Compress(flush="sync")], [Compress(coding="br")]], WHOLE, request=ASKS)
    assert decoded(played, "gzip") == TICKS
    assert played.not_fired == [("compress", "coded body")]


# ---- the head

FULL = (
    (b"Content-Type", b"text/event-stream"),
    (b"Content-Length", b"75"),
    (b"Accept-Ranges", b"bytes"),
    (b"ETag", b'"v1"'),
    (b"Vary", b"Origin"),
)
CODED = (
    (b"Content-Type", b"text/event-stream"),
    (b"ETag", b'W/"v1"'),
    (b"Vary", b"Origin"),
    (b"Content-Encoding", b"gzip"),
    (b"Vary", b"Accept-Encoding"),
)


@pytest.mark.parametrize(
    ("framing", "becomes"),
    [
        (Framing.LENGTH, Framing.CHUNKED),
        (Framing.CHUNKED, Framing.CHUNKED),
        (Framing.STREAM, Framing.STREAM),
        (Framing.CLOSE, Framing.CLOSE),
    ],
)
def test_the_head_says_what_the_body_is(play, framing, becomes):
    head = ResponseHead(200, FULL, framing=framing)
    played = play([Compress()], WHOLE, request=ASKS, head=head)
    assert played.head == (1.0, ResponseHead(200, CODED, framing=becomes))


def test_head_is_answered_with_the_same_head_and_no_body(play):
    head = ResponseHead(200, FULL, framing=Framing.NONE, final=True)
    played = play([Compress(cut=5)], [(1.0, End())], request=asking(b"gzip", b"HEAD"), head=head)
    assert played.out == [(1.0, ResponseHead(200, CODED, framing=Framing.NONE, final=True)), (1.0, End())]
    assert played.fired == [(1.0, "compress", "gzip, flush end")]


@pytest.mark.parametrize("vary", [b"*", b"accept-encoding", b"Origin, Accept-Encoding"])
def test_vary_is_not_repeated(play, vary):
    head = replace(SSE, headers=((b"Vary", vary), (b"ETag", b'W/"v"')))
    played = play([Compress()], WHOLE, request=ASKS, head=head)
    assert played.head[1].headers == ((b"Vary", vary), (b"ETag", b'W/"v"'), (b"Content-Encoding", b"gzip"))


def test_vary_may_be_left_out(play):
    head = play([Compress(vary=False)], WHOLE, request=ASKS).head[1]
    assert (values(head.headers, b"vary"), values(head.headers, b"content-encoding")) == ([], [b"gzip"])


def test_the_head_leaves_at_once(play):
    head = ResponseHead(200, framing=Framing.CHUNKED)
    assert play([Compress()], [(1.0, head), (5.0, b"x"), (9.0, End())], request=ASKS).head[0] == 1.0


# ---- the request

UPLOAD = [(1.0, Upload(b"a" * 100)), (2.0, Upload(b"b" * 100)), (3.0, Upload(End())), (4.0, End())]


def sent(played) -> bytes:
    return b"".join(event.payload for _, event in played.request if isinstance(event, Data))


def test_a_request_is_coded_whatever_its_accept_encoding(play, coding):
    played = play([Compress(coding=coding, way=Way.REQUEST)], UPLOAD, request=POST)
    assert Decoder(coding).feed(sent(played)) == b"a" * 100 + b"b" * 100
    assert [time for time, event in played.request if isinstance(event, Data)] == [3.0]
    head = played.request[0][1]
    assert head.headers == (*POST.headers, (b"Content-Encoding", coding.encode()))
    assert played.head[1] == SSE


def test_a_request_loses_its_length(play):
    post = RequestHead(b"POST", b"/", ((b"Host", b"x"), (b"Content-Length", b"200")), framing=Framing.LENGTH)
    played = play([Compress(way=Way.REQUEST, flush="sync")], UPLOAD, request=post)
    head = played.request[0][1]
    assert head == replace(post, headers=((b"Host", b"x"), (b"Content-Encoding", b"gzip")), framing=Framing.CHUNKED)
    assert [time for time, event in played.request if isinstance(event, Data)] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("request_head", "reason"),
    [
        (GET, "no body"),
        (replace(POST, headers=((b"content-encoding", b"gzip"),)), "coded body"),
        (replace(POST, headers=((b"cache-control", b"no-transform"),)), "no-transform"),
        (replace(POST, upgrade=b"websocket"), "tunnel"),
    ],
)
def test_requests_that_stay_as_they_are(play, request_head, reason):
    script = WHOLE if request_head.final else UPLOAD
    played = play([Compress(way=Way.REQUEST)], script, request=request_head)
    assert played.request[0] == (0.0, request_head)
    assert played.not_fired == [("compress", reason)]
    assert sent(played) == (b"" if request_head.final else b"a" * 100 + b"b" * 100)


def test_records_of_an_upload(play):
    post = replace(POST, headers=((b"content-type", b"application/x-ndjson"),))
    script = [(1.0, Upload(b"1\n")), (2.0, Upload(b"2\n")), (3.0, Upload(End()))]
    played = play([Compress(way=Way.REQUEST, flush="one_behind")], script, request=post)
    assert zlib.decompress(sent(played), 31) == b"1\n2\n"


# ---- what every fault must stand


@pytest.mark.parametrize("flush", FLUSHES)
@pytest.mark.parametrize("way", Way)
def test_it_stands_every_script(flush, way):
    check_fault(Compress(flush=flush, way=way, when_accepted=False))
    check_fault(Compress(flush=flush, way=way, when_accepted=False, cut=30, footer=False))


def test_every_coding_stands_every_script(coding):
    check_fault(Compress(coding=coding, flush="sync", when_accepted=False))
    check_fault(Compress(coding=coding, flush="one_behind", when_accepted=False, level=9))


def test_where_it_is_not_accepted_it_is_not_there():
    for flush in FLUSHES:
        check_fault(Compress(flush=flush), neutral=True)


# ---- what it cannot be


@pytest.mark.parametrize(
    ("parameters", "path", "words"),
    [
        ({"level": 10}, ("level",), "gzip has the levels 0 to 9"),
        ({"coding": "br", "level": 1}, ("level",), "br has the levels 2 to 11"),
        ({"coding": "zstd", "level": 20}, ("level",), "zstd has the levels 1 to 19"),
        ({"coding": "br", "footer": False}, ("footer",), "br has no trailer; `cut` takes the last bytes"),
        ({"flush": Flush()}, ("flush",), "flush needs one of bytes, every"),
        ({"flush": Flush(bytes=0)}, ("flush", "bytes"), "at least one byte"),
        ({"flush": Flush(every=0.0)}, ("flush", "every"), "after some time"),
    ],
)
def test_impossible_combinations(parameters, path, words):
    [(where, message)] = Compress(**parameters).problems()
    assert where == path
    assert words in message


def test_possible_ones(coding):
    assert Compress(coding=coding, level=9, flush=Flush(bytes=1, every=1.0), cut=9).problems() == []


def test_it_reads_records_only_where_it_is_one_behind():
    assert [flush for flush in FLUSHES if Compress(flush=flush).reads_records] == ["one_behind"]


def wrong(text: str) -> tuple[int, int, str]:
    with pytest.raises(ScenarioError) as error:
        load(text)
    (problem,) = error.value.problems
    return problem.line, problem.column, problem.message


@pytest.mark.parametrize(("coding", "module"), [("br", "brotli"), ("zstd", "backports.zstd")])
@pytest.mark.parametrize("written", ["compress: {coding}", "compress: {{coding: {coding}}}"])
def test_a_missing_extra_is_named_where_it_is_asked_for(monkeypatch, coding, module, written):
    if coding == "zstd" and sys.version_info >= (3, 14):
        pytest.skip("built in")
    monkeypatch.setattr(codings, "find_spec", lambda name: None if name == module else find_spec(name))
    text = f"version: 1\nfaults:\n  - {written.format(coding=coding)}\n"
    line, column, message = wrong(text)
    assert (line, column) == (3, 5 + text.splitlines()[2].rindex(coding) - 4)
    assert message == f"{coding} needs an extra: pip install 'chaosproxy[{coding}]'"
    assert Compress().problems() == []


def test_zstd_of_a_namespace_that_is_not_there_either(monkeypatch):
    monkeypatch.setattr(codings, "find_spec", lambda name: None)
    assert bool(Compress(coding="zstd").problems()) == (sys.version_info < (3, 14))


@pytest.mark.parametrize(
    ("written", "flush"),
    [
        ("gzip", "end"),
        ("{flush: sync}", "sync"),
        ("{flush: one_behind}", "one_behind"),
        ("{flush: {bytes: 4KiB}}", Flush(bytes=4096)),
        ("{flush: {every: 200ms}}", Flush(every=0.2)),
    ],
)
def test_as_it_is_written(written, flush):
    (rule,) = load(f"version: 1\nfaults:\n  - compress: {written}\n").rules
    assert rule.faults == (Compress(flush=flush),)


@pytest.mark.parametrize(
    ("written", "column", "words"),
    [
        ("gzib", 15, "did you mean 'gzip'?"),
        ("{flush: 4KiB}", 23, "expected one of sync, end, one_behind"),
        ("{flush: {size: 4KiB}}", 24, "unknown key 'size'; allowed: bytes, every"),
        ("{flush: {every: 5}}", 31, "a number without a unit is no duration"),
        ("{coding: br, level: 1}", 35, "br has the levels 2 to 11"),
    ],
)
def test_a_mistake_has_its_place(written, column, words):
    line, found, message = wrong(f"version: 1\nfaults:\n  - compress: {written}\n")
    assert (line, found) == (3, column), message
    assert words in message


@pytest.mark.parametrize(
    "fault",
    [
        "cut: {at: {event: 3}}",
        "buffer: {events: 2}",
        "timeout: {first_event: 5s}",
        "compress: {flush: one_behind}",
    ],
)
def test_who_reads_records_nearer_the_client_is_refused_at_its_line(fault):
    line, column, message = wrong(f"version: 1\nhops:\n- faults: [compress: gzip]\n- faults:\n  - {fault}\n")
    assert (line, column) == (5, 5)
    name = fault.partition(":")[0]
    assert message == f"`{name}` reads records, but `compress` before it codes the body; put it before `compress`"
    load(f"version: 1\nhops:\n- faults:\n  - {fault}\n- faults: [compress: gzip]\n")


def test_of_the_request_who_is_nearer_the_upstream_is_refused():
    one, other = "buffer: {events: 2, way: request}", "compress: {way: request}"
    line, column, message = wrong(f"version: 1\nfaults:\n  - {one}\n  - {other}\n")
    assert (line, column) == (3, 5)
    assert message == "`buffer` reads records, but `compress` behind it codes the body; put it behind `compress`"
    load(f"version: 1\nfaults:\n  - {other}\n  - {one}\n")
    load(f"version: 1\nfaults:\n  - {one}\n  - compress: gzip\n")
    load(f"version: 1\nfaults:\n  - {other}\n  - buffer: {{events: 2}}\n")
