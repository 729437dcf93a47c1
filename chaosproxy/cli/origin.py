"""`chaosproxy origin [--listen HOST:PORT]`: the embedded origin alone, in the foreground."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chaosproxy.cli.ends import Ends
from chaosproxy.cli.ready import check_ready, ready_file
from chaosproxy.cli.speed import SpeedType
from chaosproxy.proxy.address import parse_listen

if TYPE_CHECKING:
    from chaosproxy.cli.saying import Saying

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
    type=SpeedType(),
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
    with Ends() as ends:
        from chaosproxy.cli.logs import log_to  # noqa: PLC0415 - loaded by whoever needs it
        from chaosproxy.cli.saying import Saying  # noqa: PLC0415 - likewise
        from chaosproxy.origin.serving import OriginOptions, serving  # noqa: PLC0415 - likewise

        host, port = parse_listen(listen)
        check_ready(ready_file)
        saying = Saying()
        # What its HTTP server says of its clients: in lines of ours.
        log_to(saying.err, logging.WARNING)
        options = OriginOptions(slots, kv_blocks, frozenset(broken), speed)
        with serving(options, host, port) as origin:
            _until_signal(ends, saying, origin.url, ready_file)
        saying.finish()
    return 0


def _until_signal(ends: Ends, saying: "Saying", url: str, ready: Path | None) -> None:
    """Say that it accepts, and wait for the end."""
    import trio  # noqa: PLC0415 - not for a port that is taken

    async def wait(announce: Callable[[], None]) -> None:
        with ends.listening():
            announce()
            saying.complain(f"origin on {url}")
            await ends.heard()

    with ready_file(ready, [url]) as announce:
        ends.hold()
        try:
            trio.run(wait, announce)
        finally:
            ends.over()
