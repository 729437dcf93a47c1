"""What can happen in each state of an exchange, over each pair of versions: everybody is told as the rule says, the other
exchange does not notice, and nothing stays behind.

A cell is a state, an event and two versions; `python -m tests.security.matrix --only "buffered x reset, h1 to h2"` shows one.
"""

import functools

import pytest

from tests.security.matrix.cell import CELLS, Lived, live
from tests.security.matrix.events import EVENTS, FULL
from tests.security.matrix.judge import problems
from tests.security.matrix.words import ROWS, happens

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs a device that is full")
PLACES = list(dict.fromkeys((cell.state.key, cell.client, cell.upstream) for cell in CELLS))


@functools.cache
def lived(state: str, client: str, upstream: str) -> list[tuple[Lived, list[str]]]:
    """Every cell of that state and pair, once."""
    cells = [cell for cell in CELLS if (cell.state.key, cell.client, cell.upstream) == (state, client, upstream)]
    found = [live(cell) for cell in cells]
    return [(one, list(problems(one))) for one in found]


@pytest.mark.parametrize("place", PLACES, ids="-".join)
def test_whatever_happens_there(place):
    wrong = {one.cell.name: found for one, found in lived(*place) if found}
    assert not wrong


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.events[0])
def test_what_happens_everywhere(row, shown):
    found = [one for place in PLACES for one in lived(*place) if one[0].cell.event.key in row.events]
    shown("matrix", row.name, tried=len(found), must=row.must, happens=happens(found))


def test_every_event_has_its_row():
    assert sorted(key for row in ROWS for key in row.events) == sorted(event.key for event in EVENTS)
