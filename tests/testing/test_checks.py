"""The conformance checks, over everything registered; and that each of them can fail."""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.actions import FOREVER, Finish, Note, Rest
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition, Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Buffer, ClientAbort, Cut, Respond, Timeout
from chaosproxy.framing.grpc import GrpcSplitter
from chaosproxy.framing.lines import LineSplitter
from chaosproxy.framing.sse import SseSplitter
from chaosproxy.http1.session import Http1Session
from chaosproxy.http2.session import Http2Session
from chaosproxy.model.messages import Data, End
from chaosproxy.model.vocabulary import Moment, Role, Way
from chaosproxy.scenario.load import load
from chaosproxy.session import Granted
from chaosproxy.testing.checks import check_fault, check_session, check_splitter
from chaosproxy.testing.play import POST, SSE, Upload, play

PAGES = Path(__file__).parents[2] / "docs" / "faults"
RST = (Ending("rst"),)
ACTING = [
    Buffer(bytes=20),
    Buffer(bytes=(5, 30)),
    Buffer(events=2),
    Buffer(every=0.25),
    Buffer(until_end=True, limit=30),
    Buffer(bytes=20, on_abort="drop"),
    Buffer(bytes=4, way=Way.REQUEST),
    *(Cut(at=Trigger(moment=moment), then=RST) for moment in Moment if moment is not Moment.AFTER_END),
    Cut(at=Trigger(event=3)),
    Cut(at=Trigger(bytes=12), then=(Ending("fin_mid_chunk"),)),
    Cut(at=Trigger(chunk=2), then=(Ending("clean"),)),
    Cut(at=Trigger(time=0.35)),
    Cut(at=Trigger(idle=5.0), side="client"),
    Cut(at=Trigger(match="3")),
    Cut(at=Trigger(bytes=4), way=Way.REQUEST, then=(Ending("status", status=413),)),
    Timeout(first_byte=0.05),
    Timeout(first_event=0.05),
    Timeout(idle=5.0),
    Timeout(idle=0.3, ignore=("comments",)),
    Timeout(total=0.35),
    ClientAbort(),
    ClientAbort(mode="on_next_write"),
    ClientAbort(mode="ignore"),
    ClientAbort(delay=0.1),
    Respond(status=503, body=b"no"),
    Respond(status=429, delay=0.2, early=True),
]
NEUTRAL = [
    Cut(at=Trigger(event=1000)),
    Cut(at=Trigger(bytes=10**9)),
    Cut(at=Trigger(time=10**6 * 2.0)),
    Timeout(idle=1e7, total=1e7, first_byte=1e7, first_event=1e7),
    Buffer(bytes=10, if_=Condition(status=503)),
]


@pytest.mark.parametrize("spec", ACTING, ids=repr)
def test_every_fault_stands_every_script(spec):
    check_fault(spec)


@pytest.mark.parametrize("spec", NEUTRAL, ids=repr)
def test_a_fault_that_never_acts_changes_nothing(spec):
    check_fault(spec, neutral=True)


def test_a_fault_that_acts_is_not_neutral():
    with pytest.raises(AssertionError, match="not neutral"):
        check_fault(Buffer(events=2), neutral=True)


def examples() -> list[FaultSpec]:
    """From the pages of the faults: each has some, another test sees to that."""
    texts = [page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md"))]
    scenarios = [load(found) for text in texts for found in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    found = {repr(fault): fault for scenario in scenarios for rule in scenario.rules for fault in rule.faults}
    return list(found.values())  # not each can be hashed: what JSON a fault writes may be an object


@pytest.mark.parametrize("spec", examples(), ids=repr)
def test_every_fault_stands_every_script_as_its_page_shows_it(spec):
    check_fault(spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swallow(FaultSpec):
    """A fault that loses what it says it holds."""

    name: ClassVar[str] = "swallow"

    def start(self, context):
        return Swallowing()


class Swallowing(Fault):
    capacity = 100

    def data(self, data, now):
        self.held += len(data.payload)
        return ()


def test_a_fault_that_loses_bytes_is_caught():
    with pytest.raises(AssertionError, match="72 bytes are still held"):
        check_fault(Swallow())


@dataclass(frozen=True, slots=True, kw_only=True)
class Any(FaultSpec):
    """Runs whatever fault a test has made."""

    name: ClassVar[str] = "any"
    make: type

    def start(self, context):
        return self.make()


class Keeping(Fault):
    """Keeps to itself that the client has left, and says nothing of it."""

    def hangup(self, now):
        return ()


class Saying(Keeping):
    def hangup(self, now):
        return (Note("fired", "reads on for nobody"),)


def test_a_fault_that_keeps_a_leaving_to_itself_is_caught_unless_it_says_so():
    with pytest.raises(AssertionError, match="any against 'the client leaves': it keeps from the upstream"):
        check_fault(Any(make=Keeping))
    check_fault(Any(make=Saying))


class Claims(Any):
    rewrites_body: ClassVar[bool] = True


class Upper(Fault):
    def data(self, data, now):
        return (replace(data, payload=data.payload.upper()),)


class Short(Fault):
    def data(self, data, now):
        return (Data(data.payload.replace(b"1", b"")),)


def test_a_fault_that_changes_bytes_must_say_so():
    with pytest.raises(AssertionError, match=r"DATA: 0.* of b'data: 0.*`rewrites_body`"):
        check_fault(Any(make=Upper))
    with pytest.raises(AssertionError, match=r"of the upload b'abcdef' came b'ABCDEF'; .*`rewrites_body`"):
        check_fault(Any(make=Upper, way=Way.REQUEST))
    check_fault(Claims(make=Upper))
    check_fault(Claims(make=Upper, way=Way.REQUEST))


@pytest.mark.parametrize("spec", [Any(make=Short), Claims(make=Short)])
def test_a_fault_that_removes_bytes_must_say_so(spec):
    with pytest.raises(AssertionError, match="`edits_body`"):
        check_fault(spec, scripts={"an event": [(0.1, b"data: 1\n\n"), (0.2, End())]})


class Pairs(Fault):
    """Takes each piece for an event, and lets the second of two go first."""

    capacity = 1000

    def __init__(self):
        self._first = None

    def data(self, data, now):
        if self._first is None:
            self._first = data
            self.held = len(data.payload)
            return ()
        first, self._first, self.held = self._first, None, 0
        return (data, first)

    def control(self, event, now):
        first, self._first, self.held = self._first, None, 0
        return (event,) if first is None else (first, event)


def test_a_fault_that_takes_pieces_for_events_is_caught():
    with pytest.raises(AssertionError, match=r"in one piece: .* a Data is a piece of body"):
        check_fault(Claims(make=Pairs))


class Ends(Fault):
    """Ends the answer with an End of its own."""

    rest = Rest(records=1)

    def reached(self, limit, now):
        return (End(), FOREVER)


def test_a_fault_that_ends_the_answer_alone_is_caught():
    with pytest.raises(AssertionError, match="answers Finish"):
        check_fault(Claims(make=Ends), scripts={"no end": [(0.1, b"data: 1\n\n"), (0.2, b"data: 2\n\n")]})


class Counts(Fault):
    """Says something behind the third event."""

    rest = Rest(records=3)

    def reached(self, limit, now):
        return (Note("fired", "third"), FOREVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads(Any):
    reads_records: ClassVar[bool] = True


def test_a_fault_that_acts_on_events_must_say_so():
    with pytest.raises(AssertionError, match="`reads_records`"):
        check_fault(Any(make=Counts))
    check_fault(Reads(make=Counts))


class InSteps(Fault):
    """Answers by itself: a head, an event a second later, and the end."""

    rest = FOREVER
    answers = True

    def request_end(self, now):
        self.due = now + 1.0
        return (Note("fired", "answers"), SSE)

    def wake(self, now):
        self.due = math.inf
        return (Data(b"data: own\n\n"), Finish((Ending("clean"),), "any"))


def test_an_upstream_that_is_not_asked_says_nothing():
    check_fault(Any(make=InSteps))
    played = play([Any(make=InSteps)], [(0.5, b"data: 1\n\n"), (0.6, End())])
    assert (played.arrived, played.request) == ([], [])
    assert (played.body, played.end) == ([(1.0, b"data: own\n\n")], (1.0, End()))


def test_a_failing_upload_shows_what_the_upstream_got():
    played = play([], [(0.1, Upload(b"abc")), (0.2, Upload(End()))], request=POST)
    assert "     0.100    to the upstream:      3 b'abc'\n     0.200    to the upstream: End" in repr(played)
    assert "upstream" not in repr(play([], [(0.1, b"x")]))


@pytest.mark.parametrize(
    ("make", "body", "records"),
    [
        (SseSplitter, b"data: 1\n\n: ping\n\ndata: 2\r\n\r\nid: 3\n\ndata: [DONE]\r\rdata: lost", 3),
        (SseSplitter, b"", 0),
        (LineSplitter, b'{"a":1}\n\n{"b":2}\r\n{"c":3}', 3),
        (GrpcSplitter, b"\0\0\0\0\x02hi\0\0\0\0\0\1\0\0\0\x01x", 3),
    ],
)
def test_every_splitter_finds_the_same_at_any_cut(make, body, records):
    check_splitter(make, body, records)


def test_a_wrong_count_is_caught():
    with pytest.raises(AssertionError, match="1 records instead of 2"):
        check_splitter(SseSplitter, b"data: 1\n\n", 2)


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
SAID = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
    b"\r\n\r\nnonsense",
    PREFACE + b"\0\0\1\0\0\0\0\0\1x",
    PREFACE + b"\0\0\x08\6\0\0\0\0\0pingping" + b"\xff" * 20,
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef",
    bytes(range(256)),
]


@pytest.mark.parametrize("data", SAID, ids=range(len(SAID)))
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("session", [Http1Session, Http2Session])
def test_every_session_stands_anything_at_any_cut(session, role, data):
    def make():
        made = session(role)
        if role is Role.CLIENT:
            made.open()
        return made

    check_session(make, data)


@settings(max_examples=100)
@given(
    data=st.sampled_from(SAID),
    places=st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=4)), min_size=1, max_size=4),
    role=st.sampled_from(Role),
    session=st.sampled_from([Http1Session, Http2Session]),
)
def test_every_session_stands_what_was_damaged_on_its_way(session, role, data, places):
    for place, junk in places:
        at = place % len(data)
        data = data[:at] + junk + data[at + len(junk) :]
    test_every_session_stands_anything_at_any_cut(session, role, data)


class Raising:
    def receive(self, data):
        raise KeyError("anything")


class Dependent:
    """Says how much it was given."""

    def __init__(self):
        self.signals = []

    def receive(self, data):
        return [Granted(len(data))]

    def outgoing(self):
        return []


def test_a_session_that_raises_or_depends_on_the_reads_is_caught():
    with pytest.raises(KeyError):
        check_session(Raising, b"x")
    with pytest.raises(AssertionError, match="in reads of 1"):
        check_session(Dependent, b"xyz")


class Losing(SseSplitter):
    def feed(self, payload):
        return super().feed(payload)[:1]


class Beyond(SseSplitter):
    def feed(self, payload):
        return (len(payload) + 1,)


class Backwards(SseSplitter):
    def feed(self, payload):
        return (2, 1)


@pytest.mark.parametrize(
    ("make", "words"), [(Losing, "1 records instead of 2"), (Beyond, "lie outside"), (Backwards, "do not ascend")]
)
def test_a_splitter_that_is_wrong_is_caught(make, words):
    with pytest.raises(AssertionError, match=words):
        check_splitter(make, b"data: 1\n\ndata: 2\n\n", 2)
