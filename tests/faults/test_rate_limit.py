"""`rate_limit`: so many in a time; the others wait for their token in the order in which they came, or are refused."""

import json
from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.faults import RateLimit
from chaosproxy.faults.rate_limit import MOST, Buckets
from chaosproxy.model.headers import first
from chaosproxy.model.messages import End, RequestHead
from chaosproxy.model.units import Allowance
from chaosproxy.testing import Asked, Upload, check_fault, play, play_together
from chaosproxy.testing.play import GET, POST

FIVE = Allowance(5, 1.0)
TWO = Allowance(2, 2.0)
SHORT = [(0.1, b"data: 1\n\n"), (0.1, End())]


def at(time, **options):
    return Asked(SHORT, at=time, **options)


def statuses(played):
    return [one.head and one.head[1].status for one in played]


def asked_at(played):
    """When the upstream heard of each; None: never."""
    return [round(one.request[0][0], 6) if one.request else None for one in played]


def test_five_at_once_then_one_each_200_ms():
    times = [0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4]
    played = play_together([RateLimit(limit=FIVE)], [at(time) for time in times])
    assert statuses(played) == [200] * 5 + [429, 429, 200, 429, 200]
    assert played[5].fired == [(0.0, "rate_limit", "answered 429")]
    assert (played[5].request, played[0].not_fired) == ([], [("rate_limit", "within the limit")])


def test_who_was_quiet_for_the_time_has_it_all_again():
    times = [0, 0, 0, 2, 2, 2]
    assert statuses(play_together([RateLimit(limit=TWO)], [at(time) for time in times])) == [200, 200, 429] * 2


def test_what_becomes_of_a_request_is_no_matter():
    leaves = [(0.0, "hangup")]
    played = play_together([RateLimit(limit=TWO)], [at(0, does=leaves), at(0.1, does=leaves), at(0.2)])
    assert statuses(played)[2] == 429


@pytest.mark.parametrize(
    ("limit", "after"), [(Allowance(1, 60.0), b"60"), (Allowance(2, 1.0), b"1"), (Allowance(10, 25.0), b"3")]
)
def test_retry_after_says_the_whole_seconds_until_there_is_a_token(limit, after):
    played = play_together([RateLimit(limit=limit)], [at(0) for _ in range(limit.count + 1)])
    assert first(played[-1].head[1].headers, b"retry-after") == after


@pytest.mark.parametrize(("given", "sent"), [("none", None), (7, b"7"), ("soon", b"soon")])
def test_another_retry_after(given, sent):
    played = play_together([RateLimit(limit=Allowance(1, 9.0), retry_after=given)], [at(0), at(1)])
    assert first(played[1].head[1].headers, b"retry-after") == sent


def test_the_queue_is_served_in_order_one_each_time_a_token_is_back():
    played = play_together([RateLimit(limit=TWO, queue=2)], [at(0), at(0), at(0.25), at(0.5), at(0.75), at(3.5)])
    assert asked_at(played) == [0, 0, 1.0, 2.0, None, 3.5]
    assert played[3].fired == [(2.0, "rate_limit", "waited 1.5s")]
    assert first(played[4].head[1].headers, b"retry-after") == b"3"


def test_who_leaves_the_queue_lets_all_behind_it_move_up():
    leaves = [(0.1, "hangup")]
    played = play_together([RateLimit(limit=TWO, queue=3)], [at(0), at(0), at(0.25, does=leaves), at(0.5), at(0.75)])
    assert asked_at(played) == [0, 0, None, 1.0, 2.0]
    assert played[2].fired == [(0.35, "rate_limit", "the client left the queue")]


def test_who_leaves_from_the_middle_of_the_queue():
    leaves = [(0.1, "hangup")]
    played = play_together([RateLimit(limit=TWO, queue=3)], [at(0), at(0), at(0.25), at(0.5, does=leaves), at(0.75)])
    assert asked_at(played) == [0, 0, 1.0, None, 2.0]


def test_the_longest_wait():
    played = play_together([RateLimit(limit=TWO, queue=3, wait=1.2)], [at(0), at(0), at(0.5), at(0.6)])
    assert statuses(played) == [200, 200, 200, 429]
    assert played[3].head[0] == pytest.approx(1.8)


def test_an_upload_waits_with_its_head():
    upload = [(0.1, Upload(b"ab")), (0.2, Upload(End()))]
    played = play_together([RateLimit(limit=Allowance(1, 2.0), queue=1)], [at(0), at(0.5, does=upload, request=POST)])
    assert [(time, getattr(event, "payload", type(event))) for time, event in played[1].request] == [
        (2.0, RequestHead), (2.0, b"ab"), (2.0, End),
    ]  # fmt: skip


def test_keys_count_apart():
    def by(key):
        return replace(GET, headers=(*GET.headers, (b"X-Key", key)))

    spec = RateLimit(limit=Allowance(1, 60.0), per="x-key")
    exchanges = [at(0, request=by(b"a")), at(1, request=by(b"b")), at(2, request=by(b"a")), at(3), at(4)]
    assert statuses(play_together([spec], exchanges)) == [200, 200, 429, 200, 429]


def test_only_so_many_keys_are_remembered_and_none_that_somebody_waits_for():
    buckets = Buckets()
    waited_for = buckets.of(b"waits")
    waited_for.queue[object()] = None
    for number in range(MOST + 10):
        buckets.of(b"%d" % number)
    assert len(buckets._of) == MOST
    assert buckets.of(b"waits") is waited_for


@pytest.mark.parametrize(
    ("path", "says", "fields"),
    [
        (
            "/v1/chat/completions",
            {"error": {"message": "Rate limit reached on requests: Limit 1/4s. Please try again in 3s.",
                       "type": "requests", "param": None, "code": "rate_limit_exceeded"}},
            {b"x-ratelimit-limit-requests": b"1", b"x-ratelimit-remaining-requests": b"0",
             b"x-ratelimit-reset-requests": b"3s"},
        ),
        (
            "/v1/messages",
            {"type": "error", "error": {"type": "rate_limit_error",
                       "message": "This request would exceed your organization's rate limit of 1/4s requests"}},
            {b"anthropic-ratelimit-requests-limit": b"1", b"anthropic-ratelimit-requests-remaining": b"0"},
        ),
        ("/api/chat", {"error": "too many requests"}, {}),
    ],
)  # fmt: skip
def test_it_speaks_as_whoever_is_asked(path, says, fields):
    request = replace(GET, target=path.encode())
    _, refused = play_together([RateLimit(limit=Allowance(1, 4.0))], [at(0), at(1, request=request)])
    assert json.loads(refused.data) == says
    assert {name: value for name, value in refused.head[1].headers if b"ratelimit" in name} == fields


def test_of_a_key_little_is_kept_however_long_it_is():
    """The client chooses it: ten thousand of 60 KB were 600 MB."""
    shared = Buckets()
    for key in (b"k" * 60_000, b"k" * 60_000, b"k" * 60_001, b""):
        request = replace(GET, headers=(*GET.headers, (b"x-k", key)))
        play(
            [RateLimit(limit=FIVE, per="x-k")],
            SHORT,
            request=request,
            context=Context(Random(0), request, shared=shared),
        )
    assert [len(key) for key in shared._of] == [16, 16, 16]


def test_speed_multiplies_the_rate_and_leaves_retry_after_alone():
    shared = Buckets()
    spec, fast = RateLimit(limit=Allowance(1, 10.0)), Context(Random(0), GET, speed=10.0, shared=shared)
    assert play([spec], SHORT, context=fast).head[1].status == 200
    refused = play([spec], SHORT, context=fast).head[1]
    assert first(refused.headers, b"retry-after") == b"10"
    later = replace(fast, began=1.0)
    assert play([spec], [(1.1, End())], context=later).head[1].status == 200


def test_what_is_never_too_much_changes_nothing():
    check_fault(RateLimit(limit=Allowance(1000, 1.0)), neutral=True)
    check_fault(RateLimit(limit=Allowance(1, 1.0), queue=1), neutral=True)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("rate_limit: 5", 17, "5/1s"),
        ("rate_limit: 5/s/s", 17, "5/1s"),
        ("rate_limit: 0/1s", 17, "5/1s"),
        ("rate_limit: 5/0s", 17, "5/1s"),
        ("rate_limit: 5/forever", 17, "5/1s"),
        ("rate_limit: 1.5/1s", 17, "5/1s"),
        ("rate_limit: {limit: 5/1s, queue: many}", 38, "a whole number, 0 or more"),
        ("rate_limit: {limit: 5/1s, wait: 1}", 37, "a duration"),
        ("rate_limit: {limit: 5/1s, per: 'a b'}", 36, "no token"),
        ("rate_limit: {queue: 1}", 5, "limit"),
    ],
)
def test_load_errors(refused, text, column, words):
    refused(text, column, words)
