"""What `serve` and `open_proxy` are asked for, checked when they are called: nothing is opened yet.

Must not know: threads, sockets.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from chaosproxy.embedded.linked import Serve
from chaosproxy.embedded.parts import Parts
from chaosproxy.errors import Problem, ScenarioError, UsageError
from chaosproxy.model.mask import masked_address
from chaosproxy.model.units import SPEEDS, is_speed
from chaosproxy.scenario.schema import TRANSPARENT, Scenario

FilePath = str | Path
Source = FilePath | Mapping[str, Any]
"""A name, a path, YAML text, or the same structure as a mapping."""
Several = str | Iterable[str]
"""One or several."""
KEPT = 10_000
"""How many finished exchanges are kept unless said otherwise: more than a test makes, and a limit all the same."""
Tls = Literal["auto"] | tuple[FilePath, FilePath]
"""A throw-away CA, or the files of a certificate and its key."""


def read(source: Source | None) -> Scenario:
    """The scenario meant; None is transparent. ScenarioError with every problem in it."""
    if source is None:
        return TRANSPARENT
    if not isinstance(source, str | Path | Mapping):
        found = type(source).__name__
        raise ScenarioError([Problem(f"a scenario is a name, a path, YAML text or a mapping; found {found}")])
    from chaosproxy.scenario.load import load  # noqa: PLC0415 - pydantic is loaded by whoever has a scenario

    return replace(load(source), given=source)


@dataclass(frozen=True, slots=True)
class Options:
    """As `serve` documents them, defaults too."""

    upstream: Several | None
    listen: Several
    seed: int | None
    speed: float
    tls: Tls | None
    upstream_ca: FilePath | None
    upstream_insecure: bool
    journal: FilePath | None
    journal_limit: int


@dataclass(frozen=True, slots=True)
class Setup:
    """A proxy that may be opened."""

    scenario: Scenario
    parts: Parts
    """With no upstream: the embedded origin is to be started."""
    speed: float
    journal: Path | None
    journal_limit: int
    serve: Serve | None
    """The upstream, where it is a function."""

    @classmethod
    def of(cls, scenario: Source | None, options: Options, serve: Serve | None = None) -> "Setup":
        """ScenarioError, or UsageError naming the option that is wrong."""
        speed, seed = options.speed, options.seed
        if not isinstance(speed, int | float) or not is_speed(speed):
            raise UsageError(f"speed {speed!r}: write {SPEEDS}")
        if seed is not None and not isinstance(seed, int):
            raise UsageError(f"seed {seed!r}: write a whole number")
        limit = options.journal_limit
        if not isinstance(limit, int) or limit < 1:
            raise UsageError(f"journal_limit {limit!r}: write a whole number above 0")
        parts = Parts(
            () if options.upstream is None else _texts("upstream", options.upstream),
            listen=_texts("listen", options.listen),
            seed=seed,
            speed=speed,
            tls=_tls(options.tls),
            upstream_ca=_path("upstream_ca", options.upstream_ca),
            upstream_insecure=options.upstream_insecure,
            spelt=str,
        )
        return cls(read(scenario), parts, speed, _path("journal", options.journal), limit, serve)


def _texts(name: str, given: Several) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if callable(given):
        raise UsageError(f"{name}: a function serves in the Trio run of `open_proxy`; here write a URL, or several")
    if not texts or not all(isinstance(text, str) for text in texts):
        shown = [masked_address(text) if isinstance(text, str) else text for text in texts]
        raise UsageError(f"{name} {shown[0] if shown == [given] else shown!r}: write one string, or several")
    return texts


def _path(name: str, given: FilePath | None) -> Path | None:
    if given is not None and not isinstance(given, str | Path):
        raise UsageError(f"{name} {given!r}: write a path")
    return None if given is None else Path(given)


def _tls(given: Tls | None) -> str | None:
    """As the command line has it."""
    if given is None or given == "auto":
        return given
    if not isinstance(given, tuple) or len(given) != 2 or not all(isinstance(one, str | Path) and one for one in given):
        raise UsageError(f'tls {given!r}: write "auto", or (certificate, key), two files')
    return f"{given[0]}:{given[1]}"
