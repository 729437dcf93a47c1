"""What a place needs of others: of what stands behind it, and of the chain.

Must not know: who that is.
"""

from typing import TYPE_CHECKING, Protocol

from chaosproxy.chain.actions import Finish, Reply, Vanish
from chaosproxy.model.messages import Data, Event

if TYPE_CHECKING:
    from chaosproxy.chain.place import Place


class Node(Protocol):
    """What can stand behind a place: a span, a place, the exit."""

    def has_room(self, now: float) -> bool:
        """Whether a Data would be admitted now."""
        ...

    def make_room(self, now: float) -> bool:
        """Whether the Data that wants to enter now is admitted; a fault that is full is asked to release first."""
        ...

    def data(self, data: Data, now: float) -> None: ...
    def control(self, event: Event, now: float) -> None: ...


class Director(Protocol):
    """The chain, as a place needs it: what reaches beyond the place."""

    @property
    def has_heads(self) -> bool:
        """HTTP passes here, not raw bytes."""
        ...

    def note(self, place: "Place", kind: str, detail: str, now: float) -> None: ...
    def passed_on(self, place: "Place", now: float) -> None: ...
    def cancel(self, place: "Place", now: float) -> None: ...
    def vanish(self, place: "Place", vanish: Vanish) -> None: ...
    def came_back(self, place: "Place") -> None: ...
    def finish(self, place: "Place", finish: Finish, now: float) -> None: ...
    def reply(self, place: "Place", reply: Reply, now: float) -> None: ...
