"""`route`: replicas that know their own sessions only."""

import json
from dataclasses import replace
from random import Random

import pytest

from chaosproxy.chain.fault import Condition, Context
from chaosproxy.faults import Latency, Route
from chaosproxy.faults.route import MOST, Replicas
from chaosproxy.model.headers import first
from chaosproxy.model.messages import End
from chaosproxy.model.vocabulary import Way
from chaosproxy.testing import Asked, check_fault, play, play_together
from chaosproxy.testing.play import GET, SSE

SHORT = [(0.1, b"data: 1\n\n"), (0.1, End())]
LONG = [(5.0, End())]


def begins(session, at=0.0, **options):
    """A request without a session, whose answer names one."""
    return Asked(SHORT, at=at, head=replace(SSE, headers=(*SSE.headers, (b"Mcp-Session-Id", session))), **options)


def follows(session, at, method=b"POST", **options):
    """A request of a session."""
    request = replace(GET, method=method, headers=(*GET.headers, (b"mcp-session-id", session)))
    return Asked(SHORT, at=at, request=request, **options)


def statuses(played):
    return [one.head[1].status for one in played]


def where(played):
    """To which replica each went."""
    return [int(one.fired[-1][2].split()[1]) for one in played]


def test_each_in_turn():
    played = play_together([Route(replicas=3)], [Asked(SHORT, at=n) for n in range(5)])
    assert [one.fired for one in played][:2] == [[(0, "route", "replica 1 of 3")], [(1, "route", "replica 2 of 3")]]
    assert where(played) == [1, 2, 3, 1, 2]


def test_a_session_that_the_other_replica_has_begun_is_not_found():
    """The incident: the second request of a session lands elsewhere."""
    played = play_together([Route()], [begins(b"s1"), follows(b"s1", 1), follows(b"s1", 2), follows(b"s1", 3)])
    assert statuses(played) == [200, 404, 200, 404]
    assert played[1].request == []
    assert played[1].fired == [(1, "route", "replica 2 of 2 does not know the session: answered 404")]
    assert json.loads(played[1].data)["error"] == {"code": -32001, "message": "Session not found"}
    assert first(played[1].head[1].headers, b"content-type") == b"application/json"
    assert played[1].end_cause == "route"


def test_one_that_nobody_has_begun_is_not_found():
    assert statuses(play_together([Route(replicas=1)], [follows(b"old", 0)])) == [404]


def test_a_session_that_stays_where_it_began():
    exchanges = [
        begins(b"s1"),
        begins(b"s2", at=1),
        follows(b"s1", 2),
        follows(b"s1", 3),
        follows(b"s2", 4),
        Asked(SHORT, at=5),
    ]
    played = play_together([Route(sticky="session")], exchanges)
    assert statuses(played) == [200] * 6
    assert where(played) == [1, 2, 1, 1, 2, 1]


def test_a_sticky_balancer_does_not_find_what_nobody_has_begun_either():
    assert statuses(play_together([Route(sticky="session")], [follows(b"old", 0)])) == [404]


def test_one_that_was_ended_is_forgotten():
    spec = Route(sticky="session")
    played = play_together([spec], [begins(b"s1"), follows(b"s1", 1, b"DELETE"), follows(b"s1", 2)])
    assert statuses(played) == [200, 200, 404]


def test_one_whose_end_was_refused_is_not():
    refused = replace(SSE, status=405)
    exchanges = [begins(b"s1"), follows(b"s1", 1, b"DELETE", head=refused), follows(b"s1", 2)]
    assert statuses(play_together([Route(sticky="session")], exchanges)) == [200, 405, 200]


def test_one_that_is_asked_about_is_not_ended():
    exchanges = [begins(b"s1"), follows(b"s1", 1, b"GET"), follows(b"s1", 2)]
    assert statuses(play_together([Route(sticky="session")], exchanges)) == [200, 200, 200]


def test_an_answer_that_failed_begins_no_session():
    failed = replace(SSE, status=500, headers=(*SSE.headers, (b"mcp-session-id", b"s1")))
    assert statuses(play_together([Route(replicas=1)], [Asked(SHORT, head=failed), follows(b"s1", 1)])) == [500, 404]


def test_what_a_connection_had_first_it_keeps():
    shared = Replicas(3)
    found = []
    for connection in (1, 2, 1, 1, 3, 2, 4):
        context = Context(Random(0), GET, connection=connection, shared=shared)
        found.append(play([Route(replicas=3, sticky="connection")], SHORT, context=context).fired[0][2])
    assert [one[8] for one in found] == ["1", "2", "1", "1", "3", "2", "1"]


def test_the_one_that_has_least_to_do():
    spec = Route(replicas=2, policy="least")
    exchanges = [Asked(LONG), Asked(SHORT, at=1), Asked(SHORT, at=2), Asked(LONG, at=3), Asked(SHORT, at=6)]
    assert where(play_together([spec], exchanges)) == [1, 2, 2, 2, 1]


def test_who_has_left_is_nothing_to_do():
    spec = Route(replicas=2, policy="least")
    exchanges = [Asked(LONG, does=[(0.5, "hangup")]), Asked(SHORT, at=1), Asked(SHORT, at=2)]
    assert where(play_together([spec], exchanges)) == [1, 1, 1]


def test_who_has_left_before_it_came_to_a_replica_is_with_none():
    hops = [[Route(replicas=2, policy="least")], [Latency(delay=1.0, way=Way.REQUEST)]]
    played = play_together(hops, [Asked(SHORT, does=[(0.5, "hangup")]), Asked(SHORT, at=5)])
    assert (played[0].not_fired[0], where(played[1:])) == (("route", "not reached"), [1])


def test_any_of_them_by_the_seed():
    spec, exchanges = Route(replicas=9, policy="random"), [Asked(SHORT, at=n) for n in range(20)]
    one, again, other = (where(play_together([spec], exchanges, seed=seed)) for seed in (1, 1, 99))
    assert one == again != other
    assert set(one) <= set(range(1, 10))
    assert len(set(one)) > 3


def test_another_field_and_another_answer():
    spec = Route(replicas=1, session="X-Session", status=410, body=b"gone", retry_after=1)
    request = replace(GET, headers=((b"x-session", b"s1"),))
    head = play([spec], SHORT, request=request).head[1]
    assert (head.status, first(head.headers, b"retry-after")) == (410, b"1")
    named = replace(SSE, headers=(*SSE.headers, (b"x-session", b"s1")))
    played = play_together([spec], [Asked(SHORT, head=named), Asked(SHORT, at=1, request=request)])
    assert statuses(played) == [200, 200]


def test_it_changes_nothing_of_what_it_lets_pass():
    check_fault(Route())
    check_fault(Route(if_=Condition(client_headers=(("x-never", "yes"),))), neutral=True)


def test_only_so_many_are_remembered():
    replicas = Replicas(2)
    for number in range(2 * MOST + 3):
        replicas.belongs("session", number, 1)
    assert [replicas.of("session", number) for number in (0, 2, 3)] == [None, None, 1]


def test_of_a_session_s_name_little_is_kept_however_long_it_is():
    """The server chooses it: twenty thousand of 60 KB were more than a gigabyte."""
    replicas, name = Replicas(2), b"s" * 60_000
    first_, second = begins(name), follows(name, 1.0)
    for one, status in ((first_, 200), (second, 404)):
        context = Context(Random(0), one.request, shared=replicas)
        assert play([Route()], SHORT, request=one.request, head=one.head, context=context).head[1].status == status
    ((kind, kept),) = replicas._of
    assert (kind, len(kept)) == ("session", 16)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("route: 0", 12, "from 1 to 1000"),
        ("route: {replicas: many}", 23, "from 1 to 1000"),
        ("route: {policy: robin}", 21, "round_robin, random, least"),
        ("route: {sticky: cookie}", 21, "none, session, connection"),
        ("route: {session: 'a b'}", 22, "no token"),
        ("route: {status: 200}", 21, "from 400 to 599"),
        ("route: {way: request}", 18, "response"),
    ],
)
def test_load_errors(refused, text, column, words):
    refused(text, column, words)
