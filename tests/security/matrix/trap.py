"""`x_trap`: a fault with a bug, which shows when the test says so. It is in no scenario but those of its cells."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import FOREVER, Actions
from chaosproxy.chain.fault import REGISTRY, Context, Fault, FaultSpec

ARMED: list["RunningTrap"] = []
"""Those that have been started, the latest last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap(FaultSpec):
    """Rests until it is sprung."""

    name: ClassVar[str] = "x_trap"

    def share(self) -> object:
        return ARMED  # who shares something can be rung

    def start(self, context: Context) -> Fault:
        running = RunningTrap()
        ARMED.append(running)
        return running


class RunningTrap(Fault):
    rest = FOREVER
    raises: BaseException

    def spring(self, raises: BaseException, now: float) -> None:
        """Have it raise that in its exchange's turn."""
        self.raises = raises
        self.ring(now)

    def wake(self, now: float) -> Actions:
        raise self.raises


@contextlib.contextmanager
def known() -> Iterator[None]:
    """Scenarios may name it."""
    REGISTRY[Trap.name] = Trap
    try:
        yield
    finally:
        del REGISTRY[Trap.name]
