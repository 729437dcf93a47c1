"""What a scenario expects fails its test by itself, and says with what to run it again."""

import json
import re

import pytest

from tests.plugin.client import CLIENT

LATE = """
import pytest

LATE = {"version": 1, "name": "late", "seed": 7, "faults": [{"respond": {"status": 200, "body": "x"}}], "expect": EXPECT}
"""


def late(*expect):
    return CLIENT + LATE.replace("EXPECT", repr(list(expect)))


TRUE = {"ended": {"by": "proxy", "how": "clean"}}
FALSE = {"ended": {"by": "upstream"}}
DEAD = "--chaosproxy-upstream=http://127.0.0.1:1"


def told(done):
    """What a run printed before its summary, where pytest repeats whole messages if it runs in CI."""
    return done.stdout.str().partition("short test summary info")[0]


def test_what_is_not_as_expected_fails_a_test_that_passed(suite):
    done = suite(
        late(TRUE, FALSE)
        + """
@pytest.mark.chaosproxy(LATE)
def test_it(chaosproxy):
    read(chaosproxy.url + "/asked")

@pytest.mark.chaosproxy(LATE, judge=False)
def test_it_looks_itself(chaosproxy):
    read(chaosproxy.url)
    chaosproxy.settle(20)
    assert [verdict.good for verdict in chaosproxy.verdict().each] == [True, False]
""",
        DEAD,
    )
    done.assert_outcomes(passed=2, errors=1)
    done.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_it *",
            "chaosproxy: 1 of 2 expectations of late failed",
            "FAILED  ended: expected an end by upstream",
            "*#1: clean by proxy, cause respond*",
            "*ms  end: clean by proxy (respond)",
            "*- chaosproxy http://127.0.0.1:*, late, seed 7 -*",
            "#1 GET /asked 200 *",
            "once more: chaosproxy run late.json --upstream http://127.0.0.1:1 --seed 7",
            'late.json: {"version": 1, *',
        ]
    )
    assert told(done).count("FAILED  ended") == 1
    done.stdout.no_fnmatch_line("*pytest_plugin*")


def test_doing_nothing_is_not_good(suite):
    done = suite(
        late({"fired": "respond"})
        + """
@pytest.mark.chaosproxy(LATE)
def test_nobody_asks(chaosproxy):
    pass

def test_a_factory_s(chaosproxy_factory):
    chaosproxy_factory(LATE)

@pytest.mark.chaosproxy(LATE)
def test_session(chaosproxy_session):
    pass

@pytest.mark.chaosproxy(LATE)
def test_skipped(chaosproxy):
    pytest.skip("no")

@pytest.mark.chaosproxy(LATE)
@pytest.mark.xfail(strict=True)
def test_known(chaosproxy):
    assert False

@pytest.mark.chaosproxy(LATE)
def test_somebody_asks(chaosproxy):
    read(chaosproxy.url)

@pytest.mark.chaosproxy(LATE)
def test_it_turned_to_another_scenario_that_is_judged_too(chaosproxy):
    read(chaosproxy.url)
    chaosproxy.use({**LATE, "name": "second", "expect": [{"ended": {"by": "client"}}]})
    read(chaosproxy.url)
    with chaosproxy.using({**LATE, "name": "third", "expect": [{"ended": {"how": "rst"}}]}):
        read(chaosproxy.url)
""",
        DEAD,
    )
    done.assert_outcomes(passed=5, errors=4, skipped=1, xfailed=1)
    done.stdout.fnmatch_lines(
        [
            "*nothing to judge: no exchange met that fault",
            "no request has come",
            "*nothing to judge: *",
            "*nothing to judge: *",
            "*ERROR at teardown of test_it_turned*",
            "FAILED  ended: expected an end *how rst",
            "FAILED  ended: expected an end *by client",
        ]
    )


def test_a_test_that_failed_keeps_its_own_error(suite):
    done = suite(
        late(FALSE)
        + """
@pytest.mark.chaosproxy(LATE)
def test_it(chaosproxy):
    read(chaosproxy.url)
    chaosproxy.settle(20)
    assert 1 == 2
""",
        DEAD,
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["E *assert 1 == 2", "*- chaosproxy verdicts -*", "FAILED  ended: expected *"])
    assert told(done).count("FAILED  ended") == 1


def test_a_test_that_is_run_again_is_judged_anew(suite, pytester):
    """As pytest-rerunfailures does it: the same item once more."""
    pytester.makeconftest(
        """
import pytest
from _pytest.runner import runtestprotocol

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    for last in (False, True):
        item._initrequest()
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if last:
                item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
    )
    done = suite(
        late(TRUE)
        + """
runs = []

@pytest.mark.chaosproxy(LATE)
def test_it(chaosproxy):
    runs.append(1)
    read(chaosproxy.url + f"/{len(runs)}")
    assert len(runs) == 2

@pytest.mark.chaosproxy(LATE)
def test_never(chaosproxy):
    runs.append(1)
    read(chaosproxy.url + f"/{len(runs)}")
    assert False
""",
        DEAD,
        "--chaosproxy-report=kept",
    )
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["#1 GET /4 *"])
    done.stdout.no_fnmatch_line("#1 GET /3 *")


def test_exchanges_that_still_run_have_time_to_end(suite, monkeypatch):
    """The client leaves only when its own fixture ends, behind the test; what never ends is ended, and judged."""
    monkeypatch.setattr("chaosproxy.pytest_plugin.watch.SETTLE", 20.0)
    done = suite(
        """
import socket, pytest
from chaosproxy.pytest_plugin import watch

WAIT = {"version": 1, "name": "wait", "faults": [{"respond": {"status": 200, "delay": "forever"}}],
        "expect": [{"client_leaves": {"within": "1h"}}]}

kept = []

@pytest.fixture(autouse=True, scope="module")
def closed():
    yield
    for client in kept:
        client.close()

@pytest.fixture
def connection(chaosproxy):
    with socket.create_connection(("127.0.0.1", int(chaosproxy.url.rpartition(":")[2]))) as client:
        client.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
        while not chaosproxy.timeline():
            pass
        yield client

@pytest.mark.chaosproxy(WAIT)
def test_it_leaves(connection):
    pass

@pytest.mark.chaosproxy(WAIT)
def test_it_stays(chaosproxy):
    watch.SETTLE = 0.1
    client = socket.create_connection(("127.0.0.1", int(chaosproxy.url.rpartition(":")[2])))
    client.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    while not chaosproxy.timeline():
        pass
    kept.append(client)
""",
        DEAD,
    )
    done.assert_outcomes(passed=2, errors=1)
    done.stdout.fnmatch_lines(["*ERROR at teardown of test_it_stays*", "*#1: it stayed to the end*", "*shutdown*"])


def test_what_the_upstream_is_asked_later_is_waited_for(suite, monkeypatch):
    monkeypatch.setattr("chaosproxy.pytest_plugin.watch.SETTLE", 2.0)
    done = suite(
        """
import urllib.request, pytest

CHAIN = {"version": 1, "name": "chain", "expect": [{"abort_chain": {"within": "2200ms"}}]}

@pytest.mark.chaosproxy(CHAIN)
def test_it(chaosproxy):
    with urllib.request.urlopen(chaosproxy.url + "/sse?tokens=1000", timeout=20) as answer:
        answer.readline()
"""
    )
    done.assert_outcomes(passed=1)


def test_the_session_s_proxy_holds_each_test_to_what_it_asked(suite, upstream, pytester):
    """Scenarios side by side, each under its mount: a test is one by its URL, whoever else asks at that moment."""
    pytester.makefile(
        ".yaml",
        side="""
version: 1
rules:
  - mount: /three
    faults: [{cut: {at: {event: 3}, then: rst}}]
  - mount: /five
    faults: [{cut: {at: {event: 5}, then: rst}}]
expect:
  - ended: {match: {path: /whole}, cause: cut}
  - fired: cut
""",
    )
    done = suite(
        CLIENT
        + """
import os, pytest

@pytest.mark.parametrize(("mount", "events"), [("/three", 3), ("/five", 5), ("", 8)])
def test_one(chaosproxy_session, mount, events):
    body, whole = read(chaosproxy_session.url + mount + "/some")
    assert body.count(b"data") == events
    assert chaosproxy_session.wait(timeout=20)[0].request.path == mount + "/some"

@pytest.mark.chaosproxy(mount="/five", sdk_env=True)
def test_the_environment_leads_to_a_mount(chaosproxy_session):
    assert os.environ["OPENAI_BASE_URL"] == chaosproxy_session.url_for("/five") + "/v1" == chaosproxy_session.url + "/five/v1"

@pytest.mark.chaosproxy(mount="/four")
def test_no_such_mount(chaosproxy_session): ...

def test_what_it_asked_is_judged(chaosproxy_session):
    read(chaosproxy_session.url + "/whole")
""",
        "--chaosproxy-upstream",
        upstream,
        "-o",
        "chaosproxy_scenario=side.yaml",
    )
    done.assert_outcomes(passed=5, errors=2)
    done.stdout.fnmatch_lines(["*ERROR at teardown of test_what_it_asked*", "FAILED  ended: expected an end cause cut"])
    done.stdout.fnmatch_lines(["chaosproxy: no rule of side is mounted at '/four'; there are: /three, /five"])
    done.stdout.no_fnmatch_line("*nothing to judge*")


@pytest.mark.parametrize("said", ["option", "ini"])
def test_what_the_proxies_of_failed_tests_have_seen_is_kept(suite, pytester, said):
    if said == "ini":
        pytester.makefile(".ini", pytest="[pytest]\nchaosproxy_report = kept/here\n")
    done = suite(
        late(FALSE)
        + """
@pytest.mark.parametrize("one", ["a/b"])
@pytest.mark.chaosproxy(LATE)
def test_it(chaosproxy, one):
    read(chaosproxy.url + "/asked")

def test_fails(chaosproxy_factory):
    chaosproxy_factory(LATE)
    read(chaosproxy_factory(LATE).url + "/second")
    assert False

@pytest.mark.chaosproxy({**LATE, "expect": []})
def test_passes(chaosproxy):
    read(chaosproxy.url)
""",
        DEAD,
        *(["--chaosproxy-report", "kept/here"] if said == "option" else []),
    )
    done.assert_outcomes(passed=2, failed=1, errors=1)
    kept = {
        re.sub(r"^.*[.]py-|-[0-9a-f]{8}$", "", file.stem): [
            json.loads(line)["request"]["path"] for line in file.read_text().splitlines()
        ]
        for file in (pytester.path / "kept" / "here").glob("*.jsonl")
    }
    assert kept == {"test_it[a-b]": ["/asked"], "test_fails": [], "test_fails-2": ["/second"]}
    (page,) = (pytester.path / "kept" / "here").glob("*test_it*.html")
    assert "an end by upstream" in page.read_text()
    done.stdout.fnmatch_lines([f"report: {page}"])


def test_wrong_use_is_one_clear_line(suite):
    done = suite(
        """
import chaosproxy as module
import pytest

def expects(check):
    return pytest.mark.chaosproxy({"version": 1, "expect": [check]})

@expects({"frist_event": {"within": "1s"}})
def test_a_check(chaosproxy): ...

@expects({"first_event": {"whitin": "1s"}})
def test_a_field(chaosproxy): ...

@expects({"ended": {"match": {"path": "/x", "color": "red"}, "how": "rst"}})
def test_a_match(chaosproxy): ...

@expects({"gap": {"max": 3}})
def test_a_value(chaosproxy): ...

@pytest.mark.chaosproxy({"version": 1, "faults": [{"cut": {"at": "end"}}], "expect": [{"fired": "cutt"}]})
def test_a_fault(chaosproxy): ...

@pytest.mark.chaosproxy(judge=1)
def test_a_flag(chaosproxy): ...

@pytest.mark.chaosproxy({"version": 1}, seed="x")
def test_a_seed(chaosproxy_session): ...

def test_the_module():
    module.url

def test_the_factory(chaosproxy_factory):
    chaosproxy_factory("idle-dorp")

@pytest.fixture(scope="module")
def wide(chaosproxy): ...

def test_a_wider_scope(wide): ...
""",
        DEAD,
    )
    done.assert_outcomes(errors=8, failed=2)
    done.stdout.fnmatch_lines_random(
        [
            "chaosproxy: expect[[]0].frist_event: *first_event*",
            "chaosproxy: expect[[]0].first_event*whitin*within*",
            "chaosproxy: expect[[]0].ended.match*color*",
            "chaosproxy: expect[[]0].gap.max*3*",
            "chaosproxy: expect[[]0].fired: no fault of this scenario is called 'cutt'; did you mean 'cut'?*",
            "chaosproxy: judge is True or False; found 1",
            "chaosproxy: seed is settled for the session's proxy; *",
            "ScopeMismatch: *function scoped fixture chaosproxy with a module scoped request*",
            "E *has no attribute 'url'; a test takes the proxy as its argument `chaosproxy`",
            "E *ScenarioError: *no file *'idle-dorp'*",
        ]
    )


def test_a_wrong_key_of_pytest_s_own_toml_is_one_line(suite, pytester):
    pytester.makefile(".toml", pyproject='[tool.pytest]\nchaosproxy_upstream = "http://127.0.0.1:1"\n')
    done = suite("def test_it(chaosproxy): ...")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["chaosproxy: *pyproject.toml: *'chaosproxy_upstream' expects a list*"])
    done.stdout.no_fnmatch_line("*pytest_plugin*")


def test_tests_of_one_name_but_for_what_no_file_may_have_in_it_have_a_report_each(suite, pytester):
    done = suite(
        "import pytest\n\n\n"
        '@pytest.mark.parametrize("what", ["a/b", "a b", "c"])\n'
        "def test_it(chaosproxy, what):\n    assert False",
        DEAD,
        "--chaosproxy-report=reports",
    )
    done.assert_outcomes(failed=3)
    names = sorted(path.name for path in (pytester.path / "reports").glob("*.html"))
    assert len(names) == 3
    assert any(name.endswith("test_it[c].html") for name in names)


def test_a_report_that_cannot_be_written_is_one_line(suite, pytester):
    (pytester.path / "taken").touch()
    done = suite("def test_it(chaosproxy):\n    assert False", DEAD, "--chaosproxy-report=taken")
    done.assert_outcomes(failed=1, errors=1)
    done.stdout.fnmatch_lines(["chaosproxy: no report in *taken*.html: *", "E *assert False"])
    done.stdout.no_fnmatch_line("*pytest_plugin*")
