"""One line on stderr that is written over, and is gone afterwards.

Rules: only on a terminal. Must not know: what is going on.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator

import click

_CLEARED = "\r\x1b[K"
_WIDTH = 79


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Yields what shows a text, of which as much as goes into a line."""

    def show(text: str) -> None:
        if sys.stderr.isatty():
            click.echo(_CLEARED + text[:_WIDTH], nl=False, err=True)

    try:
        yield show
    finally:
        clear()


def clear() -> None:
    """Before something else is said."""
    if sys.stderr.isatty():
        click.echo(_CLEARED, nl=False, err=True)
