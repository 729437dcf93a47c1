"""What the comparison makes of recorded answers: the same of the same behaviour, whatever the machine was doing."""

import pytest

from chaosproxy.testing.recorder import Ending
from tests.differential import observed
from tests.differential.observed import Observed
from tests.differential.origin import Seen
from tests.differential.reading import Answer, H1Reading
from tests.differential.scripts import event

GAP = 0.05
SENT = [round(GAP * number, 3) for number in range(24)]


def seen(sent=SENT):
    return Seen(planned=len(sent), sent=list(sent), ended=sent[-1] + GAP)


def answer(came, *, size=400, ending="clean"):
    """Each event at its time; those of one time in one piece."""
    pieces: dict[float, bytes] = {}
    for number, at in enumerate(came, 1):
        pieces[at] = pieces.get(at, b"") + event(number, size)
    return Answer(200, head_at=0.0, body=sorted(pieces.items()), ending=ending, ended_at=came[-1] if came else 0.0)


def words(came, sent=SENT):
    return str(observed.pattern(seen(sent), answer(came)))


def stopped(times, at, for_):
    """As a machine has it that stands still: what was due meanwhile comes at its end, and all that follows later."""
    return [time if time < at else max(time, at + for_) for time in times]


def test_events_that_pass_are_at_once():
    assert words([at + 0.001 for at in SENT]) == "each event at once"


def test_whoever_holds_everything_is_told_from_whoever_is_late():
    assert words([SENT[-1] + 0.01] * 24) == "all at the end"
    assert words([at + 0.01 for at in [*SENT[1:], SENT[-1] + GAP]]) == "one event behind"
    sparse = [0.5 * number for number in range(5)]
    assert words([at + 0.21 for at in sparse], sparse) == "each event 0.2 s late"


def test_a_cork_s_bursts():
    came = [SENT[min(number // 4 * 4 + 4, 23)] + 0.003 for number in range(24)]
    assert words(came) == "bursts of 4 events, 1600 bytes"


def test_a_buffer_s_bursts_are_whole_buffers():
    """The rest at the end is as large as it is."""
    whole = b"".join(event(number, 400) for number in range(1, 25))
    body = [(SENT[10], whole[:4096]), (SENT[20], whole[4096:8192]), (SENT[23] + 0.001, whole[8192:])]
    assert str(observed.pattern(seen(), Answer(200, body=body, ending="clean"))) == "bursts of 10 events, 4096 bytes"


@pytest.mark.parametrize("stop", [0.1, 0.5, 0.9])
def test_a_machine_that_stands_still_for_a_moment_changes_nothing(stop):
    """Origin and client are one process: both are late together."""
    sent = stopped(SENT, stop, 0.28)
    came = [at + 0.002 for at in sent]
    assert str(observed.pattern(seen(sent), answer(came))) == "each event at once"


def test_numbers_are_alike_within_reason():
    assert Observed("{seconds}", {"seconds": 1.0}).agrees(Observed("{seconds}", {"seconds": 1.35}))
    assert not Observed("{seconds}", {"seconds": 1.0}).agrees(Observed("{seconds}", {"seconds": 2.0}))
    assert not Observed("at once").agrees(Observed("at the end"))
    assert not Observed("{events}", {"events": 4}).agrees(Observed("{events}", {"events": 10}))


@pytest.mark.parametrize(
    ("data", "end", "expected"),
    [
        (b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", None, "clean"),
        (b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Ending.FIN, "FIN without last chunk"),
        (b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Ending.RST, "RST without last chunk"),
        (b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n\r\n1\r\n", Ending.FIN, "FIN behind an illegal chunk"),
        (b"Transfer-Encoding: chunked\r\n\r\n0003\r\nabc\r\n", None, "nothing more comes"),
        (b"Content-Length: 3\r\n\r\nabc", None, "clean"),
        (b"Content-Length: 4\r\n\r\nabc", Ending.FIN, "FIN short of its length"),
        (b"Connection: close\r\n\r\nabc", Ending.FIN, "clean"),
        (b"Connection: close\r\n\r\nabc", Ending.RST, "RST"),
        (b"Connection: clo", Ending.FIN, "FIN without a head"),
    ],
)
@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_how_an_answer_ends_whatever_the_reads_were(data, end, expected, cut):
    reading = H1Reading()
    data = b"HTTP/1.1 200 OK\r\n" + data
    for at in range(0, len(data), cut):
        reading.feed(float(at), data[at : at + cut])
    if end is not None:
        reading.end(end, 1e6)
    assert reading.answer.ending == expected
    if reading.answer.head_at is not None:
        assert b"".join(piece for _, piece in reading.answer.body) == b"abc"


def test_who_leaves_is_noticed_in_silence_or_when_it_sends_again():
    assert str(observed.leaving(Seen(left=Ending.FIN, sent_before=8), 8, 8)) == "FIN while it is silent"
    assert str(observed.leaving(Seen(left=Ending.RST, sent_before=9), 8, 8)) == "ended when it sends again"
    assert str(observed.leaving(Seen(), 8, 8)) == "not noticed: all of it is fetched"
    assert str(observed.leaving(Seen(left=Ending.RST, sent_before=30), 8, None)) == "ended much later"
