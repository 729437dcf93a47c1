"""`chaosproxy lint FILE ...`: every problem of every file, each at its place.

Rules: results go to stdout; 0 = nothing but warnings, 1 = errors, 2 = a file that cannot be read. Must not know: what
is wrong with a scenario.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from chaosproxy.cli.own_faults import own_faults
from chaosproxy.errors import Problem

GOOD, BAD, UNREADABLE = 0, 1, 2


def lint(files: Sequence[str]) -> int:
    """Print what is wrong with each file, and answer with the exit status."""
    from chaosproxy.scenario.load import examine  # noqa: PLC0415 -- its libraries are loaded by whoever needs them

    status = GOOD
    for file in files:
        scenario, problems = examine(Path(file))
        for problem in problems:
            click.echo(shown(problem))
        if scenario is None:
            status = max(status, UNREADABLE if any(problem.unreadable for problem in problems) else BAD)
    return status


def shown(problem: Problem) -> str:
    """`FILE:LINE:COLUMN: message`, then the line and a caret; a warning says that it is one."""
    return str(replace(problem, message=f"warning: {problem.message}") if problem.warning else problem)


@click.command("lint")
@click.argument("files", nargs=-1, required=True, metavar="FILE ...")
@own_faults
@click.pass_context
def command(context: click.Context, files: tuple[str, ...]) -> None:
    """Validate scenario files, or shipped ones by name: all problems at once, with their places. Nothing is said where
    nothing is wrong."""
    context.exit(lint(files))
