"""What stands where on a line of time."""

import pytest

from chaosproxy.journal.record import ClientView, ExchangeRecord, Fired
from chaosproxy.report.lanes import MARKED, lanes, last
from chaosproxy.report.text import DRAWN, NAMES, waterfall
from tests.report.examples import cut, exchange, plain


def rows(record):
    drawn = [line for line in waterfall(record) if line.startswith(("  arrivals", "  deliveries", "  faults"))]
    return {line.split()[0]: line[NAMES:] for line in drawn}


def test_a_piece_stands_in_its_slice_of_time_as_high_as_it_is_large():
    made = exchange()
    made.times.end = 1.0
    for seconds, nbytes in ((0.0, 100), (0.5, 400), (0.55, 0), (1.0, 1600)):
        made.arrivals.note(seconds, nbytes)
    assert lanes(made, 10).arrivals == [0.25, 0, 0, 0, 0, 0.5, 0, 0, 0, 1.0]


def test_both_lanes_have_one_measure():
    drawn = lanes(cut(), 100)
    assert max(drawn.arrivals) == pytest.approx((50 / 150) ** 0.5)
    assert max(drawn.deliveries) == 1.0


def test_whatever_came_last_is_on_the_picture():
    made = plain()
    for name, seconds in (("upstream_closed", 0.5), ("client_closed", 0.6)):
        setattr(made.times, name, seconds)
        assert last(made) == seconds
    made.faults.append(Fired(0.7, "stall", 0, None, "x"))
    assert last(made) == 0.7
    made.arrivals.note(0.8, 1)
    assert last(made) == 0.8
    made.deliveries.note(0.9, 1)
    assert last(made) == 0.9
    assert last(exchange()) == 0.001
    assert last(ExchangeRecord(1, "s", None, 1, "2026-01-01T00:00:00.000Z", ClientView("http/1.1", 1))) == 0.0


def test_an_end_stands_behind_the_last_piece_and_says_whether_it_is_clean():
    drawn = rows(plain())
    assert drawn["arrivals"].endswith("┤")
    assert drawn["deliveries"].endswith("┤")
    assert rows(cut())["deliveries"].endswith("✗")
    early = cut()
    early.times.upstream_closed = 0.075
    early.arrivals.__init__()
    early.arrivals.note(0.05, 50)
    assert rows(early)["arrivals"].index("✗") == DRAWN // 2 + 1


def test_an_upstream_that_is_over_and_does_not_say_how_is_no_broken_one():
    made = plain()
    made.upstream.end = None
    assert rows(made)["arrivals"].endswith("┤")


def test_of_what_runs_no_end_is_drawn():
    made = exchange()
    made.arrivals.note(0.5, 1)
    assert not {"┤", "✗"} & {*"".join(rows(made).values())}


def test_a_fault_that_says_the_same_again_is_one_mark_in_many_places():
    made = plain()
    made.faults = [Fired(0.023 * place, "pace", 0, None, "50 bytes") for place in range(1, 10)]
    assert rows(made)["faults"].split() == ["1"] * 9
    assert sum(line.endswith("pace: 50 bytes (9 times)") for line in waterfall(made)) == 1


def test_marks_of_one_moment_stand_side_by_side():
    made = plain()
    made.faults = [Fired(0.115, "mutate", 0, None, str(place)) for place in range(3)]
    assert rows(made)["faults"].strip() == "123"


def test_of_many_deeds_the_first_are_told_and_the_others_counted():
    made = plain()
    made.faults = [Fired(0.001 * place, "mutate", 0, None, str(place)) for place in range(40)]
    made.faults_dropped = 7
    drawn = lanes(made, 100)
    assert [mark.fired.detail for mark in drawn.marks] == [str(place) for place in range(MARKED)]
    assert drawn.further == 40 + 7 - MARKED
    assert f"  faults acted {drawn.further} further times" in list(waterfall(made))


def test_moments_outside_of_what_can_be_are_at_the_edge():
    made = exchange()
    made.arrivals.note(-1.0, 5)
    made.times.end = 1.0
    assert lanes(made, 4).arrivals == [1.0, 0, 0, 0]
