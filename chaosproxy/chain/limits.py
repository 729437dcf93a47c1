"""Where in a piece of body a rest ends, and what becomes of the chunk that an ending breaks there.

Must not know: what is done at the limit.
"""

from typing import TYPE_CHECKING

from chaosproxy.chain.actions import Actions, Finish, Rest
from chaosproxy.chain.pieces import Remains
from chaosproxy.chain.resolve import breaks_in_chunk
from chaosproxy.model.messages import Data
from chaosproxy.model.vocabulary import Moment

if TYPE_CHECKING:
    from chaosproxy.chain.place import Place


def limit_in(data: Remains, rest: Rest, place: "Place") -> tuple[int, str | None]:
    """The offset of the nearest limit in `data`, which enters `place` next, and its name; None if there is none."""
    if rest.moment is Moment.BODY:
        return 0, "moment"
    size = data.left
    cut, limit = size, None
    missing = rest.bytes - place.bytes
    if missing <= size:
        cut, limit = max(0, int(missing)), "bytes"
    wanted = rest.records - place.records
    if wanted <= data.records:
        end = data.end_of(int(wanted)) if wanted > 0 else 0
        if limit is None or end < cut:
            cut, limit = end, "records"
    wanted = rest.chunks - place.chunks
    if wanted <= data.whole:
        end = size if wanted > 0 else 0
        if limit is None or end < cut:
            cut, limit = end, "chunks"
    return cut, limit


def keep_size(actions: Actions, place: "Place") -> None:
    """A chunk that is broken in the middle announces what it would have been, not what a cut has made of it."""
    broken: Data | None = None
    breaks = False
    for action in actions:
        if isinstance(action, Finish):
            breaks = breaks_in_chunk(action, place)
        elif isinstance(action, Data):
            if breaks and broken is not None and not broken.whole:
                broken.size = len(broken.payload) + len(action.payload)
                return
            broken = action
