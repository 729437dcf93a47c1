"""`chaosproxy check [SUITE] -- COMMAND ...`: the report card of a client.

Rules: the card goes to stdout, progress to stderr, on a terminal only. Must not know: how a client is run or judged.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosproxy.cli.progress import clear, progress
from chaosproxy.cli.ready import check
from chaosproxy.cli.run import DurationType
from chaosproxy.cli.until_ended import run
from chaosproxy.errors import Error, UsageError
from chaosproxy.model.mask import masked_arguments
from chaosproxy.model.shown import message
from chaosproxy.model.units import ENDLESS, counted, show_duration

if TYPE_CHECKING:
    from chaosproxy.check.card import Card, Examination, Progress
    from chaosproxy.check.case import Case
    from chaosproxy.check.gateway import GatewayExamination
    from chaosproxy.check.timeouts import Found

SUITES = ("quick", "full", "slow", "timeouts")
PATH = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options as given; `command` is what stands behind `--`."""

    suite: str
    only: tuple[str, ...]
    skip: tuple[str, ...]
    listed: bool
    timeout: float | None
    up_to: float
    patience: float
    jobs: int | None
    tls: bool
    json: bool
    junit: Path | None
    html: Path | None
    markdown: Path | None
    baseline: Path | None
    write_baseline: bool
    gateway: str | None
    listen: str
    path: str
    command: tuple[str, ...]
    known: Mapping[str, str] | None = None
    """What `baseline` says, which may be a pipe."""


class SuiteFirst(click.Command):
    """What stands in front of `--` is ours; what stands behind it is the command, options and all."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "-- COMMAND ..."]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["command"] = tuple(args[at + 1 :])
        if at == len(args) and (word := _program(args)) is not None:
            ctx.fail(f"write `--` in front of the command: -- {word} ...")
        return super().parse_args(ctx, args[:at])


def _program(args: list[str]) -> str | None:
    """The first of the words, if it can only be a command whose `--` was forgotten."""
    words = [word for word in args[:2] if word not in SUITES]
    return words[0] if words and not words[0].startswith("-") and shutil.which(words[0]) else None


@click.command("check", cls=SuiteFirst)
@click.argument("suite", required=False, default="quick", type=click.Choice(SUITES), metavar="[SUITE]")
@click.option("--only", multiple=True, metavar="GLOB", help="These cases alone, of whatever suite; may be repeated.")
@click.option("--skip", multiple=True, metavar="GLOB", help="Not these cases; may be repeated.")
@click.option("--list", "listed", is_flag=True, help="List the cases, and run none.")
@click.option("--timeout", type=DurationType(), metavar="D", help="The timeout that the client has been given.")
@click.option(
    "--up-to",
    type=DurationType(),
    default="30s",
    show_default=True,
    metavar="D",
    help="timeouts: how long a client is watched.",
)
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
@click.option("--tls", is_flag=True, help="Serve TLS, and HTTP/2 to those who take it; CHAOSPROXY_CA is the CA's file.")
@click.option("--json", is_flag=True, help="The card, or the list, as JSON.")
@click.option("--junit", type=PATH, metavar="FILE", help="Write it as JUnit XML too.")
@click.option("--html", type=PATH, metavar="FILE", help="Write it as a page too, with what was on the wire.")
@click.option("--markdown", type=PATH, metavar="FILE", help="Write it as Markdown too.")
@click.option("--baseline", type=PATH, metavar="FILE", help="What is bad and known: it does not fail.")
@click.option("--write-baseline", is_flag=True, help="Write what is bad now to the file of --baseline.")
@click.option(
    "--gateway", metavar="URL", help="Check this gateway instead: a client in front of it, a server behind it."
)
@click.option(
    "--listen",
    default="127.0.0.1:8000",
    show_default=True,
    metavar="HOST:PORT",
    help="gateway: where it finds its server.",
)
@click.option(
    "--path", default="/v1/chat/completions", show_default=True, metavar="PATH", help="gateway: what it is asked for."
)
@click.pass_context
def command(ctx: click.Context, /, **given: object) -> int:
    """What a client makes of each way in which a stream can go wrong. COMMAND is run once per case; it finds the proxy at
    CHAOSPROXY_URL (OPENAI_BASE_URL, ANTHROPIC_BASE_URL, OLLAMA_HOST and others are set too).

    It prints the text that it received, and leaves with 0 if it believes the answer is whole. Or it prints one line of
    JSON with text, finish, outcome (ok, raised, flagged) and error.

    SUITE is quick (default), full, slow (the client's own defaults, minutes), or timeouts (which finds them)."""
    options = CheckOptions(**given, command=ctx.meta["command"])  # type: ignore[arg-type] # click has checked their types
    if options.gateway is not None:
        return _gateway(options, options.gateway)
    if options.suite == "timeouts":
        return _timeouts(options)
    from chaosproxy.check.choosing import choose  # noqa: PLC0415 - `--help` does without it

    cases = choose(options.suite, options.only, options.skip)
    if options.listed:
        return _list(cases, options)
    options = _check(options)
    _some(cases)
    return _say(_known(options, _examined(options, cases)), options)


def _list(cases: tuple["Case", ...], options: CheckOptions) -> int:
    """What would be run."""
    from chaosproxy.check.shown import listed, listed_as_json  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.journal.jsonl import as_line  # noqa: PLC0415 - likewise

    if options.json:
        suite = "gateway" if options.gateway is not None else options.suite
        click.echo(as_line(listed_as_json(cases, suite)))
    else:
        click.echo("".join(listed(cases)), nl=False)
    return 0


def _some(cases: tuple["Case", ...]) -> None:
    """UsageError if there is none."""
    if not cases:
        raise UsageError("no case is left; `--list` has those that are chosen")


def _check(options: CheckOptions) -> CheckOptions:
    """With what the baseline says. UsageError for what could only fail later."""
    if options.gateway is None and not options.command:
        raise UsageError("no command: write `chaosproxy check quick -- COMMAND ...`")
    if options.gateway is not None and options.command:
        raise UsageError("--gateway checks a gateway, and runs no command")
    if options.command and shutil.which(options.command[0]) is None:
        there = Path(options.command[0]).is_file()
        raise UsageError(f"{options.command[0]}: {'it is not executable' if there else 'no such command'}")
    times = {"--timeout": options.timeout, "--up-to": options.up_to, "--patience": options.patience}
    for option, seconds in times.items():
        if seconds is not None and not 0 < seconds < ENDLESS:
            raise UsageError(f"{option} {show_duration(seconds)}: write a time that passes")
    for file in (options.junit, options.html, options.markdown):
        check(file, "the card")
    check(options.baseline if options.write_baseline else None, "the baseline")
    if options.write_baseline and options.baseline is None:
        raise UsageError("--write-baseline needs --baseline FILE")
    if options.baseline is not None and not options.write_baseline:
        from chaosproxy.check.baseline import read  # noqa: PLC0415 - for whoever has one

        return replace(options, known=read(options.baseline))
    return options


def _examined(options: CheckOptions, cases: tuple["Case", ...]) -> "Card":
    from chaosproxy.check.card import Examination  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.check.client import Command  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.check.runner import Limits  # noqa: PLC0415 - `--help` does without it

    limits = Limits(options.patience, timeout=options.timeout)
    jobs = options.jobs or (len(cases) if options.suite == "slow" else max(2, os.cpu_count() or 2))
    with progress() as show:

        def tell(done: "Progress") -> None:
            show(f"{done.done} of {done.of}, {done.left:.0f} s left: {done.case}")

        examination = Examination(Command(options.command), cases, options.suite, limits, jobs, options.tls, tell)
        return _card(examination, options, masked_arguments(options.command))


def _card(examination: "Examination | GatewayExamination", options: CheckOptions, client: str) -> "Card":
    """Of the whole suite. Who ends it by a signal is told what was judged until then."""
    try:
        return replace(run(examination.run), client=client)
    except (click.Abort, click.exceptions.Exit):
        clear()
        done = examination.so_far
        click.echo(f"ended after {len(done.results)} of {counted(len(examination.cases), 'case')}", err=True)
        if done.results:
            compared = replace(options, baseline=None) if options.write_baseline else options
            try:
                _say(_known(compared, replace(done, client=client)), options)
            except (Error, OSError) as error:  # the exit status is that of the signal all the same
                if not isinstance(error, BrokenPipeError):
                    click.echo(message(f"chaosproxy: {error}"), err=True)
        raise


def _known(options: CheckOptions, card: "Card") -> "Card":
    if options.baseline is None:
        return card
    from chaosproxy.check import baseline  # noqa: PLC0415 - for whoever has one

    known = options.known
    return baseline.accepted(card, baseline.write(options.baseline, card) if known is None else known)


def _say(card: "Card", options: CheckOptions) -> int:
    """The card, in each form that is wanted; the exit status."""
    from chaosproxy.check import junit, markdown, page, shown  # noqa: PLC0415 - `--help` does without them
    from chaosproxy.cli.painting import paint, show  # noqa: PLC0415 - likewise
    from chaosproxy.cli.saving import save  # noqa: PLC0415 - likewise
    from chaosproxy.journal.jsonl import as_line  # noqa: PLC0415 - likewise

    for file, pieces in (
        (options.junit, junit.pieces),
        (options.html, page.pieces),
        (options.markdown, markdown.pieces),
    ):
        if file is not None:
            save(file, pieces(card))
    if options.json:
        click.echo(as_line(card.as_json()))
    else:
        show(shown.painted(card, paint()))
    return 1 if card.bad else 0


def _gateway(options: CheckOptions, url: str) -> int:
    """The card of a gateway; the exit status."""
    from chaosproxy.check.choosing import among  # noqa: PLC0415 - for whoever has a gateway
    from chaosproxy.check.gateway import GatewayExamination  # noqa: PLC0415 - likewise
    from chaosproxy.check.table.gateway import CASES  # noqa: PLC0415 - likewise
    from chaosproxy.proxy.address import parse_upstream  # noqa: PLC0415 - likewise

    cases = among(CASES, options.only, options.skip)
    if options.listed:
        return _list(cases, options)
    options = _check(options)
    _some(cases)
    address = parse_upstream(url, "--gateway")
    card = _card(GatewayExamination(address, options.listen, options.path, cases), options, url)
    return _say(_known(options, card), options)


def _timeouts(options: CheckOptions) -> int:
    """What was found; 1 if no request came at all."""
    from chaosproxy.check.client import Command  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.check.timeouts import SAID, Search  # noqa: PLC0415 - likewise
    from chaosproxy.journal.jsonl import as_line  # noqa: PLC0415 - likewise

    _check(options)
    given = {"--only": options.only, "--skip": options.skip, "--list": options.listed, "--baseline": options.baseline}
    given |= {"--junit": options.junit, "--html": options.html, "--markdown": options.markdown, "--tls": options.tls}
    if idle := [name for name, value in given.items() if value]:
        raise UsageError(f"timeouts has no cases and no card: {', '.join(idle)} cannot stand beside it")
    if sys.stderr.isatty():
        click.echo(f"watching for {show_duration(options.up_to)} at most, all places at once", err=True)
    found: Sequence[Found] = run(Search(Command(options.command), options.up_to, options.patience).run)
    if options.json:
        click.echo(as_line({"suite": "timeouts", "timeouts": [one.as_json() for one in found]}))
    else:
        for one in found:
            click.echo(f"{one.place:8} {SAID[one.place]:40} {one.seen}")
    return 0 if any(one.requests for one in found) else 1
