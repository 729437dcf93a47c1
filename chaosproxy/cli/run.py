"""`chaosproxy run [SCENARIO ...] --upstream URL`: the proxy in the foreground."""

import gc
from dataclasses import dataclass
from pathlib import Path

import click

from chaosproxy.cli.ends import Ends
from chaosproxy.cli.own_faults import own_faults
from chaosproxy.cli.ready import check_ready
from chaosproxy.cli.speed import SpeedType
from chaosproxy.errors import UsageError
from chaosproxy.model.units import duration


class DurationType(click.ParamType[float]):
    """`250ms`, `2s`, `forever` in seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            return duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Files(click.Path):
    """Several in a variable of the environment stand with blanks between them, as everything there does."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return rv.split()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `run` as given."""

    scenarios: tuple[str, ...]
    listen: tuple[str, ...]
    upstream: tuple[str, ...]
    tls: str | None
    ca_out: Path | None
    upstream_ca: Path | None
    upstream_insecure: bool
    wait_upstream: float | None
    grace: float
    journal: Path | None
    journal_limit: int
    ready_file: Path | None
    seed: int | None
    speed: float
    assert_: bool
    report: tuple[Path, ...]
    watch: bool
    json: bool
    verbose: int
    quiet: bool


LISTEN = "127.0.0.1:8666"
KEPT = 1000
"""Exchanges kept in memory by default: some 10 MB of streams of a hundred events each, and 250 MB of the longest that a
record can tell of. A proxy in a container runs for weeks."""
PATH = click.Path(path_type=Path, dir_okay=False)


@click.command("run", context_settings={"auto_envvar_prefix": "CHAOSPROXY"})
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO ...]", envvar="CHAOSPROXY_SCENARIO")
@click.option("--upstream", multiple=True, metavar="URL", help="http://, https:// or h2c://; repeated: round robin.")
@click.option("--listen", multiple=True, metavar="HOST:PORT", default=(LISTEN,), show_default=True)
@click.option("--tls", metavar="auto|CERT:KEY", help="Serve TLS; auto makes a throw-away CA.")
@click.option("--ca-out", type=PATH, help="Where --tls auto writes its CA certificate.")
@click.option("--upstream-ca", type=PATH, help="CA certificates to trust for https upstreams.")
@click.option("--upstream-insecure", is_flag=True, help="Do not verify https upstreams.")
@click.option("--wait-upstream", type=DurationType(), metavar="D", help="Wait up to D for the upstream to accept.")
@click.option(
    "--grace",
    type=DurationType(),
    default="2s",
    show_default=True,
    metavar="D",
    help="For running exchanges at the end.",
)
@click.option(
    "--journal", type=click.Path(path_type=Path), metavar="FILE", help="JSON lines, one per finished exchange."
)
@click.option(
    "--journal-limit",
    type=click.IntRange(min=1),
    default=KEPT,
    show_default=True,
    metavar="N",
    help="Finished exchanges kept in memory, the latest; the file has all.",
)
@click.option("--ready-file", type=PATH, metavar="FILE", help="Written when all listeners accept; removed at exit.")
@click.option("--seed", type=int, metavar="N", help="Else the scenario's, else drawn and journalled.")
@click.option(
    "--speed",
    type=SpeedType(),
    default=1.0,
    metavar="X",
    help="Run the scenario X times as fast.",
)
@click.option(
    "--assert",
    "assert_",
    is_flag=True,
    envvar="CHAOSPROXY_ASSERT",
    help="At the end judge what the scenario expects; exit 1 if something is not so.",
)
@click.option(
    "--report",
    multiple=True,
    type=Files(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Written at the end: the exchanges in memory, and the verdicts on them; .html, .xml (JUnit), .md or .txt.",
)
@click.option("--watch", is_flag=True, help="Reload the scenario files when they change.")
@click.option("--json", is_flag=True, help="One JSON line per finished exchange on stdout.")
@click.option("-v", "--verbose", count=True, help="The timeline of each exchange too.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@own_faults
def command(**given: object) -> int:
    """Run the proxy. SCENARIO is a file or the name of a shipped scenario; none is a transparent proxy.

    Every option has an environment variable: CHAOSPROXY_UPSTREAM, CHAOSPROXY_JOURNAL_LIMIT and so on; that of the
    scenarios is CHAOSPROXY_SCENARIO. Several values stand with blanks between them. The command line wins.
    """
    with Ends() as ends:
        return _run(ends, given)


def _run(ends: Ends, given: dict[str, object]) -> int:
    gc.disable()  # what is loaded stays: each collection would look through all of it, and find nothing
    from chaosproxy.cli.serving import serve  # noqa: PLC0415 - trio is loaded by whoever needs it

    gc.freeze()
    gc.enable()
    options = RunOptions(**given)  # type: ignore[arg-type] # click has checked each
    if not options.upstream:
        raise UsageError("run needs --upstream URL (or CHAOSPROXY_UPSTREAM), the server behind it: http://HOST:PORT")
    if options.ca_out and options.tls != "auto":
        raise UsageError("--ca-out goes with --tls auto")
    check_ready(options.ready_file)
    if options.report:
        from chaosproxy.cli.saving import check_reports  # noqa: PLC0415 - loaded by whoever wants a report

        check_reports(options.report)
    return serve(options, ends)
