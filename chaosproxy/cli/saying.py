"""What `run` says while it serves, on stdout and stderr: whoever reads it slowly, or no more, keeps no stream waiting.

Must not know: what is said.
"""

import contextlib
import os
import sys
from typing import TextIO

import click

from chaosproxy.embedded.outlet import Outlet, outlets_of
from chaosproxy.model.shown import message
from chaosproxy.model.units import counted

LAST = 0.3
"""Seconds for a slow reader at the end."""


class Saying:
    """Both of them."""

    def __init__(self) -> None:
        self._out, self._err = outlets_of(sys.stdout, sys.stderr)

    def outlet(self, descriptor: int) -> Outlet:
        """To another descriptor; ours where that leads to the same place, so that no line gets into another."""
        for one in (self._out, self._err):
            if one is not None and os.path.sameopenfile(one.descriptor, descriptor):
                return one
        return Outlet(descriptor)

    def out(self, text: str) -> None:
        """One line to stdout."""
        _say(self._out, sys.stdout, text)

    def err(self, text: str) -> None:
        """One line to stderr."""
        _say(self._err, sys.stderr, text)

    def complain(self, text: str) -> None:
        """One line to stderr that says whose it is."""
        self.err(message(f"chaosproxy: {text}"))

    def finish(self) -> None:
        """Nothing more is said in this way."""
        ends = {"stderr": self._err} if self._out is self._err else {"stdout": self._out, "stderr": self._err}
        for name, outlet in ends.items():
            if outlet is not None:
                outlet.finish(LAST)
                if outlet.lost:
                    self.complain(f"{counted(outlet.lost, 'line')} left out of {name}, which nobody read")
        if self._err is not None:
            self._err.finish(LAST)


def _say(outlet: Outlet | None, stream: TextIO, text: str) -> None:
    with contextlib.suppress(OSError):  # whoever read it is gone, or the disk is full: the traffic goes on
        if outlet is None:
            click.echo(text, file=stream)
        else:
            outlet.write(f"{text}\n".encode(stream.encoding, "backslashreplace"))
