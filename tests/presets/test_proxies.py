"""What was measured on real proxies, rule by rule, done by their presets in virtual time: streaming, endings, limits, leaving.

The same is asked of the real programs themselves by `python -m tests.differential`.
"""

import zlib
from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.faults import ChunkSyntax
from chaosproxy.model.codes import code_name
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Scope
from chaosproxy.scenario.load import load

PROXIES = (
    "apache-2.4", "caddy-2.11", "caddy-2.6", "envoy-1.40", "h2o-2.2", "haproxy-2.6", "haproxy-2.8", "lighttpd-1.4",
    "nghttpx-1.52", "squid-5", "traefik-3", "varnish-7",
)  # fmt: skip
EVENT = b"data: " + b"." * 42 + b"\n\n"
"""50 bytes."""
COUNT, GAP = 60, 0.02
EVENTS = [(round(number * GAP, 3), EVENT) for number in range(1, COUNT + 1)]
LAST = EVENTS[-1][0]
TYPE = (b"Content-Type", b"text/event-stream")
SIZE = (b"Content-Length", b"%d" % (COUNT * len(EVENT)))
HEADS = {
    "chunked": ResponseHead(200, (TYPE, (b"Transfer-Encoding", b"chunked")), b"OK", Framing.CHUNKED),
    "close": ResponseHead(200, (TYPE,), b"OK", Framing.CLOSE),
    "length": ResponseHead(200, (TYPE, SIZE), b"OK", Framing.LENGTH),
    "text": ResponseHead(200, ((b"Content-Type", b"text/plain"), SIZE), b"OK", Framing.LENGTH),
}
FIN = Abort("upstream:fin", Peer.UPSTREAM, Scope.STREAM, Manner.FIN)
RST = Abort("upstream:rst", Peer.UPSTREAM, Scope.CONNECTION, Manner.RESET)
H1, H2 = "http/1.1", "h2"
BOTH = pytest.mark.parametrize("protocol", [H1, H2])


@pytest.fixture
def ask(play):
    """What a client of this machine gets of an answer in this framing."""

    def asked(name, script, protocol=H1, framing="chunked", *, gzip=False, **parameters):
        settings = ", ".join(f"{key}: {value}" for key, value in {"preset": name, **parameters}.items())
        [hop] = load(f"version: 1\nhops: [{{{settings}}}]\n").rules[0].hops
        accepted = ((b"Accept-Encoding", b"gzip"),) if gzip else ()
        request = RequestHead(b"GET", b"/", ((b"Host", b"x"), *accepted), final=True)
        script = script if framing is None else [(0.0, HEADS[framing]), *script]
        context = Context(Random(0), request, protocol=protocol)
        return play([hop.faults], script, request=request, head=None, context=context)

    return asked


def times(played):
    return [time for time, _ in played.body]


def bursts(played):
    """`(time, bytes)` of what left at one moment."""
    found: dict[float, int] = {}
    for time, payload in played.body:
        found[time] = found.get(time, 0) + len(payload)
    return list(found.items())


def ended(played, protocol):
    """As the journal's `how`."""
    if played.end is None:
        return None
    event = played.end[1]
    if isinstance(event, End):
        return "clean"
    assert event.manner is not Manner.RESET or event.scope is Scope.STREAM, "no client ever gets a TCP reset"
    return f"stream:{code_name(event.code)}" if protocol == H2 else "fin"


# ---- streaming

AT_ONCE = {
    **{name: {} for name in PROXIES},
    "haproxy-2.6": {"http_no_delay": True},
    "haproxy-2.8": {"http_no_delay": True},
    "lighttpd-1.4": {"stream_response_body": 1},
}


@BOTH
@pytest.mark.parametrize("framing", ["chunked", "close", "length"])
@pytest.mark.parametrize("name", PROXIES)
def test_each_event_passes_as_it_comes_and_the_head_before(ask, name, framing, protocol):
    played = ask(name, [*EVENTS, (LAST, End())], protocol, framing, **AT_ONCE[name])
    assert played.body == EVENTS
    assert played.head[0] == (EVENTS[0][0] if name == "h2o-2.2" else 0.0)
    assert ended(played, protocol) == "clean"


@pytest.mark.parametrize("name", PROXIES)
def test_what_ends_with_its_connection_is_in_chunks_behind_most(ask, name):
    kept = name in ("haproxy-2.6", "haproxy-2.8", "nghttpx-1.52")
    head = ask(name, [*EVENTS, (LAST, End())], framing="close", **AT_ONCE[name]).head[1]
    assert head.framing is (Framing.CLOSE if kept else Framing.CHUNKED)


@pytest.mark.parametrize("framing", ["chunked", "length"])
@pytest.mark.parametrize("name", ["haproxy-2.6", "haproxy-2.8"])
def test_haproxy_gathers_for_200_ms_over_http1_head_and_all(ask, name, framing):
    script = [(0.019 * number, EVENT) for number in range(COUNT)]
    played = ask(name, [*script, (1.2, End())], framing=framing, segment=65483)
    events = [(time, size // len(EVENT)) for time, size in bursts(played)]
    assert events == [(0.2, 11), (0.409, 11), (0.618, 11), (0.827, 11), (1.036, 11), (1.2, 5)]
    assert played.head[0] == 0.2
    assert len(played.body) == COUNT, "each chunk is still one"
    assert ask(name, [*script, (1.2, End())], H2, framing).body == ask(name, script, framing="close").body


@pytest.mark.parametrize("name", ["haproxy-2.6", "haproxy-2.8"])
def test_haproxy_sends_what_fills_a_segment_at_once(ask, name):
    script = [(1.0 + number * 0.02, b"x" * 301) for number in range(10)]
    assert bursts(ask(name, script)) == [(1.08, 5 * 301), (1.18, 5 * 301)]
    large = [(1.0, b"x" * 2000), (1.1, b"x" * 2000)]
    assert times(ask(name, large)) == [1.0, 1.1]
    rare = [(1.0 + number * 0.25, EVENT) for number in range(3)]
    assert times(ask(name, rare)) == [1.2, 1.45, 1.7]


WAITS = {"haproxy-2.6": (0.2, 0.0), "haproxy-2.8": (0.2, 0.0), "h2o-2.2": (1.0, 1.0), "lighttpd-1.4": (2.0, 2.0)}


@pytest.mark.parametrize("name", PROXIES)
def test_when_the_head_of_an_answer_comes_that_is_silent_at_first(ask, name):
    script = [(1.0, EVENT), (2.0, End())]
    assert tuple(ask(name, script, protocol).head[0] for protocol in (H1, H2)) == WAITS.get(name, (0.0, 0.0))


@BOTH
@pytest.mark.parametrize("framing", ["chunked", "close", "length"])
@pytest.mark.parametrize(
    ("name", "parameters", "becomes"),
    [
        ("lighttpd-1.4", {}, Framing.LENGTH),
        ("varnish-7", {"do_stream": False}, Framing.LENGTH),
        ("traefik-3", {"buffering": True}, Framing.CHUNKED),
    ],
)
def test_who_has_all_of_it_first(ask, name, parameters, becomes, framing, protocol):
    played = ask(name, [*EVENTS, (LAST, End())], protocol, framing, **parameters)
    assert (played.head[0], bursts(played)) == (LAST, [(LAST, COUNT * len(EVENT))])
    assert played.head[1].framing is (Framing.LENGTH if framing == "length" else becomes)
    if becomes is Framing.LENGTH or framing == "length":
        assert SIZE[1] in [value for key, value in played.head[1].headers if key.lower() == b"content-length"]


TEXT = {
    "caddy, none": ("caddy-2.11", {}, 1.2, [(1.2, 3000)]),
    "caddy, 100ms": ("caddy-2.6", {"flush_interval": "100ms"}, 0.1, [(0.1, 250), (0.214, 300), (0.328, 300)]),
    "caddy, 1s": ("caddy-2.11", {"flush_interval": "1s"}, 1.0, [(1.0, 2600), (1.2, 400)]),
    "caddy, at once": ("caddy-2.6", {"flush_interval": -1}, 0.0, [(0.019, 50), (0.038, 50), (0.057, 50)]),
    "traefik": ("traefik-3", {}, 0.1, [(0.1, 250), (0.214, 300), (0.328, 300)]),
    "traefik, 1s": ("traefik-3", {"flushInterval": "1s"}, 1.0, [(1.0, 2600), (1.2, 400)]),
    "traefik, at once": ("traefik-3", {"flushInterval": -1}, 0.0, [(0.019, 50), (0.038, 50), (0.057, 50)]),
}


@BOTH
@pytest.mark.parametrize(("name", "parameters", "head", "first"), TEXT.values(), ids=TEXT)
def test_gos_interval_is_for_answers_with_a_length_that_are_no_event_stream(
    ask, name, parameters, head, first, protocol
):
    script = [*((round(number * 0.019, 3), EVENT) for number in range(1, COUNT + 1)), (1.2, End())]
    played = ask(name, script, protocol, "text", **parameters)
    assert (played.head[0], bursts(played)[: len(first)]) == (head, first)
    assert ask(name, script, protocol, "length", **parameters).body == script[:-1]


@pytest.mark.parametrize("name", ["caddy-2.6", "caddy-2.11"])
def test_go_has_a_buffer_of_4_kib_that_the_head_shares(ask, name):
    script = [(round(0.05 * number, 2), b"x" * 400) for number in range(24)]
    sized = ResponseHead(200, ((b"Content-Type", b"text/plain"), (b"Content-Length", b"9600")), b"OK", Framing.LENGTH)
    played = ask(name, [(0.0, sized), *script, (1.2, End())], framing=None)
    (first, size), (second, full), (third, rest) = bursts(played)
    assert (first, second, third) == (0.5, 1.0, 1.2)
    assert (full, size + full + rest) == (4096, 9600)
    assert 4096 - 120 < size < 4096


# ---- coding


def decodable(played):
    """When how many bytes of the body could be read."""
    decoder, found = zlib.decompressobj(wbits=31), dict[float, int]()
    for time, payload in played.body:
        if size := len(decoder.decompress(payload)):
            found[time] = found.get(time, 0) + size
    return list(found.items())


EVERY = [(time, len(EVENT)) for time, _ in EVENTS]
BEHIND = [*((time, size) for (time, _), (_, size) in zip(EVERY[1:-1], EVERY, strict=False)), (LAST, 2 * len(EVENT))]
WHOLE = [(LAST, COUNT * len(EVENT))]
STREAM = "text/event-stream"
GZIP = {
    "haproxy-2.6": ({"compression_algo": "gzip", "compression_type": STREAM}, BEHIND, 0.0),
    "haproxy-2.8": ({"compression_algo": "gzip", "compression_type": STREAM}, EVERY, 0.0),
    "apache-2.4": ({"AddOutputFilterByType": STREAM}, EVERY, 0.0),
    "caddy-2.6": ({"encode": "gzip"}, WHOLE, 0.0),
    "caddy-2.11": ({"encode": "gzip"}, EVERY, 0.0),
    "envoy-1.40": ({"compressor": "gzip"}, EVERY, 0.0),
    "traefik-3": ({"compress": True}, EVERY, 0.0),
    "varnish-7": ({"do_gzip": True}, WHOLE, 0.0),
}


@pytest.mark.parametrize(("name", "parameters", "readable", "head"), [(name, *row) for name, row in GZIP.items()])
def test_when_what_is_compressed_can_be_read(ask, name, parameters, readable, head):
    played = ask(name, [*EVENTS, (LAST, End())], H2, gzip=True, **parameters)
    assert (played.head[0], decodable(played)) == (head, readable)
    assert (b"content-encoding", b"gzip") in [(key.lower(), value) for key, value in played.head[1].headers]
    plain = ask(name, [*EVENTS, (LAST, End())], H2, **parameters)
    if name == "varnish-7":  # it has it compressed
        assert (plain.head[0], bursts(plain)) == (LAST, WHOLE)
    else:
        assert plain.body == EVENTS


def test_what_is_compressed_in_varnish_is_lost_where_it_breaks_off(ask):
    for gzip in (True, False):
        played = ask("varnish-7", [*EVENTS[:30], (0.62, FIN)], gzip=gzip, do_gzip=True)
        assert (played.head[1].status, played.data, ended(played, H1)) == (200, b"", "fin")


# ---- what the server broke off

INTERNAL = ("fin", "stream:INTERNAL_ERROR")
HIDDEN, HALF = ("clean", "clean"), ("fin", "clean")
CANCEL, PROTOCOL = ("fin", "stream:CANCEL"), ("fin", "stream:PROTOCOL_ERROR")
BREAKS = {"FIN, chunked": ("chunked", FIN), "RST, chunked": ("chunked", RST), "FIN, short": ("length", FIN), "RST, close": ("close", RST)}  # fmt: skip
ENDS = {
    "apache-2.4": (INTERNAL, INTERNAL, INTERNAL, INTERNAL),
    "caddy-2.11": (INTERNAL, INTERNAL, INTERNAL, INTERNAL),
    "caddy-2.6": (HIDDEN, HIDDEN, HALF, HIDDEN),
    "envoy-1.40": (INTERNAL, INTERNAL, INTERNAL, HIDDEN),
    "h2o-2.2": (HIDDEN, PROTOCOL, PROTOCOL, HIDDEN),
    "haproxy-2.6": (HALF, HALF, HALF, HIDDEN),
    "haproxy-2.8": (CANCEL, CANCEL, CANCEL, HIDDEN),
    "lighttpd-1.4": (HALF, HALF, HALF, HALF),
    "nghttpx-1.52": (INTERNAL, INTERNAL, INTERNAL, INTERNAL),
    "squid-5": (INTERNAL, INTERNAL, INTERNAL, INTERNAL),
    "traefik-3": (INTERNAL, INTERNAL, INTERNAL, INTERNAL),
    "varnish-7": (HALF, HALF, HALF, HALF),
}
LATE = {("envoy-1.40", "FIN, short"): 1.0, ("envoy-1.40", "FIN, chunked"): 1.0, ("envoy-1.40", "RST, chunked"): 1.0, ("lighttpd-1.4", "FIN, short"): 5.0}  # fmt: skip
"""Seconds that the FIN of a client over HTTP/1 comes late."""


@BOTH
@pytest.mark.parametrize("which", BREAKS)
@pytest.mark.parametrize("name", PROXIES)
def test_what_broke_off_ends_so(ask, name, which, protocol):
    framing, broken = BREAKS[which]
    played = ask(name, [*EVENTS[:30], (0.62, broken)], protocol, framing, **AT_ONCE[name])
    assert played.body == EVENTS[:30], "what had come is delivered"
    assert ended(played, protocol) == ENDS[name][list(BREAKS).index(which)][protocol == H2]
    assert played.end[0] == round(0.62 + (LATE.get((name, which), 0.0) if protocol == H1 else 0.0), 3)


@BOTH
def test_lighttpd_sends_what_it_has_as_if_it_were_all(ask, protocol):
    for broken in (FIN, RST):
        played = ask("lighttpd-1.4", [*EVENTS[:30], (0.62, broken)], protocol)
        assert (played.head[0], len(played.data), ended(played, protocol)) == (0.62, 1500, "clean")
        assert (b"Content-Length", b"1500") in played.head[1].headers
    played = ask("lighttpd-1.4", [*EVENTS[:30], (0.62, FIN)], protocol, "length")
    assert (played.head[0], len(played.data)) == (0.62, 1500)
    assert (SIZE in played.head[1].headers, ended(played, protocol)) == (True, HALF[protocol == H2])
    assert played.end[0] == (5.62 if protocol == H1 else 0.62)


@BOTH
@pytest.mark.parametrize("broken", [FIN, RST])
@pytest.mark.parametrize(
    ("name", "parameters", "status"),
    [("varnish-7", {"do_stream": False}, 503), ("traefik-3", {"buffering": True}, 500)],
)
def test_who_had_to_have_all_of_it_says_that_it_has_not(ask, name, parameters, status, broken, protocol):
    played = ask(name, [*EVENTS[:30], (0.62, broken)], protocol, **parameters)
    assert (played.head[0], played.head[1].status, ended(played, protocol)) == (0.62, status, "clean")
    assert b"data" not in played.data


REFUSED = {"envoy-1.40": 503, "lighttpd-1.4": 500, "varnish-7": 503}


@BOTH
@pytest.mark.parametrize("broken", [FIN, RST])
@pytest.mark.parametrize("name", PROXIES)
def test_before_the_head_there_is_an_answer(ask, name, broken, protocol):
    played = ask(name, [(0.5, broken)], protocol, None)
    assert (played.head[0], played.head[1].status) == (0.5, REFUSED.get(name, 502))
    assert ended(played, protocol) == "clean"


def test_h2o_writes_what_is_no_chunk_where_the_server_was_reset():
    [hop] = load("version: 1\nhops: [preset: h2o-2.2]\n").rules[0].hops
    assert ChunkSyntax(on_abort="\r\n1\r\n") in hop.faults


# ---- limits

LIMITS = {
    "haproxy-2.6": ({"timeout_server": "2s"}, 504, HALF),
    "haproxy-2.8": ({"timeout_server": "2s"}, 504, CANCEL),
    "apache-2.4": ({"ProxyTimeout": "2s"}, 502, INTERNAL),
    "caddy-2.6": ({"read_timeout": "2s"}, 504, HIDDEN),
    "caddy-2.11": ({"read_timeout": "2s"}, 504, INTERNAL),
    "envoy-1.40": ({"stream_idle_timeout": "2s", "timeout": "0s"}, 504, INTERNAL),
    "varnish-7": ({"first_byte_timeout": "2s", "between_bytes_timeout": "2s"}, 503, HALF),
    "lighttpd-1.4": ({"stream_response_body": 2, "read_timeout": "2s"}, 504, HALF),
    "h2o-2.2": ({"proxy_timeout_io": "2s"}, 502, PROTOCOL),
    "nghttpx-1.52": ({"backend_read_timeout": "2s"}, 504, INTERNAL),
    "squid-5": ({"read_timeout": "2s"}, 504, INTERNAL),
}
LONGER = {"lighttpd-1.4": 2.0, "squid-5": 1.0}


@BOTH
@pytest.mark.parametrize(("name", "parameters", "status", "ends"), [(name, *row) for name, row in LIMITS.items()])
def test_a_server_that_is_silent_for_2_s(ask, name, parameters, status, ends, protocol):
    limit = 2.0 + LONGER.get(name, 0.0)
    before = ask(name, [], protocol, None, **parameters)
    assert (before.head[0], before.head[1].status, before.cancelled_at) == (limit, status, limit)
    script = [*EVENTS[:30], (9.0, EVENT)]
    played = ask(name, script, protocol, **{**AT_ONCE[name], **parameters})
    assert (played.body, ended(played, protocol)) == (EVENTS[:30], ends[protocol == H2])
    over = round(EVENTS[29][0] + limit, 3)
    late = 1.0 if (name, protocol) == ("envoy-1.40", H1) else 0.0
    assert (played.cancelled_at, played.end[0]) == (over, over + late)
    reset = name.startswith("haproxy")
    assert [ending.kind for ending in played.upstream_endings] == (["rst"] if reset else [])
    steady = ask(name, [*EVENTS, (LAST, End())], protocol, **{**AT_ONCE[name], **parameters})
    assert (steady.body, ended(steady, protocol)) == (EVENTS, "clean")


@BOTH
@pytest.mark.parametrize("limit", ["timeout", "max_stream_duration"])
def test_envoy_limits_the_whole_answer_however_alive_it_is(ask, limit, protocol):
    parameters = {"timeout": "0s", limit: "1s"}
    assert ask("envoy-1.40", [], protocol, None, **parameters).head[1].status == 504
    played = ask("envoy-1.40", [*EVENTS, (LAST, End())], protocol, **parameters)
    assert (ended(played, protocol), played.cancelled_at) == (INTERNAL[protocol == H2], 1.0)
    assert played.end[0] == (2.0 if protocol == H1 else 1.0)


def test_envoys_limits_where_nothing_is_said(ask):
    beats = [(float(second), EVENT) for second in range(1, 30)]
    assert ask("envoy-1.40", beats, H2).end[0] == 15.0
    assert ask("envoy-1.40", beats, H2, timeout="0s").end[0] == 329.0
    assert ask("envoy-1.40", beats, H2, timeout="0s", idle_timeout="10s").end[0] == 39.0
    assert ask("envoy-1.40", beats, H2, timeout="0s", idle_timeout="0s").end is None


@pytest.mark.parametrize(
    ("name", "limit"), [("caddy-2.11", "response_header_timeout"), ("traefik-3", "responseHeaderTimeout")]
)
def test_gos_limit_on_the_head(ask, name, limit):
    played = ask(name, [(3.0, HEADS["chunked"])], framing=None, **{limit: "2s"})
    assert (played.head[0], played.head[1].status) == (2.0, 504)


@pytest.mark.parametrize(
    ("name", "ends"), [("haproxy-2.6", INTERNAL), ("haproxy-2.8", CANCEL), ("envoy-1.40", INTERNAL)]
)
def test_a_client_that_does_not_read_is_left_after_its_limit(play, name, ends):
    limit = "stream_idle_timeout" if name == "envoy-1.40" else "timeout_client"
    [hop] = load(f"version: 1\nhops: [{{preset: {name}, {limit}: 2s}}]\n").rules[0].hops
    flood = [(round(0.01 * number, 2), b"x" * 20_000) for number in range(100)]
    for protocol in (H1, H2):
        context = Context(Random(0), RequestHead(b"GET", b"/", final=True), protocol=protocol)
        played = play([hop.faults], flood, room=30_000, context=context)
        assert ended(played, protocol) == ends[protocol == H2]
        assert 2.0 < played.cancelled_at < 2.3
        quiet = play([hop.faults[-1:]], [(0.1, b"x"), (60.0, End())], context=context)
        assert ended(quiet, protocol) == "clean", "it does not run while the client only waits"


# ---- the client leaves

AWAY, NEXT = 0.25, 3.9
SILENCE = [*EVENTS[:10], (NEXT, EVENT), (4.0, EVENT), (5.0, End())]
LEAVES = {
    # FIN of a client over HTTP/1, RST_STREAM: when the server hears of it.
    "apache-2.4": ({}, NEXT, NEXT),
    "caddy-2.11": ({"flush_interval": -1}, AWAY, AWAY),
    "caddy-2.6": ({}, AWAY, AWAY),
    "envoy-1.40": ({}, AWAY, AWAY),
    "h2o-2.2": ({}, NEXT, AWAY),
    "haproxy-2.6": ({}, NEXT, NEXT),
    "haproxy-2.8": ({}, NEXT, AWAY),
    "haproxy-2.6, abortonclose": ({"abortonclose": True}, AWAY, AWAY),
    "haproxy-2.8, abortonclose": ({"abortonclose": True}, AWAY, AWAY),
    "caddy-2.6, -1": ({"flush_interval": -1}, NEXT, NEXT),
    "lighttpd-1.4": ({}, None, AWAY),
    "lighttpd-1.4, 1": ({"stream_response_body": 1}, NEXT, AWAY),
    "nghttpx-1.52": ({}, AWAY, AWAY),
    "squid-5": ({}, AWAY, AWAY),
    "traefik-3": ({}, AWAY, AWAY),
    "traefik-3, buffering": ({"buffering": True}, AWAY, AWAY),
    "varnish-7": ({}, NEXT, NEXT),
    "varnish-7, do_stream": ({"do_stream": False}, None, None),
    "varnish-7, do_gzip": ({"do_gzip": True}, None, None),
    "varnish-7, pipe": ({"pipe": True}, AWAY, AWAY),
}


@BOTH
@pytest.mark.parametrize("row", LEAVES)
def test_when_a_silent_server_hears_that_its_client_has_left(ask, row, protocol):
    parameters, fin, reset = LEAVES[row]
    leaves = (AWAY, "hangup:stream:CANCEL" if protocol == H2 else "hangup")
    played = ask(row.partition(",")[0], [*SILENCE[:10], leaves, *SILENCE[10:]], protocol, **parameters)
    assert played.cancelled_at == (reset if protocol == H2 else fin)
    if row.startswith("haproxy"):
        assert [ending.kind for ending in played.upstream_endings] == ["rst"]


@pytest.mark.parametrize(
    ("name", "parameters"), [("haproxy-2.6", {"timeout_server": "2s"}), ("apache-2.4", {"ProxyTimeout": "2s"})]
)
def test_a_limit_on_the_server_ends_what_nobody_notices(ask, name, parameters):
    script = [*EVENTS[:10], (AWAY, "hangup"), (NEXT, EVENT)]
    assert ask(name, script, **parameters).cancelled_at == 2.2


SERVES = {"apache-2.4", "h2o-2.2", "haproxy-2.6", "haproxy-2.8", "lighttpd-1.4", "varnish-7"}


@pytest.mark.parametrize("name", [*PROXIES, "haproxy-2.6, abortonclose: true"])
def test_who_serves_a_client_that_has_closed_its_half(name):
    [hop] = load(f"version: 1\nhops: [{{preset: {name}}}]\n").rules[0].hops
    context = Context(Random(0), RequestHead(b"GET", b"/", final=True))
    assert any(fault.start(context).serves_half_close for fault in hop.faults) is (name in SERVES)


# ---- the head


def test_behind_which_answers_the_connection_of_a_client_over_http1_ends(ask):
    script = [(0.1, EVENT), (0.2, End())]
    for name, parameters, heard in (
        ("haproxy-2.6", {"httpclose": True}, script),
        ("nghttpx-1.52", {"backend_read_timeout": "2s"}, []),
    ):
        for protocol in (H1, H2):
            head = ask(name, heard, protocol, "chunked" if heard else None, **parameters).head[1]
            assert ((b"Connection", b"close") in head.headers) is (protocol == H1)
        assert (b"Connection", b"close") not in ask(name, script).head[1].headers


def test_a_whole_session_that_ends_is_no_rst_stream(ask):
    script = [*SILENCE[:10], (AWAY, "hangup:fin"), *SILENCE[10:]]
    assert ask("haproxy-2.8", script, H2).cancelled_at == NEXT


LOWER, SPELT = [b"content-type", b"x-one"], [b"Content-Type", b"x-one"]
FIELDS = {
    "apache-2.4": (SPELT, {b"Server": b"Apache/2.4.71 (Debian)"}),
    "caddy-2.11": ([b"Content-Type", b"X-One"], {b"Via": b"1.1 Caddy"}),
    "caddy-2.6": ([b"Content-Type", b"X-One"], {b"Server": b"Caddy"}),
    "envoy-1.40": (LOWER, {b"server": b"envoy", b"x-envoy-upstream-service-time": b"0"}),
    "h2o-2.2": (SPELT, {b"Server": b"h2o/2.2.5"}),
    "haproxy-2.6": (LOWER, {}),
    "haproxy-2.8": (LOWER, {}),
    "lighttpd-1.4": (SPELT, {b"Accept-Ranges": b"bytes", b"Server": b"lighttpd/1.4.69"}),
    "nghttpx-1.52": (SPELT, {b"Server": b"nghttpx", b"Via": b"1.1 nghttpx"}),
    "squid-5": (SPELT, {b"X-Cache": b"MISS from squid"}),
    "traefik-3": ([b"Content-Type", b"X-One"], {}),
    "varnish-7": (SPELT, {b"Age": b"0", b"Via": b"1.1 varnish (Varnish/7.1)"}),
}


@pytest.mark.parametrize(("name", "spelt", "added"), [(name, *row) for name, row in FIELDS.items()])
def test_the_fields_of_the_head(ask, name, spelt, added):
    head = ResponseHead(200, (TYPE, (b"x-one", b"1")), b"OK", Framing.CHUNKED)
    headers = ask(name, [(0.0, head), (1.0, End())], framing=None).head[1].headers
    assert [key for key, _ in headers][:2] == spelt
    assert added.items() <= dict(headers).items()


def test_varnish_that_pipes_looks_at_nothing(ask):
    for framing, head in HEADS.items():
        played = ask("varnish-7", [*EVENTS, (LAST, End())], framing=framing, pipe=True)
        assert (played.head, played.body) == ((0.0, head), EVENTS)
    broken = ask("varnish-7", [*EVENTS[:30], (0.62, RST)], pipe=True)
    assert (ended(broken, H1), len(broken.data)) == ("fin", 1500)


def test_everything_in_the_middle_of_an_event_is_no_different(ask):
    """None of these machines looks into what it passes on."""
    pieces = [(0.1, EVENT[:7]), (0.2, EVENT[7:30]), (0.3, EVENT[30:])]
    for name in PROXIES:
        played = ask(name, [*pieces, (0.4, End())], H2, **AT_ONCE[name])
        assert played.body == pieces
        assert isinstance(played.out[1][1], Data)


# ---- several in a row


def in_a_row(play, names, script):
    """The same in front of a client over HTTP/2."""
    hops = load(f"version: 1\nhops: [{', '.join(f'preset: {name}' for name in names)}]\n").rules[0].hops
    request = RequestHead(b"GET", b"/", ((b"Host", b"x"),), final=True)
    context = Context(Random(0), request, protocol=H2)
    return play(
        [hop.faults for hop in hops], [(0.0, HEADS["chunked"]), *script], request=request, head=None, context=context
    )


@pytest.mark.parametrize("inner", ["haproxy-2.6", "varnish-7", "lighttpd-1.4"])
def test_a_machine_whose_client_is_another_hides_nothing_from_it(play, inner):
    """Over HTTP/2 it would: but that is spoken between the last machine and the client."""
    played = in_a_row(play, [inner, "nghttpx-1.52"], [*EVENTS[:30], (0.62, FIN)])
    assert ended(played, H2) == ("clean" if inner == "lighttpd-1.4" else "stream:INTERNAL_ERROR")


@pytest.mark.parametrize(("outer", "how"), [("haproxy-2.6", "clean"), ("envoy-1.40", "stream:INTERNAL_ERROR")])
def test_the_machine_nearest_to_the_client_has_the_last_word(play, outer, how):
    assert ended(in_a_row(play, ["nghttpx-1.52", outer], [*EVENTS[:30], (0.62, RST)]), H2) == how


def test_what_haproxy_gathers_for_another_machine_comes_in_bursts_to_the_client(play):
    played = in_a_row(
        play, ["haproxy-2.6", "traefik-3"], [*((0.019 * number, EVENT) for number in range(30)), (0.6, End())]
    )
    assert [time for time, _ in bursts(played)] == [0.2, 0.409, 0.6]


def test_a_reset_of_the_client_is_a_fin_to_the_machine_behind_the_next(play):
    script = [*SILENCE[:10], (AWAY, "hangup:stream:CANCEL"), *SILENCE[10:]]
    assert in_a_row(play, ["haproxy-2.8", "nghttpx-1.52"], script).cancelled_at == NEXT
    assert in_a_row(play, ["nghttpx-1.52", "haproxy-2.8"], script).cancelled_at == AWAY
