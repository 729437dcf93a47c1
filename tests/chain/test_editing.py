"""Units edited as they come: what is not changed leaves as it came, and record ends are where they are."""

import pytest

from chaosproxy.chain.editing import Editing
from chaosproxy.framing.choose import splitter_for
from chaosproxy.model.messages import Data


class Always:
    """Edits every unit in one way."""

    def __init__(self, edit):
        self.edit = edit
        self.missed = 0

    def holds(self):
        return True

    def unread(self):
        self.missed += 1


def fed(kind, pieces, edit, limit=1000):
    """What has left behind each piece, and at the end."""
    records, editing = splitter_for(kind), Editing(kind, Always(edit), limit)
    left = [editing.feed(Data(piece, records.feed(piece))) for piece in pieces]
    held = editing.held
    return left, held, editing.end(), editing


def without(word):
    return lambda raw: b"" if word in raw else raw


A, B, C = b"data: a\n\n", b"data: b\n\n", b"data: c\n\n"


def test_a_piece_of_whole_units_without_a_change_is_not_cut():
    left, held, end, _ = fed("sse", [A + B + C], without(b"x"))
    assert (left, held, end) == ([[Data(A + B + C, (9, 18, 27))]], 0, [])


def test_only_the_unit_that_has_not_ended_is_held():
    left, held, end, _ = fed("sse", [A + b"data", b": b"], without(b"x"))
    assert left == [[Data(A, (9,), whole=False)], []]
    assert held == 7
    assert [data.payload for data in end] == [b"data", b": b"]


def test_a_unit_that_goes_leaves_its_neighbours():
    left, _, _, editing = fed("sse", [A + B + C], without(b"b"))
    assert left == [[Data(A, (9,), whole=False), Data(C, (9,))]]
    assert editing.edited


def test_a_unit_that_is_changed_is_a_piece_of_its_own():
    left, *_ = fed("sse", [A + B + C], lambda raw: raw.replace(b"b", b"long"))
    assert left == [[Data(A, (9,), whole=False), Data(b"data: long\n\n", (12,)), Data(C, (9,))]]


def test_of_several_records_in_place_of_one_each_is_a_piece():
    more = {A: A, B: B + b": x\n\n" + C + b": y\n\n"}
    left, *_ = fed("sse", [A + B + A], more.get)
    assert left == [
        [Data(A, (9,), whole=False), Data(B, (9,)), Data(b": x\n\n" + C + b": y\n\n", (14,)), Data(A, (9,))]
    ]


@pytest.mark.parametrize("size", range(1, 30))
def test_the_same_for_any_chunking(size):
    stream = A + b": x\n\n" + B + B + C
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    left, _, end, _ = fed("sse", pieces, without(b"b"))
    leaving = [data for some in (*left, end) for data in some]
    assert b"".join(data.payload for data in leaving) == A + b": x\n\n" + C
    assert sum(len(data.ends) for data in leaving) == 2


def test_a_record_that_has_gone_is_not_counted_though_its_end_was_found_a_byte_later():
    """While all lines end in CRLF, a block that ends in CR at a piece's end ends with the LF that follows, which goes too."""
    first, second = b"data: a\r\n\r\n", b"data: b\r\n\r\n"
    left, _, end, _ = fed("sse", [first, second[:-1], b"\n" + first], without(b"b"))
    leaving = [data for some in (*left, end) for data in some]
    assert b"".join(data.payload for data in leaving) == first + first
    assert sum(len(data.ends) for data in leaving) == 2


def test_a_unit_that_outgrows_the_limit_passes_unread():
    long = b"data: " + b"b" * 50 + b"\n\n"
    left, held, _, editing = fed("sse", [A, long[:30], long[30:], B], without(b"b"), limit=20)
    assert b"".join(data.payload for some in left for data in some) == A + long
    assert (held, editing.too_long) == (0, True)


def test_what_is_left_at_the_end_is_a_unit_too():
    left, _, end, _ = fed("lines", [b"a\nb"], without(b"b"))
    assert (left, end) == ([[Data(b"a\n", (2,), whole=False)]], [])


def test_it_can_be_let_go_as_it_stands():
    editing = Editing("lines", Always(without(b"b")))
    assert editing.feed(Data(b"b")) == []
    assert editing.rest() == [Data(b"b")]
    assert editing.held == 0
