"""The pytest plugin: a proxy per test, any number of them, or one for the session; what it saw, where a test fails.

Rules: a suite that does not use it pays for nothing but these files; whatever is wrong with a marker or a scenario is one
message, without a traceback of ours; what a scenario expects fails its test without being asked for. Must not know: how
a proxy runs.
"""

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from chaosproxy.errors import Error
from chaosproxy.pytest_plugin.environment import lead_sdks
from chaosproxy.pytest_plugin.marker import MARKER, Asked, wrong
from chaosproxy.pytest_plugin.watch import FAILED, PASSED, begin, sections, watching

if TYPE_CHECKING:
    from chaosproxy.embedded.served import ServedProxy


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("chaosproxy")
    group.addoption(
        "--chaosproxy-upstream",
        action="append",
        metavar="URL",
        help="where the proxies of tests lead that do not say it themselves; repeated: round robin "
        "(default: the ini key chaosproxy_upstream, else the embedded origin)",
    )
    group.addoption(
        "--chaosproxy-report",
        metavar="DIR",
        help="a folder for what the proxies of failed tests have seen (default: the ini key chaosproxy_report, else none)",
    )
    parser.addini("chaosproxy_upstream", "as --chaosproxy-upstream; several are separated by blanks", type="args")
    parser.addini("chaosproxy_report", "as --chaosproxy-report, from this file's place", type="string", default="")
    parser.addini(
        "chaosproxy_scenario",
        "what chaosproxy_session does where no marker says it: scenarios side by side, each with its `mount`",
        type="string",
        default="",
    )
    parser.addini(
        "chaosproxy_sdk_env", "sdk_env for all tests whose marker does not say it", type="bool", default=False
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A marker is enough for a proxy; and proxies come first, so that every fixture meets their environment, and go last."""
    names: list[str] | None = getattr(item, "fixturenames", None)
    if names is None:
        return
    wanted: list[str] = [name for name in ("chaosproxy", "chaosproxy_factory") if name in names]
    if "chaosproxy_session" in names:
        wanted.insert(0, "_chaosproxy_session_test")
    elif not wanted and item.get_closest_marker("chaosproxy"):
        wanted.append("chaosproxy")
    names[:] = [*wanted, *(name for name in names if name not in wanted)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that is run again begins anew."""
    begin(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around whatever else changes a report
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where it fails, with what its proxies saw."""
    report = yield
    if call.when == "call":
        item.stash[PASSED] = call.excinfo is None
    if report.failed:
        item.stash[FAILED] = True
        report.sections += sections(item)
    return report


@pytest.fixture
def chaosproxy(request: pytest.FixtureRequest) -> Iterator["ServedProxy"]:
    """A proxy of this test's own on a free port, as its marker says; without one it is transparent."""
    asked = Asked.of(request.node)
    with (
        watching(request.node, judge=asked.judge) as watch,
        _opened(request.config, asked.scenario, asked.options) as proxy,
    ):
        watch.add(proxy)
        _lead(request, asked, proxy)
        yield proxy
        watch.settle()


@pytest.fixture
def chaosproxy_factory(request: pytest.FixtureRequest) -> Iterator[Callable[..., "ServedProxy"]]:
    """`chaosproxy_factory(scenario, upstream=...)`, with the arguments of `serve`: a further proxy, closed behind the test."""
    from chaosproxy.embedded.served import serve  # noqa: PLC0415 - a proxy is loaded by whoever needs one

    judge = Asked.of(request.node).judge
    with watching(request.node, judge=judge) as watch, contextlib.ExitStack() as stack:

        def make(scenario: Any = None, **options: Any) -> "ServedProxy":
            __tracebackhide__ = True
            proxy = stack.enter_context(serve(scenario, **_with_upstream(request.config, options)))
            watch.add(proxy)
            return proxy

        yield make
        watch.settle()


@pytest.fixture(scope="session")
def chaosproxy_session(request: pytest.FixtureRequest) -> Iterator["ServedProxy"]:
    """One proxy for the whole session: it does what the ini key `chaosproxy_scenario` says, or nothing, until a test's
    marker, or `use`, says otherwise. Each test begins without exchanges; its marker is in force for it alone."""
    said: str = request.config.getini("chaosproxy_scenario")
    file = request.config.rootpath / said  # wherever pytest was started
    with _opened(request.config, file if file.is_file() else said or None, {}) as proxy:
        yield proxy


@pytest.fixture
def _chaosproxy_session_test(request: pytest.FixtureRequest, chaosproxy_session: "ServedProxy") -> Iterator[None]:
    """What the session's proxy is for one test."""
    asked = Asked.of(request.node)
    if asked.options:
        raise wrong(
            f"{next(iter(asked.options))} is settled for the session's proxy; its marker takes a scenario, mount, sdk_env and judge"
        )
    chaosproxy_session.clear()
    # What is not of this test's own choice may expect things of other tests: only what contradicts it counts here.
    watch = watching(request.node, judge=asked.judge, strict=asked.given)
    with contextlib.ExitStack() as stack, watch as watched:
        watched.add(chaosproxy_session)
        if asked.given:
            with _said_plainly():
                stack.enter_context(chaosproxy_session.using(asked.scenario))
        _lead(request, asked, chaosproxy_session)
        yield
        watched.settle()


@contextlib.contextmanager
def _opened(config: pytest.Config, scenario: object, options: Mapping[str, Any]) -> Iterator["ServedProxy"]:
    from chaosproxy.embedded.served import serve  # noqa: PLC0415 - a proxy is loaded by whoever needs one

    with contextlib.ExitStack() as stack:
        with _said_plainly():
            proxy = stack.enter_context(serve(scenario, **_with_upstream(config, options)))  # type: ignore[arg-type] # checked by it
        yield proxy


@contextlib.contextmanager
def _said_plainly() -> Iterator[None]:
    """An error of ours, or of what the ini file says, becomes one message."""
    try:
        yield
    except (Error, pytest.UsageError) as error:
        raise wrong(str(error)) from None


def _with_upstream(config: pytest.Config, options: Mapping[str, Any]) -> dict[str, Any]:
    """The test's own upstream, else the command line's, else the ini file's, else the embedded origin."""
    configured = config.getoption("chaosproxy_upstream") or config.getini("chaosproxy_upstream") or None
    return {"upstream": configured, **options}


def _lead(request: pytest.FixtureRequest, asked: Asked, proxy: "ServedProxy") -> None:
    try:
        url = proxy.url if asked.mount is None else proxy.url_for(asked.mount)
    except LookupError as error:
        raise wrong(str(error)) from None
    wanted = request.config.getini("chaosproxy_sdk_env") if asked.sdk_env is None else asked.sdk_env
    if wanted:
        lead_sdks(request.getfixturevalue("monkeypatch"), url)
