"""Records that nobody could read, and the places that they count for."""

import pytest

from chaosproxy.chain.sought import Sought
from chaosproxy.chain.trigger import Trigger

RECORD = b"data: x\n\n"


@pytest.mark.parametrize(
    "at",
    [Trigger(bytes=1), Trigger(time=1.0), Trigger(match="x"), Trigger(match="x", every=1)],
    ids=lambda at: str(at)[8:],
)
def test_a_record_that_nobody_could_read_moves_no_place_that_counts_none(at):
    sought = Sought(at, "sse")
    for _ in range(3):
        sought.miss()
    assert sought.means(RECORD, end=40, now=9.0)


@pytest.mark.parametrize(("at", "meant"), [(Trigger(event=2), []), (Trigger(event=2, every=2), [4, 6])])
def test_a_record_that_nobody_could_read_is_counted_and_not_made_up_for(at, meant):
    sought = Sought(at, "sse")
    sought.means(RECORD)
    sought.miss()
    assert [number for number in range(3, 8) if sought.means(RECORD)] == meant
