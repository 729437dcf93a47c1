"""What is taken from the front of held pieces is what splitting them one by one would give."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.chain.pieces import Pieces
from chaosproxy.model.messages import Data


@st.composite
def pieces(draw):
    payload = draw(st.binary(min_size=1, max_size=30))
    ends = draw(st.sets(st.integers(1, len(payload))))
    return Data(payload, tuple(sorted(ends)), draw(st.booleans()), draw(st.none() | st.just(100)))


def by_splitting(held: deque[Data], nbytes: int) -> list[Data]:
    taken = []
    while nbytes > 0:
        piece = held.popleft()
        if len(piece.payload) > nbytes:
            piece, later = piece.split(nbytes)
            held.appendleft(later)
        nbytes -= len(piece.payload)
        taken.append(piece)
    return taken


@given(st.lists(pieces() | st.integers(0, 40), max_size=12))
def test_any_way_of_adding_and_taking(steps):
    held, model = Pieces(), deque()
    for step in steps:
        if isinstance(step, Data):
            held.add(step)
            model.append(step)
            continue
        nbytes = min(step, held.held)
        assert held.take(nbytes) == by_splitting(model, nbytes)
        assert held.held == sum(len(piece.payload) for piece in model)


def test_a_piece_that_nobody_cuts_is_the_same_one():
    one, other = Data(b"ab", (1,), size=9), Data(b"c")
    held = Pieces()
    held.add(one)
    held.add(other)
    assert [id(piece) for piece in held.take(3)] == [id(one), id(other)]
