"""From answers to the verdict: which hop is named, what it is said to do, what mends it, and what is thin."""

import io
import json

import pytest
from rich.console import Console

from chaosproxy.client.answer import GAVE_UP
from chaosproxy.diagnose.assess import Report, assess
from chaosproxy.diagnose.causes import MENDS, Cause, mend, others
from chaosproxy.diagnose.makers import Maker, known
from chaosproxy.diagnose.observed import Leaving, Observed, Pace, Variant
from chaosproxy.diagnose.picture import draw
from chaosproxy.diagnose.plain import plain
from chaosproxy.diagnose.question import hops
from chaosproxy.diagnose.remarks import left, remarks
from chaosproxy.diagnose.telling import told
from tests.diagnose import made

SPARSE = made.paced()
DENSE = made.paced(100, first=0.01, gap=0.01, size=415)
NGINX = [("Server", "nginx/1.22.1"), ("Content-Type", "text/event-stream")]
UVICORN = [("server", "uvicorn"), ("content-type", "text/event-stream")]
GZIP = [("content-encoding", "gzip")]


def report(*each, coded=(), dense=(), **more) -> Report:
    """`each`: the answers without a coding of the hops, innermost first; a list of them is several measurements."""
    answers = {}
    for variant, given in ((Variant.PLAIN, each), (Variant.CODED, coded), (Variant.DENSE, dense)):
        for number, one in enumerate(given):
            answers[number, variant] = one if isinstance(one, list) else [one]
    places = hops([f"http://127.0.0.{number + 1}:80/sse" for number in range(len(each))])
    return assess(Observed(places, answers, **more))


GOOD = made.answer(SPARSE, headers=UVICORN)
WHOLE = made.answer(made.at_once(SPARSE), headers=NGINX)


def test_the_first_hop_that_changes_the_stream_is_named_and_those_behind_it_are_not():
    seen = report(GOOD, made.answer(made.trembling(SPARSE), headers=UVICORN), WHOLE, WHOLE)
    assert seen.broken is not None
    assert seen.broken.number == 3
    assert [one.finding is None for one in seen.seen] == [True, True, False, True]
    verdict = told(seen)
    assert verdict.sentence.startswith(
        "Hop 3 (nginx/1.22.1, http://127.0.0.3:80/sse) breaks streaming: a buffer larger"
    )
    assert verdict.mend.startswith("nginx: `proxy_buffering off;`")
    assert "25 of 25 events at once, after 1000 ms" in " ".join(verdict.evidence)
    assert verdict.further == ()


def test_a_hop_that_makes_it_worse_is_named_besides():
    cork = made.answer(made.corked(SPARSE, 0.2), headers=UVICORN)
    seen = report(GOOD, cork, WHOLE)
    assert seen.broken is not None
    assert seen.broken.number == 2
    (further,) = told(seen).further
    assert further.startswith("hop 3 (nginx")


def test_most_measurements_decide():
    assert report([GOOD] * 3, [GOOD, GOOD, WHOLE]).broken is None
    seen = report([GOOD] * 3, [GOOD, WHOLE, WHOLE])
    assert seen.broken is not None
    assert "only 2 of 3 measurements agree" in told(seen).thin


def test_more_bytes_tell_the_size_of_a_buffer():
    buffered = made.answer(made.buffered(DENSE, 4096), headers=NGINX)
    dense = made.answer(DENSE)
    seen = report(GOOD, WHOLE, dense=(dense, buffered))
    assert "a buffer of 4 KiB lets go" in told(seen).sentence
    assert "(asked for many bytes)" in told(seen).evidence[0]
    seen = report(GOOD, made.answer(made.at_once(SPARSE)), dense=(dense, dense))
    assert seen.broken is not None
    assert seen.broken.finding is not None
    assert seen.broken.finding.cause is Cause.BUFFER, "many bytes fill it at once"


def test_a_buffer_that_looks_after_each_event_is_near_its_size():
    stream = made.paced(60, first=0.02, gap=0.02, size=193)
    blocks = made.answer(made.flushed(stream, 4096), headers=UVICORN)
    for seen in (report(blocks), report(made.answer(stream, headers=UVICORN), blocks)):
        assert "a buffer of about 4 KiB" in told(seen).sentence


def test_who_breaks_it_only_for_clients_that_take_a_coding():
    coded = made.answer(made.at_once(SPARSE), headers=[*UVICORN, *GZIP], coded=0.4)
    seen = report(GOOD, GOOD, coded=(GOOD, coded))
    assert told(seen).sentence.endswith(
        "nothing can be read until the end. Without Accept-Encoding it passes each event on."
    )
    flushed = made.answer(SPARSE, headers=[*UVICORN, *GZIP], coded=0.9)
    seen = report(GOOD, GOOD, coded=(GOOD, flushed))
    assert seen.broken is None
    assert list(remarks(seen.seen[1])) == ["with Accept-Encoding it is coded (gzip), and flushed with each event"]


def test_a_coding_that_cannot_be_read_is_judged_by_its_bytes():
    brotli = made.answer([(1.0, b"x" * 900)], headers=[("content-encoding", "br")], recorded=False)
    seen = report(GOOD, GOOD, coded=(GOOD, brotli))
    assert seen.broken is not None
    assert seen.broken.finding is not None
    assert seen.broken.finding.cause is Cause.COMPRESSION


def test_a_server_whose_pace_was_asked_for_is_judged_by_it():
    seen = report(WHOLE, paces={Variant.PLAIN: Pace(25, 0.04, 0.04)})
    assert seen.broken is not None
    assert "asked of the server: the first after 40 ms, one at a time, 40 ms apart" in told(seen).evidence


def test_a_server_that_is_slower_than_it_was_asked_is_no_machine_that_holds_each_event_for_the_next():
    late = made.answer(made.later(SPARSE, 0.04), headers=UVICORN)
    assert report(late, paces={Variant.PLAIN: Pace(25, 0.04, 0.04)}).broken is None
    behind = made.answer(made.one_behind(SPARSE), headers=UVICORN)
    assert report(behind, paces={Variant.PLAIN: Pace(25, 0.04, 0.04)}).broken is not None


def test_nothing_is_wrong():
    assert told(report(GOOD)).sentence.startswith("No hop breaks streaming. The hop passes on what comes")
    assert "Both hops pass" in told(report(GOOD, GOOD)).sentence
    assert "All 3 hops pass" in told(report(GOOD, GOOD, GOOD)).sentence
    short = made.answer([(0.001, b"x")], recorded=False, headers=[("content-type", "application/json")])
    verdict = told(report(short, short))
    assert verdict.sentence == "No hop was seen to break streaming, but this answer is no stream to tell by."
    assert "its type is application/json: was a stream asked for?" in verdict.thin
    assert any("a hop that gathers would not show" in line for line in verdict.thin)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (made.answer(SPARSE, headers=[("age", "3")]), "comes from a cache"),
        (made.answer(SPARSE, headers=[("x-cache", "HIT")]), "comes from a cache"),
        (made.answer(made.paced(6)), "6 events are few"),
        (made.answer(SPARSE[:20], end=GAVE_UP), "answers were left after 5000 ms"),
        (made.answer(DENSE, recorded=False), "bytes were looked at"),
    ],
)
def test_what_a_verdict_does_not_stand_firmly_on(answer, words):
    assert any(words in line for line in told(report(answer, limit=5.0)).thin)


def test_a_server_that_gathers_is_told_from_a_hop_only_where_somebody_is_inside():
    thin = told(report(made.answer(made.at_once(SPARSE)))).thin
    assert any("nobody inside of it was asked" in line for line in thin)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (made.answer([], status=302, headers=[("location", "/login")]), "it answers 302 where the hop inside streams"),
        (made.answer(SPARSE[:3], end="fin"), "the answer breaks off after 121 ms: closed without the end mark (FIN)"),
        (made.answer(SPARSE[:3], end="stream:CANCEL"), "the stream was reset (CANCEL)"),
        (made.answer(SPARSE[:3]), "3 of 25 events come through, and a clean end behind them"),
        (
            made.answer(SPARSE[:3], end=GAVE_UP, ended=5.0),
            "in 5000 ms 3 of 25 events came through, the last after 120 ms",
        ),
        (made.answer([], status=None, end=GAVE_UP, ended=5.0), "nothing came through within 5000 ms"),
        (made.answer(made.one_behind(SPARSE)), "each event leaves it only when the next one comes"),
        (made.answer(made.corked(DENSE, 0.1)), "it lets go of what it has every 100 ms"),
        (
            made.answer(made.at_once(SPARSE), headers=[("content-length", "750")]),
            "with a Content-Length that only the end",
        ),
    ],
)
def test_what_a_hop_does_in_a_clause(answer, words):
    inside = made.answer(DENSE) if len(answer.pieces) > 5 and answer.pieces[0].size > 400 else GOOD
    assert words in told(report(inside, answer)).sentence


def test_what_is_worth_a_word_breaks_nothing():
    pause = [*SPARSE[:12], *made.later(SPARSE[12:], 2.0)]
    (word,) = remarks(report(GOOD, made.answer(pause)).seen[1])
    assert word == "once nothing came for 2040 ms, inside for 40 ms at most"
    late = made.answer(made.later(SPARSE, 0.3), ended=1.31)
    (word,) = remarks(report(GOOD, late).seen[1])
    assert word.startswith("everything 300 ms later than inside")
    (word,) = remarks(report(made.answer(SPARSE, end="fin"), GOOD).seen[1])
    assert word.startswith("the answer inside breaks off, and this hop ends it cleanly")
    (word,) = remarks(report(GOOD, made.answer(SPARSE, head=0.039)).seen[1])
    assert word.startswith("its head waits for the first event")


def test_what_became_of_a_client_that_left():
    assert left(Leaving(0.004, 2.5, 0.3)) == "the server is told at once (4 ms)"
    assert left(Leaving(0.29, 2.5, 0.3)) == "the server is told 290 ms later, when it writes again"
    assert left(Leaving(None, 2.5)) == "the server is not told: 2500 ms later it was still at work"


@pytest.mark.parametrize(
    ("outer", "inner", "maker"),
    [
        ([("Server", "nginx")], UVICORN, Maker.NGINX),
        ([("Server", "openresty/1.25")], UVICORN, Maker.NGINX),
        (UVICORN, UVICORN, Maker.UNKNOWN),
        (UVICORN, None, Maker.APPLICATION),
        ([("Via", "1.1 Caddy"), *UVICORN], UVICORN, Maker.CADDY),
        ([("via", "1.1 varnish (Varnish/7.1)"), ("x-varnish", "3"), *UVICORN], UVICORN, Maker.VARNISH),
        ([("server", "envoy"), ("x-envoy-upstream-service-time", "0")], UVICORN, Maker.ENVOY),
        ([("Server", "nginx"), ("CF-RAY", "1")], [("Server", "nginx")], Maker.CLOUDFLARE),
        ([("content-type", "x"), ("server", "me")], [("Content-Type", "x"), ("Server", "me")], Maker.HAPROXY),
        ([("content-type", "x")], [("content-type", "x")], Maker.UNKNOWN),
        ([], [("Content-Type", "x")], Maker.UNKNOWN),
        (
            [("x-envoy-upstream-service-time", "3"), ("Server", "nginx")],
            [("x-envoy-upstream-service-time", "1"), ("server", "envoy")],
            Maker.NGINX,
        ),
        ([("a", "b"), ("transfer-encoding", "chunked")], [("a", "b"), ("Transfer-Encoding", "chunked")], Maker.UNKNOWN),
    ],
)
def test_a_hop_is_known_by_what_it_has_added(outer, inner, maker):
    before = None if inner is None else made.answer(SPARSE, headers=inner)
    assert known(made.answer(SPARSE, headers=outer), before).maker is maker


def test_for_each_cause_there_is_a_setting_whoever_the_hop_is():
    for cause in Cause:
        for maker in Maker:
            assert mend(cause, maker)
        assert isinstance(others(cause), tuple)
    assert {cause for cause, _ in MENDS} == set(Cause)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("columns", [40, 80])
def test_the_picture_keeps_within_its_columns(columns, encoding):
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    draw(Console(file=out, width=columns, force_terminal=False), report(GOOD, WHOLE, leavings={1: Leaving(None, 2.5)}))
    out.seek(0)
    text = out.read()
    assert max(map(len, text.splitlines())) <= columns
    assert "not told" in " ".join(text.split())
    assert ("┤" in text) == (encoding == "utf-8")


def test_all_of_it_is_json():
    said = json.loads(json.dumps(plain(report(GOOD, WHOLE))))
    assert (said["good"], said["hop"], said["cause"], said["maker"]) == (False, 2, "buffer", "nginx")
    assert said["hops"][1]["bursts"] == {"count": 1, "events": 25, "bytes": 750, "period": None}
    assert said["hops"][0]["gaps"] == {"p50": 0.04, "max": 0.04}
    good = plain(report(GOOD))
    assert (good["good"], good["hop"], good["mend"]) == (True, None, None)
