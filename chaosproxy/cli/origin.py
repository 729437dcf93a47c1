"""`chaosproxy origin [--listen HOST:PORT]`: the embedded origin alone, in the foreground."""

import contextlib
import logging
import signal
from collections.abc import Callable
from pathlib import Path

import click

from chaosproxy.cli.logs import log_to_stderr
from chaosproxy.cli.ready import check, ready_file
from chaosproxy.proxy.address import parse_listen

LINKS = ("disconnect", "engine", "scheduler", "blocks")


@click.command("origin", context_settings={"auto_envvar_prefix": "CHAOSPROXY_ORIGIN"})
@click.option("--listen", metavar="HOST:PORT", default="127.0.0.1:8000", show_default=True)
@click.option(
    "--slots", type=click.IntRange(min=1), default=4, show_default=True, metavar="N", help="Requests that run at once."
)
@click.option(
    "--kv-blocks",
    type=click.IntRange(min=1),
    default=1024,
    show_default=True,
    metavar="N",
    help="Blocks of 16 tokens that they share.",
)
@click.option(
    "--break",
    "broken",
    type=click.Choice(LINKS),
    multiple=True,
    help="Leave this link of the abort chain out; may be repeated.",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    metavar="X",
    help="Divide `first` and `gap` of every request.",
)
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Written when it accepts; removed at exit.",
)
def command(
    listen: str, slots: int, kv_blocks: int, broken: tuple[str, ...], speed: float, ready_file: Path | None
) -> int:
    """An inference engine in miniature: OpenAI, Anthropic and Ollama chats, /sse and /stats. Streams end with it."""
    from chaosproxy.origin.serving import OriginOptions, serving  # noqa: PLC0415 - loaded by whoever needs it

    host, port = parse_listen(listen)
    check(ready_file)
    # What its HTTP server says of its clients: in lines of ours.
    log_to_stderr(logging.WARNING)
    options = OriginOptions(slots, kv_blocks, frozenset(broken), speed)
    with serving(options, host, port) as origin:
        _until_signal(origin.url, ready_file)
    return 0


def _until_signal(url: str, ready: Path | None) -> None:
    """Say that it accepts, and wait for SIGINT or SIGTERM."""
    import trio  # noqa: PLC0415 - not for a port that is taken

    async def wait(announce: Callable[[], None]) -> None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            announce()
            with contextlib.suppress(OSError):  # a closed stderr is nobody's problem
                click.echo(f"chaosproxy: origin on {url}", err=True)
            await anext(signals)

    with ready_file(ready, [url]) as announce:
        trio.run(wait, announce)
