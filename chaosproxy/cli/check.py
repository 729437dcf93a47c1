"""`chaosproxy check [SUITE] -- COMMAND ...`: the report card of a client.

Rules: the card goes to stdout, progress to stderr, on a terminal only. Must not know: how a client is run or judged.
"""

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosproxy.cli.run import DurationType
from chaosproxy.errors import UsageError

if TYPE_CHECKING:
    from chaosproxy.check.card import Card, Progress
    from chaosproxy.check.case import Case

SUITES = ("quick", "full", "slow", "timeouts")
PATH = click.Path(path_type=Path, dir_okay=False)


class SuiteFirst(click.Command):
    """What stands in front of `--` may be a suite; what stands behind it is the command, options and all."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        before, command = args[:at], args[at + 1 :]
        ctx.meta["command"] = command
        return super().parse_args(ctx, before)


@click.command("check", cls=SuiteFirst)
@click.argument("suite", required=False, default="quick", type=click.Choice(SUITES), metavar="[SUITE]")
@click.option("--only", multiple=True, metavar="GLOB", help="These cases alone; may be repeated.")
@click.option("--skip", multiple=True, metavar="GLOB", help="Not these cases; may be repeated.")
@click.option("--list", "listed", is_flag=True, help="List the cases, and run none.")
@click.option("--timeout", type=DurationType(), metavar="D", help="The timeout that the client has been given.")
@click.option(
    "--patience",
    type=DurationType(),
    default="5s",
    show_default=True,
    metavar="D",
    help="How long it may go on once nothing more comes.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Cases at a time. Default: one for each processor."
)
@click.option(
    "--tls", is_flag=True, help="Serve TLS, and with it HTTP/2 to those who take it; CHAOSPROXY_CA is the CA's file."
)
@click.option("--json", "as_json", is_flag=True, help="The card as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    suite: str,
    only: Sequence[str],
    skip: Sequence[str],
    listed: bool,
    timeout: float | None,
    patience: float,
    jobs: int | None,
    tls: bool,
    as_json: bool,
) -> int:
    """What a client makes of each way in which a stream can go wrong: COMMAND is run once per case, and finds the proxy at
    CHAOSPROXY_URL (OPENAI_BASE_URL, ANTHROPIC_BASE_URL, OLLAMA_HOST are set too).

    It prints the text that it received, and leaves with 0 if it believes the answer is whole; or it prints one line of
    JSON with text, finish, outcome (ok, raised, flagged) and error. SUITE is quick (default), full, slow or timeouts."""
    from chaosproxy.check.choosing import choose  # noqa: PLC0415 - `--help` does without it

    cases = choose(suite, only, skip)
    if listed:
        click.echo(_listed(cases))
        return 0
    arguments = _runnable(ctx.meta["command"])
    with _progress() as progress:
        card = _examined(suite, cases, arguments, timeout, patience, jobs, tls, progress)
    if as_json:
        click.echo(json.dumps(card.as_json(), ensure_ascii=False))
    else:
        for result in card.results:
            click.echo(f"{result.case.id:24} {result.judged.verdict:14} {result.judged.good!s:6} {result.judged.seen}")
    return 1 if card.bad else 0


def _examined(
    suite: str,
    cases: Sequence["Case"],
    arguments: Sequence[str],
    timeout: float | None,
    patience: float,
    jobs: int | None,
    tls: bool,
    progress: Callable[["Progress"], None],
) -> "Card":
    import trio  # noqa: PLC0415 - `--help` does without it

    from chaosproxy.check.card import Examination  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.check.client import Command  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.check.runner import Limits  # noqa: PLC0415 - `--help` does without it

    limits = Limits(patience=patience, timeout=timeout)
    at_a_time = jobs or max(2, os.cpu_count() or 2)
    examination = Examination(Command(arguments), cases, suite, limits, at_a_time, tls, progress)
    try:
        return trio.run(examination.run)
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is None:
            raise
        raise click.Abort from None  # it comes in a group where several tasks ran


def _runnable(arguments: Sequence[str]) -> Sequence[str]:
    """UsageError if there is no such command."""
    if not arguments:
        raise UsageError("no command: write `chaosproxy check quick -- COMMAND ...`")
    if shutil.which(arguments[0]) is None:
        raise UsageError(f"{arguments[0]}: no such command")
    return arguments


def _listed(cases: Sequence["Case"]) -> str:
    width = max((len(case.id) for case in cases), default=0)
    return "\n".join(f"{case.id:{width}}  {case.suite:5}  {case.title}" for case in cases)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[["Progress"], None]]:
    """A line on stderr that is gone afterwards."""

    def tell(progress: "Progress") -> None:
        if sys.stderr.isatty():
            line = f"{progress.done} of {progress.of}, {progress.left:.0f} s left: {progress.case}"
            click.echo(f"\r\x1b[K{line[:79]}", nl=False, err=True)

    yield tell
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
