"""`accept`: the time in which nobody is let in, and the places of all together and of each client's address. (What a client
sees of it on sockets stands in `tests/loopback/test_accept.py`.)"""

import contextlib
from dataclasses import dataclass, field

import pytest
import trio

from chaosproxy.faults import Accept
from chaosproxy.faults.places import Doors
from chaosproxy.model.messages import End
from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.together import Asked, play_together

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("window", "let_in"),
    [
        ({}, [False, False, False, False]),
        ({"for": "5s"}, [False, True, True, True]),
        ({"after": "5s"}, [True, False, False, False]),
        ({"after": "5s", "for": "10s"}, [True, False, False, True]),
    ],
)
async def test_only_who_comes_in_that_time_is_refused(autojump_clock, window: dict[str, str], let_in: list[bool]):
    scenario = {"version": 1, "connections": [{"match": {"side": "client"}, "faults": [{"accept": {"refuse": True}}]}]}
    scenario["connections"][0]["faults"][0]["accept"] |= window
    found = []
    async with linked(scenario, Origin([ANSWER]).serve) as proxied:
        for time in (0, 5, 14.9, 15):
            await trio.sleep_until(time)
            async with RawClient(proxied.connect()) as client:
                with contextlib.suppress(ConnectionError):  # how it has ended is asked below
                    await client.send(GET)
                found.append(await client.read_all(within=0.05) is not Ending.RST)
    assert found == let_in


@dataclass(eq=False)
class Comer:
    address: str
    rung: list[float] = field(default_factory=list)

    def ring(self, now: float) -> None:
        self.rung.append(now)


def test_places_are_one_heap_or_each_address_has_its_own():
    together, each = Doors(2, 1), Doors(2, 1, each=True)
    comers = [Comer("a"), Comer("a"), Comer("b"), Comer("a"), Comer("a")]
    assert [together.take(one) or together.join(one) for one in comers] == [True, True, True, False, False]
    assert [each.take(one) for one in comers] == [True, True, True, False, False]
    assert [each.join(one) for one in comers[3:]] == [True, False]
    each.leave(comers[2], 1.0)
    assert comers[3].rung == [], "the place of another is none for it"
    each.leave(comers[0], 2.0)
    assert comers[3].rung == [2.0]
    assert not each.take(Comer("a"))


def test_who_gives_up_waiting_leaves_its_place_in_the_queue():
    doors = Doors(1, 1)
    served, waiting, following = Comer(""), Comer(""), Comer("")
    assert (doors.take(served), doors.join(waiting), doors.join(following)) == (True, True, False)
    doors.leave(waiting, 1.0)
    assert doors.join(following)
    doors.leave(served, 2.0)
    assert (waiting.rung, following.rung) == ([], [2.0])


def test_it_is_full_until_somebody_leaves_and_says_so():
    doors = Doors(1, None, 3)
    freed = []
    doors.on_free = lambda: freed.append(doors.full)
    one = Comer("")
    assert not doors.full
    doors.take(one)
    assert doors.full
    doors.leave(one, 1.0)
    assert freed == [False]


def test_behind_a_wait_for_a_place_it_is_taken_as_late_as_any():
    answer = [(3.0, b"data: 1\n\n"), (3.0, End())]
    first, second = play_together([Accept(max=1, delay=1.0)], [Asked(answer), Asked(answer, at=0.5)])
    assert [played.request[0][0] for played in (first, second)] == [1.0, 5.0]
    assert first.fired == [(1.0, "accept", "taken after 1s")]
    assert second.fired == [(5.0, "accept", "taken after 1s, and 3.5s for a place")]
