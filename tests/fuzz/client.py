"""What peers tell us: answers, as `diagnose`, `demo` and `check` read them, and what a client prints that is checked.

Must not know: sockets, who draws the bytes.
"""

import io
import json
from xml.etree import ElementTree as ET

import trio
from rich.console import Console
from trio.testing import MockClock

from chaosproxy.check import junit, markdown
from chaosproxy.check.card import Card, Result
from chaosproxy.check.facts import Facts
from chaosproxy.check.judge import Setting, judge
from chaosproxy.check.shown import painted
from chaosproxy.check.table import CASES
from chaosproxy.check.told import read
from chaosproxy.client import body
from chaosproxy.client.answer import Answer
from chaosproxy.client.asking import Asking
from chaosproxy.client.strip import Scale, rows
from chaosproxy.diagnose.assess import assess
from chaosproxy.diagnose.observed import Observed, Variant
from chaosproxy.diagnose.picture import draw
from chaosproxy.diagnose.plain import plain
from chaosproxy.diagnose.question import hops
from chaosproxy.model.messages import End, RequestHead
from chaosproxy.report import text
from chaosproxy.wire.transport import TruncatedError
from tests.fuzz.draw import Draw, cut
from tests.fuzz.h1 import ANSWERS
from tests.fuzz.journal import UNSEEN, columns
from tests.fuzz.targets import Target

PATIENCE = 30.0
QUESTION = RequestHead(b"GET", b"/", ((b"host", b"a"),), authority=b"a", final=True)
ASKED = Facts(requests=1, kinds=frozenset({"chat"}), protocols=frozenset({"http/1.1"}), connections=1, events=13)
JUDGED = (CASES[0], CASES[1], next(case for case in CASES if case.leaves))
PLACES = hops(["http://127.0.0.1:1/x", "http://127.0.0.2:1/x"])


class Scripted:
    """A transport that says what it was told to, a piece a time, and then ends, is reset, or says nothing more."""

    tls, alpn, backlog, descriptor, holds = False, None, 0, None, False

    def __init__(self, pieces: list[bytes], ending: object, pause: float) -> None:
        self._pieces, self._ending, self._pause = pieces, ending, pause
        self._now = False

    def recv(self, nbytes: int) -> bytes | None:
        if self._pieces and not self._now:
            return None
        self._now = False
        if self._pieces:
            return self._pieces.pop(0)
        if isinstance(self._ending, type):
            raise self._ending
        return b"" if self._ending == b"" else None

    def send(self, data: bytes) -> int:
        return len(data)

    async def readable(self) -> None:
        await trio.sleep(self._pause if self._pieces else PATIENCE)
        self._now = True

    async def writable(self) -> None:
        await trio.lowlevel.checkpoint()


async def _asked(transport: Scripted, protocol: str) -> Answer:
    seen = list[int]()
    asking = Asking(transport, protocol, seen.append, trio.Event(), "lines")
    answer = await asking.ask([QUESTION, End()], PATIENCE)
    assert sum(seen) == sum(piece.events for piece in answer.pieces)
    return answer


def run(data: bytes) -> None:
    chosen = Draw(data)
    protocol = chosen.pick(("http/1.1", "h2"))
    ending = chosen.pick((b"", ConnectionResetError, TruncatedError, None))
    pause = chosen.pick((0.0, 0.05, 1.0))
    places = chosen.places()
    pieces = cut(chosen.rest(), places)
    answer = trio.run(_asked, Scripted(pieces, ending, pause), protocol, clock=MockClock(autojump_threshold=0))
    assert answer.end
    assert len(answer.text) <= body.KEPT
    assert 0 <= answer.ended <= PATIENCE
    assert all(0 <= piece.time <= answer.ended for piece in answer.pieces)
    _told(answer)


def _told(answer: Answer) -> None:
    """Whatever came back, there is a verdict, it is JSON, and it can be drawn."""
    report = assess(Observed(PLACES, {(0, Variant.PLAIN): [answer], (1, Variant.PLAIN): [answer]}, limit=PATIENCE))
    said = json.loads(json.dumps(plain(report), allow_nan=False))
    assert said["good"] == (report.broken is None)
    out = io.StringIO()
    draw(Console(file=out, width=80, force_terminal=False), report)
    assert all(columns(one) <= 80 and not UNSEEN.search(one) for one in out.getvalue().split("\n")), out.getvalue()
    assert all(len(row) <= 41 for row in rows(answer, Scale.of([answer], 40)))


def told(data: bytes) -> None:
    """What a client of `check` prints is read as well as it can be."""
    chosen = Draw(data)
    status = chosen.pick((0, 1, -9, None))
    complaint = chosen.some()
    found = read(chosen.rest(), complaint, status)
    assert found.outcome in ("ok", "raised", "flagged")
    card = Card("quick", tuple(Result(case, judge(case, found, ASKED, Setting())) for case in JUDGED))
    lines = "".join(painted(card, text.plain)).split("\n")
    assert all(columns(one) <= 80 and not UNSEEN.search(one) for one in lines)
    assert not any(one.lstrip().startswith("::") for one in lines)
    "".join(markdown.pieces(card)).encode()
    ET.fromstring("".join(junit.pieces(card)))


H2 = (
    b"\0\0\0\4\0\0\0\0\0" + b"\0\0\x01\1\4\0\0\0\1\x88" + b"\0\0\5\0\1\0\0\0\1hello",
    b"\0\0\0\4\0\0\0\0\0" + b"\0\0\x0d\1\4\0\0\0\1\x88\x00\x0ccontent-type"[:23],
)
TARGETS = {
    "client": Target(
        "answers, as a client of our own reads them",
        "an answer with an ending and a verdict that can be drawn, nothing kept without measure",
        run,
        lambda: [
            *(bytes([0, ending, 1, 1, 0, 40]) + one for ending in range(4) for one in ANSWERS),
            *(bytes([1, ending, 0, 1, 0, 20]) + one for ending in range(4) for one in H2),
            (
                b"\0\0\1\1\0\x60HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"
                b"\x1f\x8b\x08\0\0\0\0\0\0\x03KI,IT0\xe4\xe2J\x81q\x8c\xb8\xb8\0"
            ),
            (
                b"\0\0\1\2\0\x60\0\x70HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/event-stream\r\n\r\n"
                b"data: a\n\ndata: b\n\n"
            ),
        ],
        (
            b"\r\n",
            b"data: x\n\n",
            b"Content-Encoding: gzip\r\n",
            b"Server: nginx\r\n",
            b"\0\0\0\1\5\0\0\0\1",
            b"\x88",
            b"HTTP/1.1 200\r\n\r\n",
        ),
    ),
    "told": Target(
        "what a client prints that is checked",
        "read as well as it can be, and a card that shows it without doing anything with it",
        told,
        lambda: [
            b"\0\0" + b'some text\n{"text": "a", "finish": "stop", "outcome": "ok"}\n',
            b"\1\5Error" + b'{"error": {"a": 1}}',
            b"\3\0data: x\n\n",
        ],
        (
            b"\n",
            b'{"text": "a"}',
            b'{"error": 1}',
            b'"finish": null',
            b"\xff",
            b"data: ",
            b"Traceback\n",
            b"\\ud800",
            b"::error::",
        ),
    ),
}
