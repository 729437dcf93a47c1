"""The pytest plugin, as a user's suite sees it: each in a pytest of its own, warnings as errors, unknown markers too."""

from tests.plugin.client import CLIENT


def test_a_test_that_passes_says_nothing(suite, upstream):
    done = suite(
        CLIENT
        + """
import pytest

@pytest.mark.chaosproxy("three.yaml")
def test_a_cut(chaosproxy):
    body, whole = read(chaosproxy.url)
    assert (body.count(b"data"), whole) == (3, False)
    assert chaosproxy.wait(timeout=20)[0].end.how == "rst"

def test_transparent_without_a_marker(chaosproxy):
    body, whole = read(chaosproxy.url)
    assert (body.count(b"data"), whole) == (8, True)
    assert len(chaosproxy.wait(timeout=20)) == 1
""",
        "--chaosproxy-upstream",
        upstream,
    )
    done.assert_outcomes(passed=2)
    done.stdout.no_fnmatch_line("*chaosproxy http*")


def test_a_test_that_fails_shows_the_timeline_of_every_exchange(suite, upstream):
    done = suite(
        CLIENT
        + """
import pytest

@pytest.mark.chaosproxy("three.yaml", seed=7)
def test_naive(chaosproxy):
    read(chaosproxy.url + "/one")
    body, _ = read(chaosproxy.url + "/two")
    chaosproxy.wait(exchanges=2, timeout=20)
    assert body.count(b"data") == 8

def test_nobody_came(chaosproxy):
    assert False
""",
        "--chaosproxy-upstream",
        upstream,
    )
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(
        [
            "*assert 3 == 8",
            "*- chaosproxy http://127.0.0.1:*, three, seed 7 -*",
            "#1 GET /one 200 *: rst by proxy (cut); cut: rst after event 3",
            "* ms  cut: rst after event 3",
            "#2 GET /two 200 *",
            "* ms  end: rst by proxy (cut)",
            "*- chaosproxy http://127.0.0.1:*, transparent, seed *",
            "no request has come",
        ]
    )


def test_what_is_wrong_is_one_message_at_setup(suite):
    done = suite(
        """
import pytest

@pytest.mark.chaosproxy("wrong.yaml", upstream="http://127.0.0.1:1")
def test_place(chaosproxy): ...

@pytest.mark.chaosproxy("idle-dorp", upstream="http://127.0.0.1:1")
def test_name(chaosproxy): ...

@pytest.mark.chaosproxy("three.yaml", upstreem="http://127.0.0.1:1")
def test_argument(chaosproxy): ...

@pytest.mark.chaosproxy("three.yaml", "idle-drop")
def test_two(chaosproxy): ...

@pytest.mark.chaosproxy("three.yaml", upstream="127.0.0.1")
def test_upstream(chaosproxy): ...

@pytest.mark.chaosproxy("three.yaml", sdk_env="yes")
def test_sdk_env(chaosproxy): ...

@pytest.mark.chaosproxy("three.yaml", speed=2)
def test_session(chaosproxy_session): ...

@pytest.mark.chaosproxy("wrong.yaml")
def test_session_scenario(chaosproxy_session): ...
""",
        "--chaosproxy-upstream=http://127.0.0.1:1",
    )
    done.assert_outcomes(errors=8)
    done.stdout.fnmatch_lines_random(
        [
            "chaosproxy: wrong.yaml: cannot be read*",
            "chaosproxy: idle-dorp: *idle-drop*",
            "chaosproxy: *'upstreem'*upstream*",
            "chaosproxy: the marker takes one scenario*",
            "chaosproxy: upstream '127.0.0.1': write http://*",
            "chaosproxy: sdk_env *'yes'",
            "chaosproxy: speed is settled *",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("*During handling*")
    done.stdout.no_fnmatch_line("*.py:[0-9]*:*")


def test_a_wrong_place_in_a_file_is_named(suite, pytester):
    pytester.makefile(".yaml", wrong="version: 1\nfaults:\n  - cut: {at: {evnt: 3}}\n")
    done = suite(
        """
import pytest

@pytest.mark.chaosproxy("wrong.yaml")
def test_place(chaosproxy): ...
""",
        "--chaosproxy-upstream=http://127.0.0.1:1",
    )
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["chaosproxy: wrong.yaml:3:16: *event*"])


def test_of_each_argument_the_nearest_marker_says_it(suite, upstream):
    done = suite(
        CLIENT
        + """
import os, pytest

pytestmark = pytest.mark.chaosproxy("three.yaml", seed=1, sdk_env=True)

def test_of_the_module(chaosproxy):
    assert read(chaosproxy.url)[0].count(b"data") == 3
    assert chaosproxy.wait(timeout=20)[0].seed == 1

@pytest.mark.chaosproxy(seed=2)
class TestOfTheClass:
    @pytest.mark.chaosproxy(None)
    def test_of_the_test(self, chaosproxy):
        assert read(chaosproxy.url)[0].count(b"data") == 8
        assert chaosproxy.wait(timeout=20)[0].seed == 2
        assert os.environ["OLLAMA_HOST"] == chaosproxy.url

    @pytest.mark.parametrize("seed", [pytest.param(3, marks=pytest.mark.chaosproxy(seed=3))])
    def test_of_a_parameter(self, chaosproxy, seed):
        assert read(chaosproxy.url)[0].count(b"data") == 3
        assert chaosproxy.wait(timeout=20)[0].seed == seed
""",
        "--chaosproxy-upstream",
        upstream,
    )
    done.assert_outcomes(passed=3)


def test_a_factory_makes_any_number_and_closes_them(suite, upstream):
    done = suite(
        CLIENT
        + """
import socket, pytest

urls = []

def test_two_in_a_row(chaosproxy_factory):
    behind = chaosproxy_factory("three.yaml")
    front = chaosproxy_factory(None, upstream=behind.url)
    urls.extend([behind.url, front.url])
    assert read(front.url)[0].count(b"data") == 3
    assert front.wait(timeout=20)[0].end.cause == "upstream:rst"
    assert behind.wait(timeout=20)[0].end.cause == "cut"

@pytest.mark.parametrize("number", [0, 1])
def test_both_are_closed(number):
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(urls[number].rpartition(":")[2])), timeout=20)

def test_a_wrong_scenario_is_the_test_s_own_error(chaosproxy_factory):
    chaosproxy_factory("nonsense")
""",
        "--chaosproxy-upstream",
        upstream,
    )
    done.assert_outcomes(passed=3, failed=1)
    done.stdout.fnmatch_lines(['>*chaosproxy_factory("nonsense")', "E*ScenarioError: nonsense: no file *"])
    done.stdout.no_fnmatch_line("*pytest_plugin*")


def test_one_proxy_for_the_session(suite, upstream):
    done = suite(
        CLIENT
        + """
import pytest

@pytest.fixture(scope="module")
def url(chaosproxy_session):
    return chaosproxy_session.url

def count(url):
    return read(url)[0].count(b"data")

def test_transparent(chaosproxy_session, url):
    assert count(url) == 8
    assert len(chaosproxy_session.wait(timeout=20)) == 1

@pytest.mark.chaosproxy("three.yaml")
def test_marked(chaosproxy_session, url):
    assert chaosproxy_session.url == url
    assert chaosproxy_session.exchanges == []
    assert count(url) == 3

def test_the_marker_was_for_that_test_alone(chaosproxy_session, url):
    assert count(url) == 8
    chaosproxy_session.use("three.yaml")
    assert count(url) == 3

def test_use_stays(url):
    assert count(url) == 3

@pytest.mark.chaosproxy(None)
def test_a_failure_shows_its_own_exchanges(url):
    assert count(url + "/mine") == 9
""",
        "-o",
        f"chaosproxy_upstream={upstream}",
    )
    done.assert_outcomes(passed=4, failed=1)
    done.stdout.fnmatch_lines(["*- chaosproxy http://127.0.0.1:*, transparent, *", "#6 GET /mine *"])
    done.stdout.no_fnmatch_line("#5 *")


def test_the_sdks_are_led_to_the_proxy(suite, upstream, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a real one")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:2/elsewhere")
    monkeypatch.setenv("NO_PROXY", "example.org")
    done = suite(
        """
import os, pytest

def lead(url):
    assert os.environ["OPENAI_BASE_URL"] == url + "/v1"
    assert os.environ["ANTHROPIC_BASE_URL"] == os.environ["OLLAMA_HOST"] == url
    assert os.environ["OPENAI_API_BASE"] == url + "/v1"
    assert os.environ["GOOGLE_GEMINI_BASE_URL"] == url
    assert "127.0.0.1" in os.environ["NO_PROXY"].split(",")
    assert os.environ["OPENAI_API_KEY"] == os.environ["GEMINI_API_KEY"] == "chaosproxy"

@pytest.fixture
def made_before(monkeypatch):
    return os.environ.get("OPENAI_BASE_URL")

@pytest.mark.chaosproxy(sdk_env=True)
def test_led(made_before, chaosproxy):
    lead(chaosproxy.url)
    assert made_before == chaosproxy.url + "/v1"

@pytest.mark.chaosproxy("three.yaml", sdk_env=True)
def test_the_marker_is_enough(made_before):
    assert made_before.startswith("http://127.0.0.1:")
    assert "elsewhere" not in made_before

@pytest.mark.chaosproxy(sdk_env=True)
def test_session(chaosproxy_session):
    lead(chaosproxy_session.url)

def test_not_asked(chaosproxy, made_before):
    assert "elsewhere" in made_before
    assert "OLLAMA_HOST" not in os.environ
    assert os.environ["NO_PROXY"] == "example.org"
    assert "OPENAI_API_KEY" not in os.environ
""".replace('== "chaosproxy"\n', '== "chaosproxy"\n    assert os.environ["ANTHROPIC_API_KEY"] == "a real one"\n'),
        "--chaosproxy-upstream",
        upstream,
    )
    done.assert_outcomes(passed=4)


def test_asyncio_anyio_and_trio_tests(suite_apart, upstream):
    done = suite_apart(
        CLIENT
        + """
import asyncio, anyio, pytest, trio

@pytest.mark.chaosproxy("three.yaml")
def test_asyncio(chaosproxy):
    async def main():
        body, whole = await asyncio.to_thread(read, chaosproxy.url)
        await asyncio.to_thread(chaosproxy.wait, 1, 20)
        chaosproxy.use(None)
        return body.count(b"data"), whole
    assert asyncio.run(main()) == (3, False)

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.chaosproxy("three.yaml")
async def test_anyio(chaosproxy, anyio_backend):
    body, _ = await anyio.to_thread.run_sync(read, chaosproxy.url)
    assert body.count(b"data") == 3
    await anyio.to_thread.run_sync(chaosproxy.wait, 1, 20)
    chaosproxy.use(None)

@pytest.mark.trio
@pytest.mark.chaosproxy("three.yaml")
async def test_trio(chaosproxy):
    body, _ = await trio.to_thread.run_sync(read, chaosproxy.url)
    assert body.count(b"data") == 3
    chaosproxy.use(None)

@pytest.mark.trio
async def test_trio_factory(chaosproxy_factory):
    proxy = chaosproxy_factory("three.yaml")
    body, _ = await trio.to_thread.run_sync(read, proxy.url)
    assert body.count(b"data") == 3
""",
        "--chaosproxy-upstream",
        upstream,
    )
    done.assert_outcomes(passed=5)


def test_a_suite_that_does_not_use_it_loads_no_proxy(suite_apart):
    done = suite_apart(
        """
import sys

def test_nothing_is_loaded():
    assert not {"chaosproxy.embedded", "chaosproxy.proxy", "chaosproxy.scenario"} & set(sys.modules)
""",
        "-p",
        "no:trio",
    )
    done.assert_outcomes(passed=1)


def test_it_can_be_left_out(suite):
    done = suite("def test_it(chaosproxy): ...", "-p", "no:chaosproxy")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*fixture 'chaosproxy' not found*"])


def test_pytest_explains_the_marker_the_fixtures_and_the_option(pytester):
    done = pytester.runpytest_inprocess("--markers")
    done.stdout.fnmatch_lines(
        ["@pytest.mark.chaosproxy(scenario=None, *, upstream, *mount=None, sdk_env=False, judge=True): *"]
    )
    done = pytester.runpytest_inprocess("--fixtures")
    done.stdout.fnmatch_lines_random(
        ["chaosproxy -- *", "chaosproxy_factory -- *", "chaosproxy_session *session scope* -- *"]
    )
    done = pytester.runpytest_inprocess("--help")
    done.stdout.fnmatch_lines(
        ["*--chaosproxy-upstream=URL*", "*--chaosproxy-report=DIR*", "*chaosproxy_scenario (string)*"]
    )
