"""`concurrency`: so many at a time; the others wait in the order in which they came, or are refused."""

import json
import math
from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition, Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import ClientAbort, Concurrency, Cut, Latency, Respond, Stall
from chaosproxy.model.headers import first
from chaosproxy.model.messages import Abort, End, RequestHead
from chaosproxy.model.units import show_duration
from chaosproxy.model.vocabulary import Peer
from chaosproxy.testing import Asked, Upload, check_fault, play, play_together
from chaosproxy.testing.play import GET, POST

LONG = [(3.0, b"data: 1\n\n"), (4.0, End())]
"""A stream that ends at 4 s."""


def at(time, *answer, **options):
    """An exchange that begins then."""
    return Asked(answer or LONG, at=time, **options)


def statuses(played):
    return [one.head and one.head[1].status for one in played]


def asked_at(played):
    """When the upstream heard of each; None: never."""
    return [one.request[0][0] if one.request else None for one in played]


def test_the_one_beyond_the_limit_is_refused_and_the_upstream_never_hears_of_it():
    played = play_together([Concurrency(limit=2)], [at(0), at(1), at(2), at(4.5)])
    assert statuses(played) == [200, 200, 429, 200]
    assert asked_at(played) == [0.0, 1.0, None, 4.5]
    assert played[2].head[0] == 2.0
    assert played[2].fired == [(2.0, "concurrency", "answered 429")]
    assert played[2].end_cause == "concurrency"
    assert played[0].not_fired == [("concurrency", "within the limit")]


def test_who_waits_is_served_in_the_order_of_coming():
    played = play_together([Concurrency(limit=1, queue=2)], [at(0), at(1), at(2), at(3)])
    assert statuses(played) == [200, 200, 200, 429]
    assert asked_at(played)[:2] == [0.0, 4.0]
    assert played[1].fired == [(4.0, "concurrency", "waited 3s")]


def test_nobody_overtakes_who_waits():
    short = [(0.5, End())]
    played = play_together([Concurrency(limit=1, queue=9)], [at(0), at(1, *short), at(1.5, *short), at(4.0, *short)])
    assert asked_at(played) == [0.0, 4.0, 4.5, 5.0]


@pytest.mark.parametrize(
    ("how", "free"),
    [
        ((1.0, End()), 1.0),
        ((1.0, Abort("upstream:rst", Peer.UPSTREAM)), 1.0),
    ],
)
def test_a_place_is_free_again_however_the_exchange_ended(how, free):
    played = play_together([Concurrency(limit=1, queue=1)], [at(0, (0.5, b"data: 1\n\n"), how), at(0.1)])
    assert asked_at(played)[1] == free


@pytest.mark.parametrize("how", ["hangup", "hangup:rst"])
def test_a_place_is_free_again_when_the_client_has_left(how):
    played = play_together([Concurrency(limit=1, queue=1)], [at(0, does=[(1.0, how)]), at(0.1)])
    assert asked_at(played)[1] == 1.0


@pytest.mark.parametrize(
    ("hops", "free"),
    [
        ([[Concurrency(limit=1, queue=1)], [Latency(delay=2.0)]], 4.0),  # this machine is done with it, the next is not
        ([[Latency(delay=2.0)], [Concurrency(limit=1, queue=1)]], 6.0),
        ([[Concurrency(limit=1, queue=1)], [Cut(at=Trigger(event=1), then=(Ending("silence"),))]], 3.0),
        ([[Cut(at=Trigger(event=1))], [Concurrency(limit=1, queue=1)]], 3.0),
        ([[Concurrency(limit=1, queue=1)], [Respond(status=500, delay=1.0)]], None),
        ([[Respond(status=500, delay=1.0)], [Concurrency(limit=1, queue=1)]], 1.0),
    ],
)
def test_it_is_over_when_it_is_over_here(hops, free):
    played = play_together(hops, [at(0), at(0.5)])
    if free is None:
        assert [one.not_fired for one in played] == [[("concurrency", "within the limit")]] * 2
    else:
        assert played[1].fired[0] == (free, "concurrency", f"waited {show_duration(free - 0.5)}")


def test_a_machine_that_goes_on_without_its_client_keeps_its_place():
    ignoring = [[Concurrency(limit=1, queue=1), ClientAbort(mode="ignore")]]
    played = play_together(ignoring, [at(0, does=[(1.0, "hangup")]), at(0.5)])
    assert asked_at(played)[1] == 4.0


def test_who_leaves_the_queue_makes_room_and_is_never_asked_for():
    played = play_together([Concurrency(limit=1, queue=1)], [at(0), at(1, does=[(0.5, "hangup")]), at(2)])
    assert asked_at(played) == [0.0, None, 4.0]
    assert (played[1].cancelled_at, played[1].fired) == (1.5, [(1.5, "concurrency", "the client left the queue")])


def test_who_leaves_the_queue_is_not_asked_for_by_a_machine_that_would_go_on_without_it():
    hops = [[ClientAbort(mode="ignore")], [Concurrency(limit=1, queue=1)]]
    played = play_together(hops, [at(0), at(1, does=[(0.5, "hangup")]), at(2)])
    assert asked_at(played) == [0.0, None, 4.0]
    assert played[1].cancelled_at == 1.5


def test_who_leaves_in_the_moment_in_which_it_would_be_served_passes_its_place_on():
    played = play_together([Concurrency(limit=1, queue=2)], [at(0), at(1, does=[(3.0, "hangup")]), at(2)])
    assert asked_at(played)[2] == 4.0


def test_a_place_that_was_handed_to_one_who_is_gone_before_it_can_act_goes_on_to_the_next():
    spec = Concurrency(limit=1, queue=2)
    context = Context(Random(0), GET, shared=spec.share())
    served, gone, patient = (spec.start(context) for _ in range(3))
    for one in (served, gone, patient):
        one.control(GET, 0.0)
    served.over(1.0)
    assert (gone.due, patient.due) == (1.0, math.inf)
    gone.over(1.0)
    assert patient.due == 1.0
    assert patient.wake(1.0)[1] == GET


def test_the_longest_wait():
    played = play_together([Concurrency(limit=1, queue=5, wait=2.0)], [at(0), at(1), at(3)])
    assert statuses(played) == [200, 429, 200]
    assert played[1].head[0] == 3.0
    assert asked_at(played)[2] == 4.0


def test_an_upload_waits_with_its_head_and_goes_on_whole():
    upload = [(0.1, Upload(b"ab")), (0.2, Upload(b"cd")), (5.0, Upload(End()))]
    first, second = play_together([Concurrency(limit=1, queue=1)], [at(0), at(1, does=upload, request=POST)])
    assert [(time, getattr(event, "payload", type(event))) for time, event in second.request] == [
        (4.0, RequestHead), (4.0, b"ab"), (4.0, b"cd"), (6.0, End),
    ]  # fmt: skip
    assert first.end[0] == 4.0


def test_no_more_of_an_upload_is_taken_than_there_is_room_for():
    upload = [(0.1, Upload(b"x" * 65536)), (0.2, Upload(b"x" * 65536))]
    played = play_together([Concurrency(limit=1, queue=1)], [at(0), at(1, does=upload, request=POST)], until=2.0)
    assert len(played) == 2  # the guard of the chain counts what is held


def test_keys_count_apart():
    def by(key):
        return replace(GET, headers=(*GET.headers, (b"Authorization", key)))

    exchanges = [at(0, request=by(b"a")), at(1, request=by(b"b")), at(2, request=by(b"a")), at(2.5)]
    assert statuses(play_together([Concurrency(limit=1, per="authorization")], exchanges)) == [200, 200, 429, 200]


def test_those_to_whom_it_does_not_apply_take_no_place():
    only_posts = Concurrency(limit=1, if_=Condition(client_headers=(("x-counted", "yes"),)))
    counted = replace(GET, headers=(*GET.headers, (b"x-counted", b"yes")))
    played = play_together([only_posts], [at(0), at(1, request=counted), at(2, request=counted), at(2)])
    assert statuses(played) == [200, 200, 429, 200]


def test_one_alone_is_never_refused():
    check_fault(Concurrency(limit=1), neutral=True)
    check_fault(Concurrency(limit=1, queue=3, wait=1.0), neutral=True)


def test_speed_divides_the_wait():
    fast = Context(Random(0), GET, speed=10.0, shared=Concurrency(limit=1, queue=1).share())
    assert fast.shared.take(b"")
    played = play([Concurrency(limit=1, queue=1, wait=20.0, retry_after=3)], [], context=fast)
    assert played.head[0] == 2.0
    assert first(played.head[1].headers, b"retry-after") == b"3"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (
            "/v1/chat/completions",
            {"error": {"message": "Too many concurrent requests: 1 request at a time. Please try again later.",
                       "type": "requests", "param": None, "code": "rate_limit_exceeded"}},
        ),
        (
            "/v1/messages?beta=true",
            {"type": "error", "error": {"type": "rate_limit_error",
                       "message": "Number of concurrent connections has exceeded your rate limit: 1 request at a time"}},
        ),
        ("/api/chat", {"error": "server busy, please try again.  maximum pending requests exceeded"}),
    ],
)  # fmt: skip
def test_it_speaks_as_whoever_is_asked(path, says):
    request = replace(GET, target=path.encode())
    _, refused = play_together([Concurrency(limit=1)], [at(0), at(1, request=request)])
    assert json.loads(refused.data) == says
    assert first(refused.head[1].headers, b"content-type") == b"application/json"


def test_an_answer_of_its_own():
    spec = Concurrency(limit=1, status=503, body=b"busy", headers=((b"content-type", b"text/plain"),), retry_after=2)
    _, refused = play_together([spec], [at(0), at(1)])
    assert (refused.head[1].status, refused.data) == (503, b"busy")
    assert refused.head[1].headers == (
        (b"content-type", b"text/plain"), (b"retry-after", b"2"), (b"content-length", b"4"),
    )  # fmt: skip


def test_places_are_forgotten_when_nobody_holds_them():
    places = Concurrency(limit=1, queue=1).share()
    spec, contexts = Concurrency(limit=1, queue=1, per="x"), []
    for number in range(50):
        request = replace(GET, headers=((b"x", b"%d" % number),))
        context = Context(Random(0), request, shared=places)
        play([spec], LONG, request=request, context=context)
        contexts.append(context)
    assert (places._served, places._waiting) == ({}, {})


def test_a_stall_holds_its_place():
    played = play_together([[Stall(at=Trigger(event=1), for_=9.0)], [Concurrency(limit=1)]], [at(0), at(11)])
    assert statuses(played) == [200, 429]


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("concurrency: 0", 18, "a whole number, 1 or more"),
        ("concurrency: {queue: 2}", 5, "limit"),
        ("concurrency: {limit: 2, queue: -1}", 36, "a whole number, 0 or more"),
        ("concurrency: {limit: 2, wait: 5}", 35, "a duration"),
        ("concurrency: {limit: 2, status: 200}", 37, "a whole number from 400 to 599"),
        ('concurrency: {limit: 2, retry_after: "1\\r\\nX: y"}', 42, "CR or LF"),
        ("concurrency: {limit: 2, way: response}", 34, "request"),
        ("concurrency: {limit: 2, at: body}", 29, "at"),
        ("concurrency: {limt: 2}", 19, "limit"),
        ("concurrency: {limit: 2, per: 'x y'}", 34, "name"),
    ],
)
def test_load_errors(refused, text, column, words):
    refused(text, column, words)
