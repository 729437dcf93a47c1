"""`chaosproxy diagnose URL [URL ...]`: which hop breaks a stream, why, and what mends it.

Rules: the result goes to stdout, progress to stderr, on a terminal only. Exit status: 1 if a hop breaks streaming, 3 if
one cannot be reached. Must not know: how it is measured or judged.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chaosproxy.errors import UsageError
from chaosproxy.model.units import counted, duration

if TYPE_CHECKING:
    from chaosproxy.diagnose.measure import Plan, Told

LARGEST = 64 * 1024 * 1024
"""Bytes of a request's body."""


@click.command("diagnose")
@click.argument("urls", nargs=-1, required=True, metavar="URL [URL ...]")
@click.option("-X", "--request", "method", metavar="METHOD", help="Default: GET, with -d POST.")
@click.option("-H", "--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="May be repeated.")
@click.option("-d", "--data", metavar="TEXT|@FILE", help="The request's body; a file is sent as it is.")
@click.option("--dense", metavar="TEXT|@FILE", help="Another body, at which the answer is long and fast.")
@click.option("--times", type=click.IntRange(min=1), default=3, show_default=True, metavar="N", help="Of each hop.")
@click.option("--limit", default="30s", show_default=True, metavar="D", help="Leave an answer after this time.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Requests at once.")
@click.option(
    "--protocol",
    type=click.Choice(["auto", "http/1.1", "h2"]),
    default="auto",
    show_default=True,
    help="An h2c:// URL is HTTP/2 with prior knowledge anyway.",
)
@click.option(
    "--ca",
    "--cacert",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Whom to trust.",
)
@click.option("-k", "--insecure", is_flag=True, help="Trust every certificate.")
@click.option(
    "--abort-probe",
    metavar="URL[#NAME]|none",
    help="Where the server says how many requests it is at work on: a number, JSON, or a metric, called NAME; `none`: do "
    "not try who is told that a client has left.",
)
@click.option("--json", "as_json", is_flag=True, help="The diagnosis as JSON instead of the picture.")
def command(urls: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Ask each URL the same, the server first and then every hop in front of it up to the client, and say which of
    them breaks streaming, by which figures, and with which setting it stops.

    A URL may have a name in front of it (nginx=http://...); one without a path has that of the first."""
    # Loaded when the command runs, and not with its module: `chaosproxy --help` looks at every command.
    import trio  # noqa: PLC0415 - `--help` does without it
    from rich.console import Console  # noqa: PLC0415 - `--help` does without it

    from chaosproxy.diagnose import picture  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.diagnose.assess import assess  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.diagnose.measure import Measuring  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.diagnose.plain import plain  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.journal.jsonl import as_line  # noqa: PLC0415 - `--help` does without it

    plan, ended = _plan(urls, **options), False
    with _progress() as told:
        measuring = Measuring(plan, told)
        try:
            observed = trio.run(measuring.measure)
        except BaseException as error:
            if not _interrupted(error):
                raise
            ended = True
    if ended:
        seen = measuring.so_far
        click.echo(f"ended after {measuring.done} of {counted(measuring.all, 'request')}", err=True)
        if seen is None:
            raise click.Abort
        observed = seen
    report = assess(observed)
    if as_json:
        click.echo(as_line(plain(report)))
    else:
        picture.draw(Console(), report)
    if ended:
        raise click.Abort
    return 0 if report.broken is None else 1


def _interrupted(error: BaseException) -> bool:
    """It comes in a group where several tasks ran."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt) is not None
    )


def _plan(
    urls: tuple[str, ...],
    *,
    method: str | None,
    headers: tuple[str, ...],
    data: str | None,
    dense: str | None,
    limit: str,
    abort_probe: str | None,
    **given: Any,
) -> "Plan":
    from chaosproxy.diagnose.measure import Plan  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.diagnose.question import Question, header, hops  # noqa: PLC0415 - `--help` does without it

    question = Question(
        method or ("GET" if data is None else "POST"),
        tuple(header(one) for one in headers),
        _data(data) or b"",
        _data(dense),
    )
    asked = hops(urls)
    for hop in asked:
        question.head(hop, question.body)
    probe = None
    if abort_probe not in {None, "none"}:
        url, _, name = (abort_probe or "").partition("#")
        probe = (hops([url])[0], name or "running")
    return Plan(hops=asked, question=question, limit=_limit(limit), probe=probe, leaves=abort_probe != "none", **given)


def _data(given: str | None) -> bytes | None:
    if given is None or not given.startswith("@"):
        return None if given is None else os.fsencode(given)
    if given == "@-" and sys.stdin is None:
        raise UsageError("cannot read -: stdin is closed")
    try:
        with contextlib.ExitStack() as stack:
            file = sys.stdin.buffer if given == "@-" else stack.enter_context(Path(given[1:]).open("rb"))
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise UsageError(f"cannot read {given[1:]}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > LARGEST:
        raise UsageError(f"cannot read {given[1:]}: larger than {LARGEST >> 20} MiB")
    return data


def _limit(text: str) -> float:
    try:
        seconds = duration(text)
    except ValueError as error:
        raise UsageError(f"--limit: {error}") from error
    if not seconds:
        raise UsageError("--limit: write more than 0s")
    return seconds


@contextlib.contextmanager
def _progress() -> Iterator["Told"]:
    """A line on stderr that is gone afterwards."""
    from rich.console import Console  # noqa: PLC0415 - `--help` does without it
    from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415 - `--help` does without it

    console = Console(stderr=True)
    columns = BarColumn(), TextColumn("{task.completed} of {task.total} requests, {task.description}")
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def told(done: int, of: int, what: str) -> None:
            bar.update(task, completed=done, total=of, description=what)

        yield told
