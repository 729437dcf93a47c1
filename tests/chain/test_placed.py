"""The notes of a long connection: the latest are kept, all are counted."""

from chaosproxy.chain.placed import Noted, Notes


def some(first, count):
    return [Noted(float(number), "stall", 0, None, "fired", "") for number in range(first, first + count)]


def test_the_latest_thousand_are_kept_and_it_is_known_how_many_are_lost():
    notes = Notes()
    fresh = some(0, 600)
    notes.take(fresh)
    assert fresh == []
    assert (notes.total, notes.lost(0)) == (600, 0)
    notes.take(some(600, 600))
    assert [note.t for note in notes] == list(range(200, 1200))
    assert (notes.total, notes.lost(0), notes.lost(50), notes.lost(600)) == (1200, 200, 150, 0)
