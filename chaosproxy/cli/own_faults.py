"""`--faults FILE`: the option of every command that reads scenarios. Must not know: what is in the file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]


def _load(_context: click.Context, _option: click.Parameter, files: Sequence[Path]) -> None:
    if files:
        from chaosproxy.scenario.catalogue import load_file  # noqa: PLC0415 - loaded where there is something to load

        for file in files:
            load_file(file)


def own_faults(command: Command) -> Command:
    """Let a command take files of faults; they are known before its scenarios are read."""
    return click.option(
        "--faults",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        envvar="CHAOSPROXY_FAULTS",
        callback=_load,
        expose_value=False,
        is_eager=True,
        help="A Python file with faults of your own; may be repeated.",
    )(command)
