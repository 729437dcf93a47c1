"""`scope`: what happens at one place happens to others at the same moment: a reload, a crash of a node.

The exchanges of a rule, or the connections of an entry, are a group; the first of them whose place comes makes the moment.
Rules: a moment comes once; whoever begins later is left alone. Must not know: what happens then.
"""

import math
from random import Random
from typing import Any, Literal

from chaosproxy.chain.actions import FOREVER, Actions
from chaosproxy.chain.fault import Context
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered

Scope = Literal["all"] | float
"""All that run at the moment, or a share of them between 0 and 1, and one at least."""


def scope_problems(scope: Scope | None, at: Trigger) -> list[tuple[tuple[str, ...], str]]:
    """What is wrong with a scope, or with its place."""
    if scope is None:
        return []
    found: list[tuple[tuple[str, ...], str]] = []
    if scope != "all" and not 0 < scope <= 1:
        what = "expected all, or a share of those that run: more than 0, at most 1"
        found.append((("scope",), f"found the number {scope:g}; {what}"))
    if at.every is not None:
        found.append((("at", "every"), "with a `scope` the moment comes once"))
    if at.reads_content:
        found.append(
            (("at",), "a moment for several comes at a count, a time or an idle; not in what one of them says")
        )
    return found


class Group:
    """Those that run now, in the order in which they began; never more than there are exchanges, or connections."""

    def __init__(self, scope: Scope) -> None:
        self._share = 1.0 if scope == "all" else scope
        self._members: dict[Together, None] = {}
        self.over = False
        """The moment has been."""

    def join(self, who: "Together") -> bool:
        """It runs, until `leave`; False if the moment has been."""
        if not self.over:
            self._members[who] = None
        return not self.over

    def leave(self, who: "Together") -> None:
        """It is over."""
        self._members.pop(who, None)

    def chosen(self, random: Random) -> list["Together"]:
        """The moment is now: those that it happens to."""
        self.over = True
        present, self._members = list(self._members), {}
        count = max(1, math.floor(len(present) * self._share + 0.5))
        if count >= len(present):
            return present
        taken = set(random.sample(range(len(present)), count))
        return [one for number, one in enumerate(present) if number in taken]


class Together(Triggered):
    """In front of what runs for a fault with a place, it shares its moment: that of the first whose place comes."""

    def __init__(self, spec: Any, context: Context) -> None:
        """`spec` is that of the class behind it."""
        super().__init__(spec, context)
        assert isinstance(context.shared, Group)
        self._group = context.shared
        self._random = context.random
        self._called = False
        if not self._group.join(self):
            self.rest, self.unfired = FOREVER, "begun after the moment"

    def reached(self, limit: str, now: float) -> Actions:
        if self._group.over:
            return (FOREVER,)
        for one in self._group.chosen(self._random):
            one.call(now, self)
        return self._answer(limit, now)

    def call(self, now: float, caller: "Together") -> None:
        """It is among those that it happens to."""
        self._called = True
        if caller is not self:
            self._place = f"{self._place}, of another"
            self.ring(now)

    def wake(self, now: float) -> Actions:
        if self._called:
            self.due = math.inf
            return self._answer("", now)
        return super().wake(now)

    def _answer(self, limit: str, now: float) -> Actions:
        if not self._called:
            self.unfired = "spared"
            return (FOREVER,)
        self._called = False
        self._fired += 1
        return (self._next(now), *self.fire(now))

    def over(self, now: float) -> Actions:
        self._group.leave(self)
        return super().over(now)
