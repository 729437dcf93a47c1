"""`python -m tests.security.differential`: what real proxies make of the odd requests, beside ours.

Each request goes, with `NEXT` behind it, to each program over a connection of its own; an origin that forgives nothing says
what it was asked. Ours refuses, or does as the strictest of them, or `reasons.yaml` says why. Writes the rows of the
section `differential`: the statuses that there were, with `+` where the origin was asked, and `malformed` where it could
not read what it was asked. Exit status 1 where no reason is given.
"""

import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import trio
import yaml

from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import proxy_on
from tests.differential.launch import MissingError, Running, find
from tests.differential.programs import PROGRAMS
from tests.security.corpus import NEXT, REFUSED, Odd
from tests.security.reading import read_answers
from tests.security.rows import Row, keep
from tests.security.served import SERVED
from tests.security.strict import Asked, StrictOrigin

OTHERS = ("nginx-1.22", "nginx-1.31", "haproxy-2.6", "haproxy-2.8", "caddy-2.6", "caddy-2.11", "envoy-1.40")
OURS = "chaosproxy"
PATIENCE = 0.5
"""Seconds without an answer: none will come."""
SETTLED = 0.01
REASONS: Mapping[str, str] = yaml.safe_load((Path(__file__).parent / "reasons.yaml").read_text(encoding="utf-8"))
"""Of requests that we serve and others refuse."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one proxy made of one request."""

    status: int | None
    """Of the first answer; None: there was none."""
    asked: tuple[Asked, ...]
    """What the origin was asked."""
    unreadable: bool
    """The origin was told what it could not read."""

    @property
    def forwarded(self) -> bool:
        return bool(self.asked) or self.unreadable

    def __str__(self) -> str:
        said = "no answer" if self.status is None else str(self.status)
        return said + "+" * self.forwarded + " malformed" * self.unreadable


Verdicts = dict[str, Verdict]


async def judged(port: int, origin: StrictOrigin, requests: Mapping[str, bytes], patience: float) -> Verdicts:
    """What whoever listens on `port` makes of each of `requests`."""
    found = {}
    for name, data in requests.items():
        async with await RawClient.connect("127.0.0.1", port) as client:
            with contextlib.suppress(ConnectionError), trio.move_on_after(patience):
                await client.send(data + NEXT)
                while not _over(client.received) and await client.read():
                    pass
        await trio.sleep(SETTLED)
        final = [answer.status for answer in read_answers(client.received)[0] if answer.status >= 200]
        (asked, _), wrong, origin.wrong = origin.take(), origin.wrong, []
        found[name] = Verdict(final[0] if final else None, tuple(asked), bool(wrong))
    return found


def _over(received: bytes) -> bool:
    """Nothing further is to be waited for."""
    whole = [answer for answer in read_answers(received)[0] if answer.status >= 200 and answer.whole]
    return len(whole) > 1 or (bool(whole) and b"connection: close" in whole[0].fields)


@contextlib.asynccontextmanager
async def running(name: str, port: int, place: Path) -> AsyncIterator[int]:
    """Where it listens, in front of an origin on `port`."""
    if name == OURS:
        async with proxy_on(None, f"http://127.0.0.1:{port}") as proxied:
            yield proxied.port
        return
    folder = place / name
    folder.mkdir()
    folder.chmod(0o755)  # some programs give up their rights
    program = Running(PROGRAMS[name], port, {"s": ""}, folder)
    try:
        await trio.to_thread.run_sync(program.start)
        yield program.ports["s"].h1
    finally:
        with trio.CancelScope(shield=True):  # whatever has gone wrong, no program stays behind
            await trio.to_thread.run_sync(program.stop)


async def compared(
    names: Iterable[str], requests: Mapping[str, bytes], place: Path, patience: float = PATIENCE
) -> dict[str, Verdicts]:
    """What each of these programs makes of them, all at once."""
    found: dict[str, Verdicts] = {}

    async def one(name: str) -> None:
        origin = StrictOrigin()
        async with listening(origin.serve) as port, running(name, port, place) as ours:
            origin.take()  # what it was asked while we waited for the program
            found[name] = await judged(ours, origin, requests, patience)

    async with trio.open_nursery() as nursery:
        for name in names:
            nursery.start_soon(one, name)
    return found


def unexplained(odd: Odd, found: Mapping[str, Verdicts]) -> list[str]:
    """Where we forward what another refuses, or something else than another, and no reason is given."""
    problems = []
    for name in odd.requests:
        ours = found[OURS][name]
        if not ours.forwarded:
            continue
        others = {program: verdicts[name] for program, verdicts in found.items() if program != OURS}
        apart = [f"{program} {one}" for program, one in others.items() if not _alike(ours, one)]
        if (apart and name not in REASONS) or ours.unreadable:
            problems.append(f"{odd.name}, {name}: ours {ours}; {', '.join(apart)}")
    return problems


def _alike(ours: Verdict, other: Verdict) -> bool:
    """The other one lets it pass as well, as the same request."""
    first = [(one.asked[0].method, one.asked[0].body) for one in (ours, other) if one.asked]
    return len(first) == 2 and first[0] == first[1]


def row(odd: Odd, found: Mapping[str, Verdicts]) -> Row:
    """Of one class: the verdicts of each program, those of two versions in one where they agree."""
    said = {
        program: ", ".join(sorted({str(verdicts[name]) for name in odd.requests}))
        for program, verdicts in found.items()
    }
    vendors: dict[str, dict[str, str]] = {}
    for program, text in said.items():
        vendors.setdefault(program.partition("-")[0], {})[program] = text
    parts = []
    for vendor, texts in vendors.items():
        if len(set(texts.values())) == 1:
            parts.append(f"{vendor}: {next(iter(texts.values()))}")
        else:
            parts += [f"{program}: {text}" for program, text in texts.items()]
    why = dict.fromkeys(REASONS[name] for name in odd.requests if name in REASONS)
    return Row(
        name=odd.name,
        tried=len(odd.requests),
        must="refused" if odd.status else "as the strictest of them, or for a reason",
        happens="; ".join(parts) + (f". Why: {'; '.join(why)}" if why else ""),
        by="python -m tests.security.differential",
    )


def installed() -> tuple[list[str], list[str]]:
    """Those of the others that are here, and why the rest is not."""
    here, missing = [], []
    for name in OTHERS:
        try:
            find(PROGRAMS[name])
        except MissingError as error:
            missing.append(str(error))
        else:
            here.append(name)
    return here, missing


def main() -> int:
    here, missing = installed()
    print("\n".join(missing), file=sys.stderr)
    classes = (*REFUSED, *SERVED)
    requests = {name: data for odd in classes for name, data in odd.requests.items()}
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        found = trio.run(compared, (OURS, *here), requests, Path(place))
    found = {name: found[name] for name in (OURS, *here)}
    problems = [problem for odd in classes for problem in unexplained(odd, found)]
    for odd in classes:
        one = row(odd, found)
        print(f"{one.name} | {one.tried} | {one.happens}")
        if not missing:
            keep("differential", one)
    print("\n".join(problems), file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
