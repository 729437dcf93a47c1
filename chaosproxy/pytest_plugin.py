"""The pytest plugin: a proxy per test, any number of them, or one for the session; what it saw, where a test fails.

Rules: a suite that does not use it pays for nothing but this file; whatever is wrong with a marker or a scenario is one
message, without a traceback of ours. Must not know: how a proxy runs.
"""

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from chaosproxy.errors import Error

if TYPE_CHECKING:
    from chaosproxy.embedded.served import ServedProxy

OPTIONS = ("upstream", "speed", "seed", "tls", "upstream_ca", "upstream_insecure")
"""Of `serve`, those that a marker may give."""
MARKER = f"""chaosproxy(scenario=None, *, {", ".join(OPTIONS)}, sdk_env=False): the proxy of this test: \
what it does to streams, and where it leads; sdk_env: the environment leads the OpenAI, Anthropic and Ollama clients to it"""
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")

_PROXIES = pytest.StashKey[list["ServedProxy"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("chaosproxy").addoption(
        "--chaosproxy-upstream",
        action="append",
        metavar="URL",
        help="where the proxies of tests lead that do not say it themselves; repeated: round robin "
        "(default: the ini key chaosproxy_upstream, else the embedded origin)",
    )
    parser.addini("chaosproxy_upstream", "as --chaosproxy-upstream; several are separated by blanks", type="args")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A marker is enough for a proxy; and the proxy comes first, so that every fixture meets its environment."""
    names: list[str] | None = getattr(item, "fixturenames", None)
    if names is None:
        return
    if "chaosproxy_session" in names:
        first = "_chaosproxy_session_test"
    elif item.get_closest_marker("chaosproxy"):
        first = "chaosproxy"
    else:
        return
    with contextlib.suppress(ValueError):  # the test may name it itself
        names.remove(first)
    names.insert(0, first)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where it fails, with what its proxies saw."""
    report = yield
    if report.failed:
        for proxy in item.stash.get(_PROXIES, []):
            report.sections.append((f"chaosproxy {proxy.about}", proxy.timeline() or "no request has come"))
    return report


@pytest.fixture
def chaosproxy(request: pytest.FixtureRequest) -> Iterator["ServedProxy"]:
    """A proxy of this test's own on a free port, as its marker says; without one it is transparent."""
    asked = _Asked.of(request.node)
    with _opened(request.config, asked.scenario, asked.options) as proxy:
        _remember(request.node, proxy)
        if asked.sdk_env:
            _lead_sdks(request.getfixturevalue("monkeypatch"), proxy.url)
        yield proxy


@pytest.fixture
def chaosproxy_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., "ServedProxy"]]:
    """`chaosproxy_factory(scenario, upstream=...)`, with the arguments of `serve`: a further proxy, closed behind the test."""
    from chaosproxy.embedded.served import serve  # noqa: PLC0415 - a proxy is loaded by whoever needs one

    with contextlib.ExitStack() as stack:

        def make(scenario: Any = None, **options: Any) -> "ServedProxy":
            __tracebackhide__ = True
            proxy = stack.enter_context(serve(scenario, **_with_upstream(request.config, options)))
            _remember(request.node, proxy)
            return proxy

        yield make


@pytest.fixture(scope="session")
def chaosproxy_session(request: pytest.FixtureRequest) -> Iterator["ServedProxy"]:
    """One proxy for the whole session: transparent until a test's marker, or `use`, says otherwise. Each test begins
    without exchanges; its marker is in force for it alone."""
    with _opened(request.config, None, {}) as proxy:
        yield proxy


@pytest.fixture
def _chaosproxy_session_test(request: pytest.FixtureRequest, chaosproxy_session: "ServedProxy") -> Iterator[None]:
    """What the session's proxy is for one test."""
    asked = _Asked.of(request.node)
    if asked.options:
        raise _wrong(
            f"{next(iter(asked.options))} is settled for the session's proxy; its marker takes a scenario and sdk_env"
        )
    chaosproxy_session.clear()
    _remember(request.node, chaosproxy_session)
    with contextlib.ExitStack() as stack:
        if asked.given:
            with _said_plainly():
                stack.enter_context(chaosproxy_session.using(asked.scenario))
        if asked.sdk_env:
            _lead_sdks(request.getfixturevalue("monkeypatch"), chaosproxy_session.url)
        yield


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the markers of a test say together, those of its module and class too; of each argument the nearest counts."""

    given: bool
    """A scenario is named, None too."""
    scenario: Any
    options: Mapping[str, Any]
    sdk_env: bool

    @classmethod
    def of(cls, item: pytest.Item) -> "_Asked":
        said: dict[str, Any] = {}
        for marker in item.iter_markers("chaosproxy"):  # the nearest first
            said = _arguments(marker) | said
        given = "scenario" in said
        return cls(given, said.pop("scenario", None), sdk_env=said.pop("sdk_env", False), options=said)


def _arguments(marker: pytest.Mark) -> dict[str, Any]:
    said = dict(marker.kwargs)
    if len(marker.args) + ("scenario" in said) > 1:
        raise _wrong("the marker takes one scenario, and everything else by its name")
    if marker.args:
        said["scenario"] = marker.args[0]
    for name in said:
        if name not in {"scenario", *OPTIONS, "sdk_env"}:
            raise _wrong(f"the marker has no argument {name!r}; there are: scenario, {', '.join(OPTIONS)}, sdk_env")
    if not isinstance(said.get("sdk_env", False), bool):
        raise _wrong(f"sdk_env is True or False; found {said['sdk_env']!r}")
    return said


@contextlib.contextmanager
def _opened(config: pytest.Config, scenario: object, options: Mapping[str, Any]) -> Iterator["ServedProxy"]:
    from chaosproxy.embedded.served import serve  # noqa: PLC0415 - a proxy is loaded by whoever needs one

    with contextlib.ExitStack() as stack:
        with _said_plainly():
            proxy = stack.enter_context(serve(scenario, **_with_upstream(config, options)))  # type: ignore[arg-type] # checked by it
        yield proxy


@contextlib.contextmanager
def _said_plainly() -> Iterator[None]:
    """An error of ours becomes one message."""
    try:
        yield
    except Error as error:
        raise _wrong(str(error)) from None


def _with_upstream(config: pytest.Config, options: Mapping[str, Any]) -> dict[str, Any]:
    """The test's own upstream, else the command line's, else the ini file's, else the embedded origin."""
    configured = config.getoption("chaosproxy_upstream") or config.getini("chaosproxy_upstream") or None
    return {"upstream": configured, **options}


def _wrong(message: str) -> BaseException:
    return pytest.fail.Exception(f"chaosproxy: {message}", pytrace=False)


def _remember(item: pytest.Item, proxy: "ServedProxy") -> None:
    item.stash.setdefault(_PROXIES, []).append(proxy)


def _lead_sdks(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """The official clients take these by themselves. A key that is there is kept: the upstream may be a real one."""
    monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    monkeypatch.setenv("OLLAMA_HOST", url)
    for key in KEYS:
        if not os.environ.get(key):
            monkeypatch.setenv(key, "chaosproxy")
