"""`cache`: what one client got, whole or broken off, the next one gets without the upstream."""

from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Buffer, Cache, Cut, Latency
from chaosproxy.faults.caching import ANSWERS, ROOM, Kept, Store
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Abort, End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Manner, Peer, Scope
from chaosproxy.testing import Asked, Upload, check_fault, play, play_together
from chaosproxy.testing.play import GET, POST, SSE

ONE, TWO = b"data: 1\n\n", b"data: 2\n\n"
WHOLE = [(1.0, ONE), (2.0, TWO), (2.0, End())]
BROKEN = [(1.0, ONE), (1.5, Abort("upstream:fin", Peer.UPSTREAM, Scope.STREAM, Manner.FIN))]
PLAIN = ResponseHead(200, ((b"Content-Type", b"text/plain"), (b"Content-Length", b"18")), b"OK", Framing.LENGTH)


def asked(spec, *answers, gap=10.0, **options):
    """One client after the other."""
    return play_together([spec], [Asked(answer, at=gap * n, **options) for n, answer in enumerate(answers)])


def target(path):
    return replace(GET, target=path)


def test_the_second_gets_it_in_one_burst_and_the_upstream_is_not_asked():
    first_, second = asked(Cache(), WHOLE, [])
    assert (first_.data, second.data) == (ONE + TWO, ONE + TWO)
    assert [time for time, _ in second.out] == [10.0] * 3
    assert (second.request, second.end_cause) == ([], "cache")
    assert first_.fired == [(2.0, "cache", "stored: 18 bytes")]
    assert second.fired == [(10.0, "cache", "clean from the cache: 18 bytes, 8 s old")]
    assert first(second.head[1].headers, b"age") == b"8"
    assert isinstance(second.end[1], End)
    assert second.records_out == 2


def test_one_that_broke_off_looks_whole_to_the_next():
    """Incident 43 of the field: the second client has no way to know."""
    first_, second = asked(Cache(), BROKEN, [])
    assert isinstance(first_.end[1], Abort)
    assert first_.fired == [(1.5, "cache", "stored, broken off: 9 bytes")]
    assert (second.data, type(second.end[1]), second.head[1].framing) == (ONE, End, Framing.CHUNKED)


def test_one_that_broke_off_is_not_kept_by_a_better_one():
    assert asked(Cache(truncated=False), BROKEN, WHOLE)[1].data == ONE + TWO


def test_a_length_that_is_not_true_is_not_repeated_and_one_that_is_stays():
    whole, broken = asked(Cache(), WHOLE, [], head=PLAIN), asked(Cache(), BROKEN, [], head=PLAIN)
    assert (whole[1].head[1].framing, first(whole[1].head[1].headers, b"content-length")) == (Framing.LENGTH, b"18")
    assert (broken[1].head[1].framing, first(broken[1].head[1].headers, b"content-length")) == (Framing.CHUNKED, None)
    assert isinstance(broken[1].end[1], End)


def test_a_part_that_is_given_out_as_if_it_were_all():
    first_, second = asked(Cache(cut=13), WHOLE, [])
    assert (first_.data, second.data) == (ONE + TWO, (ONE + TWO)[:13])
    assert second.records_out == 1


def test_it_is_kept_for_a_time_and_asked_for_anew_afterwards():
    played = asked(Cache(ttl=15.0), WHOLE, [], WHOLE, [])
    assert [bool(one.request) for one in played] == [True, False, True, False]


@pytest.mark.parametrize(
    ("spec", "other", "same"),
    [
        (Cache(), target(b"/?a=2"), False),
        (Cache(key="path"), target(b"/?a=2"), True),
        (Cache(key="path"), target(b"/other"), False),
        (Cache(), replace(GET, method=b"PUT"), False),
        (Cache(), replace(GET, headers=((b"Authorization", b"b"),)), True),
        (Cache(vary=("Authorization",)), replace(GET, headers=((b"authorization", b"b"),)), False),
        (Cache(), replace(GET, authority=b"other"), False),
    ],
)
def test_what_is_the_same(spec, other, same):
    known = Asked(WHOLE, request=replace(GET, target=b"/?a=1" if b"?" in other.target else b"/"))
    played = play_together([spec], [known, Asked(WHOLE, at=10, request=other)])
    assert (not played[1].request) is same


def test_two_at_a_time_are_both_asked_for():
    played = play_together([Cache()], [Asked(WHOLE), Asked(WHOLE, at=1.0), Asked([], at=9.0)])
    assert [bool(one.request) for one in played] == [True, True, False]


@pytest.mark.parametrize(
    ("spec", "head", "why"),
    [
        (Cache(), replace(SSE, status=404), "status 404"),
        (Cache(), replace(SSE, status=206), "status 206"),
        (
            Cache(),
            replace(SSE, headers=(*SSE.headers, (b"Cache-Control", b"No-Cache, must-revalidate"))),
            "cache-control",
        ),
        (Cache(), replace(SSE, headers=(*SSE.headers, (b"cache-control", b"private"))), "cache-control"),
        (Cache(limit=17), SSE, "too long"),
        (Cache(limit=8), SSE, "too long"),
        (Cache(), replace(SSE, framing=Framing.TUNNEL), "protocol"),
        (Cache(methods=("PUT",)), SSE, "method"),
        (Cache(if_=Condition(status=404)), SSE, "if"),
    ],
)
def test_what_is_not_kept(spec, head, why):
    first_, second = asked(spec, WHOLE, WHOLE, head=head)
    assert first_.not_fired == [("cache", why)]
    assert (first_.data, second.data, bool(second.request)) == (ONE + TWO, ONE + TWO, True)


def test_a_cache_that_heeds_nothing():
    head = replace(SSE, headers=(*SSE.headers, (b"cache-control", b"no-store, max-age=9")))
    assert not asked(Cache(honour=False), WHOLE, [], head=head)[1].request


def test_one_of_just_the_limit_is_kept():
    assert not asked(Cache(limit=18), WHOLE, [])[1].request


def test_what_a_client_that_left_did_not_get_is_not_kept():
    played = play_together([Cache()], [Asked(WHOLE, does=[(1.5, "hangup")]), Asked(WHOLE, at=10)])
    assert (played[0].not_fired, bool(played[1].request)) == ([("cache", "not reached")], True)


def test_fields_of_its_own_and_another_end():
    spec = Cache(headers=((b"X-Cache", b"HIT"), (b"content-type", b"text/plain")), then=(Ending("rst"),))
    _, second = asked(spec, WHOLE, [])
    assert second.head[1].headers == ((b"content-type", b"text/plain"), (b"age", b"8"), (b"X-Cache", b"HIT"))
    assert (type(second.end[1]), second.data) == (Abort, ONE + TWO)


def test_the_answer_to_head_is_another_and_has_no_body():
    final = replace(PLAIN, final=True)
    head = replace(GET, method=b"HEAD")
    first_, second = asked(Cache(), [(1.0, End())], [], head=final, request=head)
    assert (first_.data, second.data, bool(second.request)) == (b"", b"", False)
    assert first(second.head[1].headers, b"content-length") == b"18"


def test_an_upload_is_taken_to_its_end_before_the_answer():
    upload = [(0.1, Upload(b"abc")), (3.0, Upload(End()))]
    answer = [(5.0, ONE), (5.0, End())]
    first_, second = asked(Cache(), answer, [], request=POST, gap=20.0)
    assert second.out == []  # its upload is not complete
    played = play_together(
        [Cache()], [Asked(answer, request=POST, does=upload), Asked([], at=20, request=POST, does=upload)]
    )
    assert (played[1].head[0], played[1].request, played[1].data) == (23.0, [], ONE)
    assert first_.data == ONE


def test_it_keeps_what_comes_to_its_place_and_others_act_on_what_it_gives_out():
    inner = play_together([[Cut(at=Trigger(event=1))], [Cache()]], [Asked(WHOLE), Asked([], at=10)])
    assert (inner[0].data, inner[1].data, type(inner[1].end[1])) == (ONE, ONE, End)
    assert inner[1].not_fired == [("cut", "not reached")]
    outer = play_together([[Cache()], [Latency(delay=1.0)], [Buffer(until_end=True)]], [Asked(WHOLE), Asked([], at=10)])
    assert outer[1].body == [(11.0, ONE + TWO)]


def test_it_changes_nothing_that_it_keeps():
    check_fault(Cache())
    check_fault(Cache(if_=Condition(status=404)), neutral=True)
    check_fault(Cache(methods=("PUT",)), neutral=True)


def test_speed_divides_the_time():
    shared = Store()
    fast = Context(Random(0), GET, speed=10.0, shared=shared)
    play([Cache(ttl=20.0)], WHOLE, context=fast)
    assert play([Cache(ttl=20.0)], [], context=replace(fast, began=3.9)).data == ONE + TWO
    assert play([Cache(ttl=20.0)], [], context=replace(fast, began=4.0)).data == b""


def keyed(number):
    return b"GET", b"x", b"/%d" % number, ()


def kept(store, numbers):
    return [store.find(keyed(number), 0.0, 1.0) is not None for number in numbers]


def test_only_so_much_is_kept():
    store = Store()
    for number in range(ANSWERS + 5):
        store.put(keyed(number), Kept(SSE, b"", (), 0.0))
    assert kept(store, (0, 4, 5, ANSWERS + 4)) == [False, False, True, True]
    large, body = Store(), bytes(ROOM // 16 - 1024)
    for number in range(17):
        large.put(keyed(number), Kept(SSE, body, (), 0.0))
    assert kept(large, (0, 1, 16)) == [False, True, True]
    large.put(keyed(1), Kept(SSE, b"", (), 0.0))
    assert 15 * len(body) < large._size < 15 * ROOM // 16
    for number in range(17):
        large._take(keyed(number))
    assert large._size == 0


LONG = b"x" * 60_000
MANY = tuple((b"n", b"") for _ in range(1000))


@pytest.mark.parametrize(
    ("key", "answer", "each"),
    [
        ((), Kept(replace(SSE, headers=((b"mcp-session-id", LONG),)), b"", (), 0.0), 60_000),
        ((), Kept(replace(SSE, headers=MANY), b"", (), 0.0), 100_000),
        ((), Kept(replace(SSE, reason=LONG), b"", (), 0.0), 60_000),
        ((LONG,), Kept(SSE, b"", (), 0.0), 60_000),
        ((((b"x-k", LONG),),), Kept(SSE, b"", (), 0.0), 60_000),
        ((), Kept(SSE, bytes(10_000), tuple(range(2, 10_002, 2)), 0.0), 150_000),
    ],
)
def test_heads_keys_and_the_ends_of_records_are_counted_too(key, answer, each):
    """Peers choose all of them: a thousand heads of 60 KB were 60 MB beside 16 MiB of bodies."""
    store = Store()
    for number in range(ANSWERS):
        store.put((*keyed(number), *key), answer)
    assert 0 < len(store._kept) <= ROOM / each


def test_the_request_is_what_the_client_sent():
    played = play([Cache()], WHOLE, request=GET)
    assert [event for _, event in played.request if isinstance(event, RequestHead)] == [GET]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("cache: 5", 12, "a duration"),
        ("cache: {key: body}", 18, "url, path"),
        ("cache: {cut: -1}", 18, "a size"),
        ("cache: {vary: 'a b'}", 19, "no token"),
        ("cache: {truncated: maybe}", 24, "true or false"),
        ("cache: {at: end}", 13, "at"),
        ("cache: {way: request}", 18, "response"),
    ],
)
def test_load_errors(refused, text, column, words):
    refused(text, column, words)
