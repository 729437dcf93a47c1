"""`chaosproxy demo [SCENARIO]`: what a scenario does to a stream, as a picture, with nothing else running.

Rules: the result goes to stdout, progress to stderr, on a terminal only. Must not know: how it is measured or drawn.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosproxy.cli.own_faults import own_faults
from chaosproxy.cli.ready import check
from chaosproxy.cli.speed import SpeedType
from chaosproxy.errors import UsageError

if TYPE_CHECKING:
    from chaosproxy.demo.shown import Progress

DEFAULT = "buffer-4k"


@click.command("demo")
@click.argument("scenario", required=False, default=DEFAULT, metavar="[SCENARIO]")
@click.option(
    "--speed",
    type=SpeedType(),
    metavar="X",
    help="Run the scenario X times as fast. Default: as fast as makes it fit into a few seconds.",
)
@click.option("--json", "as_json", is_flag=True, help="The numbers as JSON instead of the picture.")
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the picture too.")
@own_faults
def command(scenario: str, speed: float | None, as_json: bool, svg: Path | None) -> None:
    """Ask an embedded server for a stream, straight and through SCENARIO, and draw when its events came.

    SCENARIO is a file or the name of a shipped scenario; without one it is the 4 KiB buffer."""
    # Loaded when the command runs, and not with its module: `chaosproxy --help` looks at every command.
    import trio  # noqa: PLC0415 - `--help` does without it
    from rich.console import Console  # noqa: PLC0415 - `--help` does without it

    from chaosproxy.demo import picture  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.demo.numbers import as_json as numbers  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.demo.plan import plan as planned  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.demo.shown import show  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.demo.words import meaning  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.journal.jsonl import as_line  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.origin.serving import OriginOptions, serving  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.scenario.library import find  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.scenario.load import load  # noqa: PLC0415 - `--help` does without it

    check(svg, "the picture")
    try:
        file = find(scenario)
    except LookupError as error:
        raise UsageError(str(error)) from error
    loaded = load(file)
    plan = planned(loaded, speed)
    with serving(OriginOptions(slots=plan.beside + 4)) as origin, _progress(loaded.name) as progress:
        try:
            seen = trio.run(show, file, plan, origin.url, progress)
        except BaseExceptionGroup as group:
            if group.subgroup(KeyboardInterrupt) is None:
                raise
            raise click.Abort from None  # it comes in a group where several tasks ran
    if svg is not None:
        try:
            picture.svg(svg, loaded, plan, seen)
        except OSError as error:
            raise UsageError(f"cannot write {svg}: {error.strerror}") from error
    if as_json:
        told = {
            "scenario": loaded.name,
            "speed": plan.speed,
            "direct": numbers(seen.direct),
            "through": numbers(seen.through),
            "meaning": meaning(seen.direct, seen.through),
        }
        click.echo(as_line(told))
    else:
        picture.draw(Console(), loaded, plan, seen)


@contextlib.contextmanager
def _progress(name: str) -> Iterator["Progress"]:
    """A line on stderr that is gone afterwards."""
    from rich.console import Console  # noqa: PLC0415 - `--help` does without it
    from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415 - `--help` does without it

    from chaosproxy.demo.plan import EVENTS  # noqa: PLC0415 - `--help` does without it
    from chaosproxy.demo.shown import DIRECT, THROUGH  # noqa: PLC0415 - `--help` does without it

    console = Console(stderr=True)
    titles = {DIRECT: "straight to the server", THROUGH: f"through {name}"}
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} of {task.total} events")
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(titles[DIRECT], total=EVENTS)
        now = DIRECT

        def seen(way: str, events: int) -> None:
            nonlocal now
            if way != now:
                now = way
                bar.update(task, completed=0)
            bar.update(task, description=titles[way], advance=events)

        yield seen
