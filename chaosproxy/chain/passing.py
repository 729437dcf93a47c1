"""What goes straight through a line while the line is not told: how much may, and the account of it afterwards.

Only right behind a `Line.pass_through` that was true, and until anything else happens to the line: then every place is
at rest, nothing waits, and all that a piece does is to be counted. Must not know: who carries it.
"""

from collections.abc import Sequence

from chaosproxy.chain.line import Line
from chaosproxy.chain.span import Span
from chaosproxy.model.messages import Data


def limits(line: Line) -> tuple[float, float, float]:
    """The bytes, records and chunks with which a place would have to be asked: less may pass."""
    first = line.first
    assert isinstance(first, Span)
    return first.left()


def passed(line: Line, size: int, records: int, chunks: int, now: float) -> None:
    """So much has gone through since, the last of it at `now`."""
    line.admitted += size
    line.bytes_in += size
    line.records_in += records
    line.exit.bytes_out += size
    line.exit.records_out += records
    first = line.first
    if isinstance(first, Span) and first.stages:
        first.passes(size, records, chunks, now)


def stopped(line: Line, pieces: Sequence[Data], now: float) -> None:
    """Whole chunks or frames, their records found, of which one has a limit in it, or too little room: they go the long
    way."""
    for piece in pieces:
        line.bytes_in += len(piece.payload)
        line.records_in += len(piece.ends)
    line.admit(pieces, now)
