"""The cases as tests of a client in Python: a list for `pytest.mark.parametrize`, each tried on a function.

Rules: nothing is loaded before a case is tried: a suite is collected for nothing to speak of. Must not know: pytest.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chaosproxy.check.case import Case
from chaosproxy.check.choosing import choose
from chaosproxy.errors import alone

if TYPE_CHECKING:
    from chaosproxy.check.card import Card, Examination, Result
    from chaosproxy.check.client import Function


@dataclass(frozen=True, slots=True)
class Trial:
    """A case, to be tried on a function; its `str` is the case's name."""

    case: Case

    def check(self, client: "Function", *, timeout: float | None = None, patience: float = 5.0) -> "Result":
        """Try it; AssertionError, with the rule, its mend and the timeline, if what the client made of it is bad."""
        __tracebackhide__ = True
        result = self.run(client, timeout=timeout, patience=patience)
        assert result.judged.good is not False, self._told(result)
        return result

    def run(self, client: "Function", *, timeout: float | None = None, patience: float = 5.0) -> "Result":
        """What the client made of it. `client` is called with the proxy's URL, in a thread of its own, and returns the text
        that it received, or a mapping with `text`, `finish`, `outcome` (ok, raised, flagged) and `error`; it raises if it
        does not believe the answer. A coroutine function runs under asyncio. `timeout`: the one that the client has been
        given, in seconds; a case that hangs on it does not apply without. `patience`: seconds that it may go on once
        nothing more comes."""
        from chaosproxy.check.card import Examination  # noqa: PLC0415 - collecting tests loads no proxy
        from chaosproxy.check.client import InProcess  # noqa: PLC0415 - likewise
        from chaosproxy.check.runner import Limits  # noqa: PLC0415 - likewise

        limits = Limits(patience, timeout=timeout)
        examination = Examination(InProcess(client), (self.case,), self.case.suite, limits, jobs=1)
        return _Apart(examination).card().results[0]

    @staticmethod
    def _told(result: "Result") -> str:
        from chaosproxy.report.timeline import timeline  # noqa: PLC0415 - only what has failed is told

        case, judged = result.case, result.judged
        said = f"{case.id} ({case.title}): {judged.verdict}, {judged.seen}"
        return "\n".join((said, case.rule.says, case.rule.mend, timeline(list(result.records))))

    def __str__(self) -> str:
        return self.case.id


def cases(suite: str = "quick", *, only: Sequence[str] = (), skip: Sequence[str] = ()) -> list[Trial]:
    """The cases of a suite (quick, full, slow), or those that the globs of `only` name; without those of `skip`.
    UsageError where one of them fits none."""
    return [Trial(case) for case in choose(suite, only, skip)]


@dataclass(slots=True)
class _Apart:
    """A run of Trio in a thread of its own: whoever asks may be in a run, or a loop, already."""

    examination: "Examination"
    _made: "list[Card]" = field(default_factory=list)
    _failure: list[BaseException] = field(default_factory=list)

    def card(self) -> "Card":
        thread = threading.Thread(target=self._run, name="chaosproxy check", daemon=True)
        thread.start()
        thread.join()
        if self._failure:
            raise self._failure[0]
        return self._made[0]

    def _run(self) -> None:
        import trio  # noqa: PLC0415 - collecting tests loads no Trio

        try:
            self._made.append(trio.run(self.examination.run))
        except BaseException as error:  # noqa: BLE001 - raised again where it was asked
            self._failure.append(alone(error))
