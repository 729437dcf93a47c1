"""Trio programs that have others running: a signal ends those too.

Rules: who ignores a signal, as `nohup` has us ignore SIGHUP, goes on ignoring it. Must not know: what is run.
"""

import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from chaosproxy.errors import UsageError, first_of

ENDS = ("SIGTERM", "SIGHUP")
"""What ends a program that says nothing of it, on the spot and without its children; SIGINT comes as KeyboardInterrupt."""
T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    """What `main` gives back. A signal ends it, and the exit status is 128 and its number."""
    import trio  # noqa: PLC0415 - `--help` does without it

    ours = [getattr(signal, name) for name in ENDS if hasattr(signal, name)]
    taken = [number for number in ours if _takes(number)]

    async def heard() -> None:
        with trio.open_signal_receiver(*taken) as signals:
            async for number in signals:
                raise click.exceptions.Exit(128 + number)

    async def both() -> T:
        async with trio.open_nursery() as nursery:
            if taken:
                nursery.start_soon(heard)
            result = await main()
            nursery.cancel_scope.cancel()
        return result

    try:
        return trio.run(both)
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is not None:
            raise click.Abort from None  # it comes in a group where several tasks ran
        known = first_of(click.exceptions.Exit, group) or first_of(UsageError, group)
        if known is None:
            raise
        raise known from None


def _takes(number: signal.Signals) -> bool:
    """Whether it would end us, and we are in the one thread that may ask to be told instead."""
    if signal.getsignal(number) is not signal.SIG_DFL:
        return False
    try:
        signal.signal(number, signal.SIG_DFL)
    except ValueError:
        return False  # some other thread
    return True
