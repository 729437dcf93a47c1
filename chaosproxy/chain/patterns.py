"""The regular expressions of a scenario: RE2's, which run in linear time, and say nothing themselves.

Must not know: what is looked for, where.
"""

from typing import Any, Protocol

import re2

LARGEST_PROGRAM = 1000
"""Instructions of a pattern: so many steps each byte of a record can cost, and no more."""
TOO_LARGE = f"repeats so much that it has more than {LARGEST_PROGRAM} instructions"


class Pattern(Protocol):
    """A compiled regular expression that runs in linear time."""

    def search(self, text: bytes, /) -> object: ...


def compiled(pattern: str) -> Any:
    """`re2.error` if it is none."""
    options = re2.Options()
    # What it would say while it searches goes to descriptor 2 itself, and waits there for who reads it.
    options.log_errors = False
    return re2.compile(pattern.encode(), options)


def pattern_problem(pattern: str) -> str:
    """Why it may not be in a scenario; empty if it may."""
    try:
        program = compiled(pattern)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return TOO_LARGE if program.programsize > LARGEST_PROGRAM else ""
