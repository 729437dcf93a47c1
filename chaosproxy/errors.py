"""The one exception tree.

Rules: whoever calls into a library translates its exceptions into these, where they enter; what one says is for a
terminal, whatever was in a file. Must not know: anything else of ours but data.
"""

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from chaosproxy.model.mask import masked_command
from chaosproxy.model.shown import LONGEST_LINE, inert, shown

E = TypeVar("E", bound=BaseException)


class Error(Exception):
    """Base of everything chaosproxy raises on purpose."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a scenario, with its place. `line` and `column` count from 1; 0 = there is no text."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    source: str = ""
    """The line's text, for the caret; empty where there is none."""
    warning: bool = False
    unreadable: bool = False
    """The file could not be read at all."""
    path: str = ""
    """Where a Python structure is wrong, as `faults[0].stall.for`; empty where there is a text, and for the whole."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column, self.path) if part)
        label, _, rest = self.message.partition(": ")
        # A path says its last key itself.
        said = rest if rest and f".{self.path}".endswith(f".{label}") else self.message
        first = inert(_one_line(f"{place}: {said}" if place else said))
        if not self.source:
            return first
        source = inert(_one_line(self.source))
        before = len(source) - len(_one_line(self.source[self.column - 1 :]))
        return f"{first}\n    {source}\n    {' ' * before}^"


def _one_line(text: str) -> str:
    return shown(text, LONGEST_LINE)


class ScenarioError(Error):
    """A scenario that cannot be used; holds every problem found, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UsageError(Error):
    """A wrong option or argument, or an unusable file that one names (exit status 2)."""


class UnavailableError(Error):
    """A port that is taken, an upstream that does not answer in time (exit status 3)."""


_LISTENING = {
    errno.EADDRINUSE: "the port is taken; choose another, or 0 for any free one",
    errno.EACCES: "this user may not have that port; choose one above 1023",
    errno.EADDRNOTAVAIL: "this machine has no such address",
}


def cannot_listen(host: str, port: int, error: OSError | UnicodeError) -> UnavailableError:
    """What to say of an address that cannot be listened on."""
    shown = f"[{host}]" if ":" in host else host
    if isinstance(error, OSError):
        reason = _LISTENING.get(error.errno or 0) or (error.strerror or str(error)).partition(" (while ")[0]
    else:
        reason = "no host name"
    return UnavailableError(f"cannot listen on {shown}:{port}: {reason}")


class UpstreamFault(Error):
    """The upstream could not be reached, or speaks what it was not asked for."""


class FaultBug(Error):
    """A fault raised, or broke a rule of the chain. Names the fault, and the line of its handler where it raised; the
    exchange ends, the proxy goes on."""

    def __init__(self, hop: int, fault: str, event: object, cause: BaseException | str) -> None:
        self.hop, self.fault, self.event = hop, fault, event
        said = cause if isinstance(cause, str) else masked_command(repr(cause))
        if isinstance(cause, BaseException) and cause.__traceback__ and (handler := cause.__traceback__.tb_next):
            said += f" in {handler.tb_frame.f_code.co_filename}, line {handler.tb_lineno}"
        super().__init__(f"fault {fault!r} in hop {hop} failed on {type(event).__name__}: {said}")


def first_of(kind: type[E], error: BaseException) -> E | None:
    """The first of that kind, where side by side tasks have raised nothing else."""
    if isinstance(error, BaseExceptionGroup):
        found = [first_of(kind, one) for one in error.exceptions]
        return None if None in found else found[0]
    return error if isinstance(error, kind) else None


def alone(error: BaseException) -> BaseException:
    """What a task raised comes in a group: of one alone the reason, of several the group."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
