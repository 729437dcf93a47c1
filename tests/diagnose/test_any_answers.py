"""Whatever comes back, there is a verdict, it is JSON, and it can be drawn."""

import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from chaosproxy.client.answer import GAVE_UP, Answer, Piece
from chaosproxy.diagnose.assess import assess
from chaosproxy.diagnose.observed import Leaving, Observed, Pace, Variant
from chaosproxy.diagnose.picture import draw
from chaosproxy.diagnose.plain import plain
from chaosproxy.diagnose.question import hops
from chaosproxy.model.vocabulary import Framing

TIMES = st.one_of(st.just(0.0), st.floats(0, 40), st.integers(0, 50).map(lambda number: number / 20))
PIECES = st.builds(
    Piece, TIMES, st.integers(1, 70_000), st.integers(0, 70_000), st.integers(0, 60), whole=st.booleans()
)
NAMES = ("server", "Server", "via", "content-encoding", "content-length", "content-type", "age", "x-cache", "location")
VALUES = ("nginx", "gzip", "br", "5", "text/event-stream", "application/json", "1.1 varnish", "HIT", "\u001b[31m", "")
FIELDS = st.lists(
    st.tuples(st.sampled_from(NAMES).map(str.encode), st.sampled_from(VALUES).map(str.encode)), max_size=4
).map(tuple)


@st.composite
def answers(draw) -> Answer:
    pieces = sorted(draw(st.lists(PIECES, max_size=10)), key=lambda piece: piece.time)
    status = draw(st.sampled_from([200, 200, 200, 206, 302, 404, 500, None]))
    return Answer(
        draw(st.sampled_from(["http/1.1", "h2"])),
        status,
        draw(FIELDS),
        draw(st.sampled_from([None, Framing.CHUNKED, Framing.LENGTH, Framing.CLOSE, Framing.STREAM])),
        None if status is None else draw(TIMES),
        [] if status is None else pieces,
        draw(st.sampled_from(["clean", "fin", "rst", "stream:CANCEL", "malformed", GAVE_UP])),
        max([one.time for one in pieces], default=0.0) + draw(TIMES),
        recorded=draw(st.booleans()),
    )


@settings(max_examples=20)
@given(st.data())
def test_there_is_a_verdict(data):
    places = hops([f"http://127.0.0.{number}/x" for number in range(1, 1 + data.draw(st.integers(1, 3)))])
    asked = {Variant.PLAIN, *data.draw(st.sets(st.sampled_from(Variant)))}
    given = {
        (number, variant): data.draw(st.lists(answers(), min_size=1, max_size=2))
        for number in range(len(places))
        for variant in asked
    }
    paces = {Variant.PLAIN: Pace(25, 0.04, 0.04)} if data.draw(st.booleans()) else {}
    leavings = {0: Leaving(data.draw(st.one_of(st.none(), TIMES)), 2.5, 0.3)}
    report = assess(Observed(places, given, paces, leavings, 30.0))
    said = json.loads(json.dumps(plain(report), allow_nan=False))
    assert said["good"] == (report.broken is None)
    assert said["sentence"].endswith(".")
    assert bool(said["mend"]) == (not said["good"])
    out = io.StringIO()
    draw(Console(file=out, width=80, force_terminal=False), report)
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert "\x1b" not in out.getvalue()
