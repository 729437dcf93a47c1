"""The strip of arrivals: where things stand in it, and how high."""

from chaosproxy.client.answer import GAVE_UP
from chaosproxy.client.strip import ASCII, Scale, rows
from tests.client.made import answer

EVEN = answer([(0.05 + 0.1 * number, 1) for number in range(10)])
BURST = answer([(0.999, 40)])


def test_an_even_stream_is_a_row_and_a_burst_a_tower_at_its_end():
    scale = Scale.of([EVEN, BURST], 20)
    assert rows(EVEN, scale) == ["▅" + "·▅" * 9 + "·┤"] or rows(EVEN, scale) == ["·▅" * 10 + "┤"]
    assert rows(BURST, scale) == [" " * 19 + "█", " " * 19 + "█", "·" * 19 + "█┤"]


def test_one_event_is_as_high_in_every_picture():
    alone = answer([(0.5, 1)])
    assert "▅" in rows(alone, Scale.of([alone], 10))[-1]
    assert "▅" in rows(EVEN, Scale.of([EVEN, BURST], 10))[-1]


def test_more_events_stand_higher():
    mixed = answer([(0.05, 1), (0.15, 2), (0.25, 8), (0.35, 40)])
    scale = Scale.of([mixed], 10)
    heights = [sum(row[column : column + 1] not in ("", " ", "·") for row in rows(mixed, scale)) for column in range(4)]
    assert heights == sorted(heights)
    assert heights[0] < heights[2] < heights[3]


def test_bytes_without_an_event_are_a_wave():
    seen = answer([(0.05, 1)], traffic=[(0.55, 9)])
    assert rows(seen, Scale.of([seen], 10))[-1] == "▅····~····┤"


def test_the_end_stands_where_it_came_and_says_how():
    scale = Scale.of([EVEN], 10)
    assert rows(answer([], ended=0.45, end="rst"), scale) == ["·····✗"]
    assert rows(answer([], ended=0.45, end="stream:CANCEL"), scale) == ["·····✗"]
    assert rows(answer([], ended=1.0, end=GAVE_UP), scale) == ["··········?"]


def test_an_answer_that_took_no_time_is_drawn_too():
    at_once = answer([], ended=0.0)
    assert rows(at_once, Scale.of([at_once], 10)) == ["·┤"]


def test_no_strip_is_wider_than_its_columns_and_the_mark():
    for columns in (1, 7, 60):
        for seen in (EVEN, BURST):
            assert max(map(len, rows(seen, Scale.of([seen], columns)))) <= columns + 1


def test_it_can_be_written_without_unicode():
    for seen in (EVEN, BURST, answer([], end="rst")):
        assert all(row.translate(ASCII).isascii() for row in rows(seen, Scale.of([seen, BURST], 20)))
