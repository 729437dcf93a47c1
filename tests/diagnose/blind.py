"""Real machines, each with its settings, between a server and a client: what `diagnose` says of them without a hint.

`python -m tests.diagnose.blind` runs all of them and writes the table into docs/find-the-buffering.md. Each case is a
diagnosis of its own, told nothing but the URLs; what is right stands here, and is compared with what it says.
"""

import contextlib
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import starlette
import trio
import uvicorn

from chaosproxy.diagnose.assess import Report, assess
from chaosproxy.diagnose.causes import Cause
from chaosproxy.diagnose.measure import Plan, measure
from chaosproxy.diagnose.question import Question, hops
from chaosproxy.diagnose.telling import told
from chaosproxy.origin.serving import OriginOptions, serving
from tests.diagnose.applications import APPLICATIONS
from tests.differential.launch import MissingError, Ports, Running, find, version_of
from tests.differential.programs import ENVOY_GZIP, PROGRAMS
from tests.interop.applications import served

PAGE = Path(__file__).parents[2] / "docs" / "find-the-buffering.md"
TABLE = re.compile(r"(?<=<!-- blind -->\n).*?(?=<!-- /blind -->)", re.DOTALL)
TOGETHER = 4
"""Diagnoses at a time."""
KEEP = 'proxy_http_version 1.1;\nproxy_set_header Connection "";'
GZIP = "gzip on;\ngzip_types text/event-stream;"
COMPRESSION = "compression algo gzip\ncompression type text/event-stream"


@dataclass(frozen=True, slots=True)
class Case:
    """One machine in front of the embedded origin, or one application alone."""

    program: str
    """By the name of its preset; "" for an application."""
    setting: str
    """As it stands in its configuration; an application's name."""
    right: Cause | None
    """What breaks the stream; None: nothing does."""
    path: str = "/sse"
    outside: tuple[str, str] | None = None
    """A further program in front of it, with its setting, which gathers nothing; unless"""
    guilty: int = 0
    """it is the one that does: the number of the hop, where it is not the outermost but for `outside`."""
    h2: bool = False
    """Asked over HTTP/2."""
    stranger: bool = False
    """Not the embedded origin is behind it, but an application that nobody can ask for another pace."""
    alone: bool = False
    """Only the outermost is asked."""

    @property
    def hop(self) -> int | None:
        """The one to be named."""
        if self.right is None:
            return None
        return self.guilty or (2 if self.program and not self.alone else 1)

    @property
    def setting_to_change(self) -> str:
        """What has to be among what is said to mend it."""
        program = self.program if self.outside is None or not self.guilty else self.outside[0]
        return MENDS[program.rpartition("-")[0], self.right] if self.right is not None else ""

    @property
    def machine(self) -> str:
        """What is asked of, as the table has it."""
        names = [_title(self.program)] if self.program else ["Starlette"]
        if self.stranger:
            kinds = {"/sse": "events", "/lines": "lines", "/file": "text of known length"}
            names[0] += f", {'only itself asked' if self.alone else 'another server'}, {kinds[self.path]}"
        if self.outside is not None:
            names.append(_title(self.outside[0]))
        return ", then ".join(names) + (" (HTTP/2)" if self.h2 else "")

    @property
    def settings(self) -> str:
        """The same of its settings."""
        if not self.program:
            kind = "" if self.path == "/sse" else ", lines"
            return (f"a middleware that {self.setting}" if self.setting in TOLD else f"`{WORDS[self.setting]}`") + kind
        said = [self.setting, *([] if self.outside is None else [self.outside[1]])]
        return ", then ".join(f"`{_line(one)}`" if one else "defaults" for one in said)


MENDS = {
    ("nginx", Cause.BUFFER): "proxy_buffering off;",
    ("nginx", Cause.COMPRESSION): "gzip_types",
    ("haproxy", Cause.CORK): "option http-no-delay",
    ("haproxy", Cause.BEHIND): "compression type",
    ("caddy", Cause.COMPRESSION): "encode",
    ("caddy", Cause.BUFFER): "flush_interval -1",
    ("traefik", Cause.WHOLE): "`buffering` middleware",
    ("traefik", Cause.INTERVAL): "flushInterval: -1",
    ("varnish", Cause.WHOLE): "do_stream",
    ("varnish", Cause.COMPRESSION): "do_gzip = false",
    ("lighttpd", Cause.WHOLE): "server.stream-response-body",
    ("", Cause.BUFFER): "write and flush each event by itself",
    ("", Cause.WHOLE): "no middleware that reads the whole body",
    ("", Cause.COMPRESSION): "GZip middleware",
}
TOLD = {"gathers", "compresses", "passes", "writes blocks of 4 KiB", "writes blocks of 2 KiB"}
WORDS = {"plain": "StreamingResponse", "gzip": "GZipMiddleware"}


def _title(program: str) -> str:
    name, _, version = program.rpartition("-")
    return f"{NAMES.get(name, name)} {version}"


NAMES = {
    "haproxy": "HAProxy",
    "apache": "Apache",
    "caddy": "Caddy",
    "traefik": "Traefik",
    "envoy": "Envoy",
    "varnish": "Varnish",
    "squid": "Squid",
}


def _line(setting: str) -> str:
    """A setting on one line."""
    if setting == ENVOY_GZIP:
        return "compressor gzip"
    return " ".join(setting.split()).replace(' proxy_set_header Connection "";', "")


CASES = (
    Case("nginx-1.22", "", Cause.BUFFER),
    Case("nginx-1.22", "proxy_buffer_size 8k;\nproxy_buffers 8 8k;", Cause.BUFFER),
    Case("nginx-1.22", KEEP, None),
    Case("nginx-1.22", "proxy_buffering off;", None),
    Case("nginx-1.22", f"{KEEP}\n{GZIP}", Cause.COMPRESSION),
    Case("nginx-1.22", f"proxy_buffering off;\n{GZIP}", None),
    Case("nginx-1.31", "", None),
    Case("nginx-1.31", GZIP, Cause.COMPRESSION),
    Case("nginx-1.31", "proxy_http_version 1.0;", Cause.BUFFER),
    Case("haproxy-2.6", "", Cause.CORK),
    Case("haproxy-2.6", "option http-no-delay", None),
    Case("haproxy-2.6", COMPRESSION, Cause.CORK),
    Case("haproxy-2.6", f"option http-no-delay\n{COMPRESSION}", Cause.BEHIND),
    Case("haproxy-2.8", "", Cause.CORK),
    Case("haproxy-2.8", "option http-no-delay", None),
    Case("apache-2.4", "", None),
    Case("apache-2.4", "AddOutputFilterByType DEFLATE text/event-stream", None),
    Case("caddy-2.6", "", None),
    Case(
        "caddy-2.6",
        "encode gzip {\nminimum_length 1\nmatch header Content-Type text/event-stream*\n}",
        Cause.COMPRESSION,
    ),
    Case("caddy-2.11", "", None),
    Case("traefik-3", "", None),
    Case("traefik-3", "middleware: {buffering: {maxResponseBodyBytes: 10000000}}", Cause.WHOLE),
    Case("envoy-1.40", "", None),
    Case("envoy-1.40", ENVOY_GZIP, None),
    Case("varnish-7", "", None),
    Case("varnish-7", 'response: "set beresp.do_stream = false;"', Cause.WHOLE),
    Case("varnish-7", 'response: "set beresp.do_gzip = true;"', Cause.COMPRESSION),
    Case("lighttpd-1.4", "", Cause.WHOLE),
    Case("lighttpd-1.4", "server.stream-response-body = 1", None),
    Case("h2o-2.2", "", None),
    Case("nghttpx-1.52", "", None),
    Case("squid-5", "", None),
    Case("nginx-1.22", "", Cause.BUFFER, h2=True),
    Case("haproxy-2.6", "", None, h2=True),
    Case("lighttpd-1.4", "", Cause.WHOLE, h2=True),
    Case("nginx-1.22", "", Cause.BUFFER, outside=("haproxy-2.6", "option http-no-delay")),
    Case("haproxy-2.6", "", Cause.CORK, outside=("nginx-1.22", "proxy_buffering off;")),
    Case("nginx-1.22", "proxy_buffering off;", Cause.CORK, outside=("haproxy-2.6", ""), guilty=3),
    Case("envoy-1.40", "", Cause.COMPRESSION, outside=("nginx-1.22", f"{KEEP}\n{GZIP}"), guilty=3),
    Case("nginx-1.22", "", Cause.BUFFER, stranger=True),
    Case("nginx-1.22", "", Cause.BUFFER, "/lines", stranger=True, alone=True),
    Case("nginx-1.22", "proxy_buffering off;", None, "/lines", stranger=True, alone=True),
    Case("nginx-1.31", GZIP, Cause.COMPRESSION, stranger=True),
    Case("nginx-1.31", GZIP, Cause.COMPRESSION, stranger=True, alone=True),
    Case("haproxy-2.6", "", Cause.CORK, "/lines", stranger=True),
    Case("haproxy-2.6", "", Cause.CORK, stranger=True, alone=True),
    Case("traefik-3", "", Cause.INTERVAL, "/file", stranger=True),
    Case("caddy-2.11", "", Cause.BUFFER, "/file", stranger=True),
    Case("caddy-2.11", "reverse_proxy UPSTREAM {\nflush_interval -1\n}", None, "/file", stranger=True),
    Case("varnish-7", 'response: "set beresp.do_stream = false;"', Cause.WHOLE, stranger=True, alone=True),
    Case("lighttpd-1.4", "", Cause.WHOLE, "/lines", stranger=True),
    Case("", "plain", None),
    Case("", "passes", None),
    Case("", "gathers", Cause.WHOLE),
    Case("", "gathers", Cause.WHOLE, "/lines"),
    Case("", "writes blocks of 4 KiB", Cause.BUFFER),
    Case("", "writes blocks of 2 KiB", Cause.BUFFER),
    Case("", "compresses", Cause.COMPRESSION),
    Case("", "compresses", Cause.COMPRESSION, "/lines"),
    Case("", "gzip", None, "/lines"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was said of a case."""

    case: Case
    report: Report
    version: str

    @property
    def said(self) -> Cause | None:
        broken = self.report.broken
        return broken.finding.cause if broken is not None and broken.finding is not None else None

    @property
    def right(self) -> bool:
        """The cause, and the hop: the outermost is the one in question."""
        return (
            self.said is self.case.right
            and self.hop == self.case.hop
            and (self.said is None or self.case.setting_to_change in told(self.report).mend)
        )

    @property
    def hop(self) -> int | None:
        broken = self.report.broken
        return None if broken is None else broken.number

    @property
    def row(self) -> str:
        """Of the table."""
        right, said = (_said(cause, hop) for cause, hop in ((self.case.right, self.case.hop), (self.said, self.hop)))
        return (
            f"| {self.case.machine} | {self.case.settings} | {right} | {said} | {'yes' if self.right else '**no**'} |"
        )


def _said(cause: Cause | None, hop: int | None) -> str:
    return "nothing" if cause is None else f"hop {hop}: {cause.value}"


@contextlib.contextmanager
def running(program: str, settings: Sequence[str], upstream: str, place: Path) -> Iterator[list[Ports]]:
    """Where each setting is listened to. MissingError if the program is not there."""
    place.mkdir()
    place.chmod(0o755)
    port = int(upstream.rpartition(":")[2])
    named = {f"s{number}": setting for number, setting in enumerate(settings)}
    started = Running(PROGRAMS[program], port, named, place)
    try:
        started.start()
        yield [started.ports[name] for name in named]
    finally:
        started.stop()


@contextlib.contextmanager
def everything(cases: Sequence[Case]) -> Iterator[tuple[dict[Case, list[str]], dict[str, str]]]:
    """The URLs of each case whose program is there, innermost first; and of those that are not, what is missing."""
    urls: dict[Case, list[str]] = {}
    missing: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place.chmod(0o755)  # some programs give up their rights, and read their files then
        embedded = stack.enter_context(serving(OriginOptions(slots=200))).url
        stranger = stack.enter_context(served(APPLICATIONS["plain"]))
        for program, strange in dict.fromkeys((case.program, case.stranger) for case in cases):
            mine = [case for case in cases if (case.program, case.stranger) == (program, strange)]
            origin = stranger if strange else embedded
            if not program:
                for case in mine:
                    urls[case] = [stack.enter_context(served(APPLICATIONS[case.setting])) + case.path]
                continue
            try:
                settings = [case.setting for case in mine]
                found = stack.enter_context(running(program, settings, origin, place / f"{program}{strange}"))
                for number, (case, ports) in enumerate(zip(mine, found, strict=True)):
                    chain = [f"{origin}{case.path}", f"{_url(ports, h2=case.h2)}{case.path}"]
                    if case.outside is not None:
                        name, setting = case.outside
                        folder = place / f"{program}-{number}-{name}"
                        (outer,) = stack.enter_context(running(name, [setting], _url(ports), folder))
                        chain.append(_url(outer))
                    urls[case] = chain[1:] if case.alone else chain
            except MissingError as error:
                missing[program] = str(error)
        yield urls, missing


def _url(ports: Ports, *, h2: bool = False) -> str:
    return f"h2c://127.0.0.1:{ports.h2}" if h2 else f"http://127.0.0.1:{ports.h1}"


async def diagnosed(urls: Mapping[Case, Sequence[str]], times: int, jobs: int) -> list[Outcome]:
    """Each by itself, a few at a time."""
    seen: dict[Case, Report] = {}
    limiter = trio.CapacityLimiter(TOGETHER)

    async def one(case: Case) -> None:
        async with limiter:
            plan = Plan(hops=hops(urls[case]), question=Question("GET"), times=times, jobs=jobs, leaves=False)
            seen[case] = assess(await measure(plan))

    async with trio.open_nursery() as nursery:
        for case in urls:
            nursery.start_soon(one, case)
    return [Outcome(case, seen[case], _version(case.program)) for case in CASES if case in seen]


def _version(name: str) -> str:
    return version_of(PROGRAMS[name], find(PROGRAMS[name])) if name else ""


def main() -> int:
    chosen = [case for case in CASES if case.stranger] if "strangers" in sys.argv else CASES
    with everything(chosen) as (urls, missing):
        outcomes = trio.run(diagnosed, urls, 3, 3)
    for outcome in outcomes:
        print(outcome.row)
    for reason in missing.values():
        print("missing:", reason, file=sys.stderr)
    if not missing and chosen is CASES:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(TABLE.sub(lambda _: table(outcomes), page), encoding="utf-8")
    return bool(missing)


def table(outcomes: Sequence[Outcome]) -> str:
    """What stands in the page."""
    versions = ", ".join(
        dict.fromkeys(
            f"{outcome.case.program.rpartition('-')[0]} {outcome.version}" for outcome in outcomes if outcome.version
        )
    )
    right = sum(outcome.right for outcome in outcomes)
    rows = "\n".join(outcome.row for outcome in outcomes)
    return (
        f"{right} of {len(outcomes)} named the right hop, the right cause and the setting that mends it, or rightly none. The programs: {versions}; "
        f"Starlette {starlette.__version__} on uvicorn {uvicorn.__version__}.\n\n"
        f"| machine | settings | what breaks the stream | what was said | right |\n|---|---|---|---|---|\n{rows}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
