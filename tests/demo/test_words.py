"""The sentence under the picture, for each thing that can become of a stream."""

import pytest

from chaosproxy.client.answer import GAVE_UP, Answer
from chaosproxy.demo.words import ending, meaning
from tests.client.made import answer

ALL = [(0.01 * number, 1) for number in range(1, 41)]
DIRECT = answer(ALL, ended=0.4)
ERROR = b'data: {"error": {"message": "no"}}\n\n'
SSE = "text/event-stream; charset=utf-8"


def through(events=ALL, *, status=200, end="clean", ended=0.4, traffic=(), **more) -> Answer:
    return answer(events, status=status, end=end, ended=ended, traffic=[(time, 9) for time, _ in traffic], **more)


def at(*times: float) -> list[tuple[float, int]]:
    return [(time, 1) for time in times]


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (through(), "Hardly a difference: every event came, the first after 10 ms against 10 ms"),
        (through([(0.4, 40)]), "The first of 40 came after 400 ms instead of 10 ms, and then all the others at once."),
        (through([(time + 0.4, n) for time, n in ALL], ended=0.8), "from there it went on at the server's pace"),
        (through([(0.2, 20), (0.4, 20)]), "in lumps, up to 200 ms apart instead of 10 ms"),
        (through(ALL[:3], end="rst", ended=0.03), "broke off after 3 of 40 events"),
        (through(ALL[:3], end="stream:CANCEL", ended=0.03), "broke off after 3 of 40 events"),
        (through([], end="fin", ended=0.2), "before any of 40 events"),
        (through(ALL[:39]), "ended cleanly, as HTTP sees it, after 39 of 40 events"),
        (through([], status=429, headers=[("retry-after", "1")]), "429, Retry-After: 1"),
        (
            through([], status=524, headers=[("content-type", "text/html; charset=UTF-8")]),
            "the answer is 524, text/html.",
        ),
        (through([], status=503), "503, without a type"),
        (through([], status=None, end="rst"), "No answer at all: reset (TCP RST)"),
        (through(ALL[:3], end=GAVE_UP, ended=3), "After 3 of 40 events nothing came, not even an end"),
        (through(ALL[:3], end=GAVE_UP, ended=3, traffic=at(1, 2)), "After 3 of 40 events bytes still came"),
        (
            through(at(0.1, 0.2), text=b"data: a\n\n" + ERROR, headers=[("content-type", SSE)]),
            "After 1 event came an error",
        ),
        (
            through(
                at(0.1, 0.2), text=b'{"a":1}\n{"error":"no"}\n', headers=[("content-type", "application/x-ndjson")]
            ),
            "an error inside a 200",
        ),
        (
            through(at(0.1), text=b'event: error\ndata: {"type":"error"}\n\n', headers=[("content-type", SSE)]),
            "an error inside a 200",
        ),
        (through(at(0.1, 0.2), text=b"data: a\n\ndata: [DONE]\n\n", headers=[("content-type", SSE)]), "ended cleanly"),
        (through(at(0.1), text=b"data: plain\n\n", headers=[("content-type", SSE)]), "ended cleanly"),
    ],
)
def test_what_it_means(seen, said):
    assert said in meaning(DIRECT, seen)


def test_how_it_ended():
    assert ending(through()) == "a clean end"
    assert ending(through(end="stream:CANCEL")) == "the stream was reset (CANCEL)"
    assert ending(through(end=GAVE_UP, ended=2.5)) == "none: the client gave up after 2500 ms"
    assert ending(through(end="goaway:NO_ERROR")) == "goaway:NO_ERROR"
