"""The lines of exchanges, as a person reads them: in order, on lines of their own, whatever a peer has sent."""

from chaosproxy.journal.record import ClientView, Ending, ExchangeRecord, Fired, NotFired
from chaosproxy.model.shown import shown
from chaosproxy.report.line import FIRED, exchange_line
from chaosproxy.report.timeline import DETAILED, timeline


def record(number=1, **changes):
    found = ExchangeRecord(
        id=number, scenario="s", rule=0, seed=7, started_at="2026-11-30T12:00:00.123Z", client=ClientView("http/1.1", 1)
    )
    found.request.method, found.request.path = "GET", "/s"
    for name, value in changes.items():
        setattr(found, name, value)
    return found


def whole(number=1):
    found = record(number, end=Ending("proxy", "rst", "cut"))
    found.upstream.url, found.upstream.end = "http://127.0.0.1:8000", Ending("proxy", "fin", "cut")
    found.response.status, found.response.events_in, found.response.events_out = 200, 4, 3
    found.response.bytes_out = 150
    found.faults = [Fired(0.09, "cut", 0, "nginx", "rst after event 3")]
    found.not_fired = [NotFired("timeout", 1, "not reached")]
    times = found.times
    times.request_end, times.upstream_connected, times.upstream_head, times.head_sent = 0.0, 0.001, 0.05, 0.05
    times.first_event_in, times.first_event_out, times.last_event_out = 0.051, 0.051, 0.089
    times.upstream_closed, times.end = 0.09, 0.0901
    return found


def test_the_moments_stand_in_order():
    assert timeline([whole()]).splitlines() == [
        "#1 GET /s 200 first 51 ms, 3 events 150 bytes, 90 ms: rst by proxy (cut); cut: rst after event 3",
        "        0 ms  request complete, 0 bytes",
        "        1 ms  connected to http://127.0.0.1:8000",
        "       50 ms  the upstream's head",
        "       50 ms  head 200 sent",
        "       51 ms  first event from the upstream",
        "       51 ms  first event sent",
        "       89 ms  last event sent: 3 of the 4 that came",
        "       90 ms  cut in nginx: rst after event 3",
        "       90 ms  upstream over: fin by proxy (cut)",
        "       90 ms  end: rst by proxy (cut)",
        "   not fired: timeout in hop 1 (not reached)",
    ]


def test_at_one_moment_what_comes_stands_before_what_faults_do_and_that_before_what_leaves():
    at_once = whole()
    for name in ("upstream_head", "first_event_in", "head_sent", "first_event_out", "client_closed", "upstream_closed"):
        setattr(at_once.times, name, 0.09)
    told = [line[14:] for line in timeline([at_once]).splitlines() if line.startswith("       90 ms")]
    assert told == [
        "the upstream's head",
        "first event from the upstream",
        "the client has left",
        "cut in nginx: rst after event 3",
        "head 200 sent",
        "first event sent",
        "upstream over: fin by proxy (cut)",
        "end: rst by proxy (cut)",
    ]


def test_where_no_event_came_it_is_the_head_s_time_and_says_so():
    silent = whole()
    silent.times.first_event_out = silent.times.last_event_out = None
    silent.response.events_out = silent.response.bytes_out = 0
    assert timeline([silent]).startswith("#1 GET /s 200 head 50 ms, 0 events 0 bytes, 90 ms: rst")


def test_one_is_one():
    small = whole()
    small.request.bytes = small.response.bytes_out = small.response.events_out = 1
    first, second, *_ = timeline([small]).splitlines()
    assert first.startswith("#1 GET /s 200 first 51 ms, 1 event 1 byte, 90 ms: rst")
    assert second.endswith("request complete, 1 byte")


def test_what_is_running_says_so():
    running = record()
    running.times.request_end = 0.0
    assert timeline([running]).splitlines() == [
        "#1 GET /s - 0 bytes, running",
        "        0 ms  request complete, 0 bytes",
    ]


def test_of_many_the_latest_are_told_in_full_and_none_is_left_out():
    lines = timeline([whole(number) for number in range(1, DETAILED + 3)]).splitlines()
    assert [line.split()[0] for line in lines if line.startswith("#")] == [f"#{n}" for n in range(1, DETAILED + 3)]
    assert lines[1].startswith("#2 ")
    assert lines[2].startswith("#3 ")
    assert not lines[3].startswith("#")


def test_no_exchange_no_line():
    assert timeline([]) == ""


def test_a_peer_cannot_write_lines_or_escapes_of_its_own():
    nasty = whole()
    nasty.request.path = "/a\r\n#2 GET /forged\x1b[2J"
    nasty.faults = [Fired(0.0, "cut", 0, "hop\n", "detail\x07")]
    nasty.not_fired = [NotFired("timeout", 1, "a\nb")]
    nasty.upstream.url = "http://x/\n"
    nasty.end = Ending("upstream", "fin", "line\nline")
    text = timeline([nasty])
    assert len(text.splitlines()) == len(timeline([whole()]).splitlines())
    assert not {"\x1b", "\x07", "\r"} & {*text}
    assert "\n" not in exchange_line(nasty)


def test_of_many_deeds_a_line_tells_the_first_and_counts_the_others():
    busy = whole()
    busy.faults = [Fired(0.01, "mutate", 0, None, str(number)) for number in range(FIRED)]
    assert exchange_line(busy).endswith("; mutate: 4")
    busy.faults += busy.faults[:2]
    busy.faults_dropped = 3
    assert exchange_line(busy).endswith("; mutate: 4; faults 5 further times")


def test_what_is_cut_short_says_so():
    assert shown("x" * 200) == "x" * 200
    assert shown("x" * 201) == "x" * 200 + "..."
    assert shown("\n" * 60) == "\\x0a" * 50 + "..."
