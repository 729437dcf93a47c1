"""Wrong use of the Python interface, of the pytest plugin and of what faults are written with: the whole message each."""

import asyncio
import socket
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import chaosproxy
from chaosproxy import pytest_plugin as plugin
from chaosproxy.chain.fault import REGISTRY, Fault, FaultSpec
from chaosproxy.errors import FaultBug, UnavailableError, UsageError
from chaosproxy.pytest_plugin import marker
from chaosproxy.scenario.load import load
from chaosproxy.testing import play

LISTED = "`chaosproxy scenarios` lists them"
NOBODY = "http://127.0.0.1:1"
URL = "write http://HOST:PORT, https://HOST:PORT or h2c://HOST:PORT; a port is 1 to 65535"

ARGUMENT = {
    "an upstream that is no text": ({"upstream": 5}, "upstream 5: write one string, or several"),
    "no upstream among none": ({"upstream": []}, "upstream []: write one string, or several"),
    "an upstream without scheme": ({"upstream": "127.0.0.1:80"}, f"upstream '127.0.0.1:80': {URL}"),
    "a port alone": ({"listen": 8666}, "listen 8666: write one string, or several"),
    "a port as text": (
        {"listen": "8666"},
        "listen address '8666': write HOST:PORT, 127.0.0.1:8666; port 0 is any free one",
    ),
    "no speed": ({"speed": 0}, "speed 0: write a number above 0, at most 1,000,000,000"),
    "a word for a speed": ({"speed": "fast"}, "speed 'fast': write a number above 0, at most 1,000,000,000"),
    "half a seed": ({"seed": 1.5}, "seed 1.5: write a whole number"),
    "no memory": ({"journal_limit": 0}, "journal_limit 0: write a whole number above 0"),
    "tls switched on": ({"tls": True}, 'tls True: write "auto", or (certificate, key), two files'),
    "half a pair": ({"tls": ("a.pem",)}, """tls ('a.pem',): write "auto", or (certificate, key), two files"""),
    "a pair of numbers": ({"tls": (1, 2)}, 'tls (1, 2): write "auto", or (certificate, key), two files'),
    "a pair without a key": (
        {"tls": ("a.pem", "")},
        """tls ('a.pem', ''): write "auto", or (certificate, key), two files""",
    ),
    "a CA that is no path": ({"upstream_ca": 5}, "upstream_ca 5: write a path"),
    "a CA that is not there": (
        {"upstream": "https://x", "upstream_ca": "absent.pem"},
        "upstream_ca: no such file: absent.pem",
    ),
    "a journal that is no path": ({"journal": 5}, "journal 5: write a path"),
}


@pytest.mark.parametrize("opens", [chaosproxy.serve, chaosproxy.open_proxy])
@pytest.mark.parametrize(("given", "said"), ARGUMENT.values(), ids=ARGUMENT)
def test_a_wrong_argument_is_said_when_it_is_given(given, said, opens):
    with pytest.raises(UsageError) as caught:
        opens(None, **{"upstream": NOBODY, **given})
    assert str(caught.value) == said


def test_what_is_said_when_the_block_begins(tmp_path):
    with pytest.raises(UsageError) as caught, chaosproxy.serve(upstream=NOBODY, journal=tmp_path / "absent" / "j"):
        pass
    assert str(caught.value) == f"cannot write the journal {tmp_path}/absent/j: No such file or directory"
    key = tmp_path / "key.pem"
    with pytest.raises(UsageError) as caught, chaosproxy.serve(upstream=NOBODY, tls=(__file__, key)):
        pass
    assert str(caught.value) == f"tls: no such file: {key}"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UnavailableError) as caught, chaosproxy.serve(upstream=NOBODY, listen=where):
            pass
    assert str(caught.value) == f"cannot listen on {where}: the port is taken; choose another, or 0 for any free one"


def test_serve_without_its_block():
    proxy = chaosproxy.serve(upstream=NOBODY)
    with pytest.raises(AttributeError) as caught:
        _ = proxy.url
    said = "no 'url' outside a block; write `with chaosproxy.serve(...) as proxy:`, then proxy.url"
    assert str(caught.value) == said


def test_open_proxy_under_asyncio():
    async def main():
        async with chaosproxy.open_proxy(upstream=NOBODY):
            pass

    with pytest.raises(RuntimeError) as caught:
        asyncio.run(main())
    said = "open_proxy runs in a Trio program; elsewhere write `with chaosproxy.serve(...) as proxy:`"
    assert str(caught.value) == said


def test_what_a_running_proxy_says_and_one_that_has_ended():
    with chaosproxy.serve(upstream=NOBODY) as proxy:
        with pytest.raises(LookupError) as caught:
            _ = proxy.last
        assert str(caught.value) == "no exchange has finished yet; wait() waits for one"
        with pytest.raises(LookupError) as caught:
            _ = proxy.origin
        assert str(caught.value) == "no embedded origin: the proxy leads to the upstream that was named"
        with pytest.raises(TimeoutError) as timeout:
            proxy.wait(timeout=0.01)
        assert str(timeout.value) == "0 of 1 exchange finished within 0.01 s; no request has come"
        with pytest.raises(chaosproxy.ScenarioError) as wrong:
            proxy.use({"version": 1, "faults": [{"cutt": {}}]})
        assert str(wrong.value).startswith("faults[0].cutt: unknown fault 'cutt'; did you mean 'cut'? known: ")
    with pytest.raises(RuntimeError) as over:
        proxy.use(None)
    assert str(over.value) == "the proxy has ended, as its block has"


def one_exchange(proxy):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(proxy.url, timeout=20)
    with refused.value:
        proxy.wait(timeout=20)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_behind_the_block():
    with pytest.raises(chaosproxy.Error) as caught, chaosproxy.serve(upstream=NOBODY, journal="/dev/full") as proxy:
        one_exchange(proxy)
    assert str(caught.value) == "journal /dev/full: No space left on device; exchanges are being lost"


# ---- pytest

MARKER = {
    "an argument misspelt": (
        pytest.mark.chaosproxy("reset", upstreem=NOBODY),
        f"the marker has no argument 'upstreem'; there are: scenario, {', '.join(marker.OPTIONS)}, mount, sdk_env, judge",
    ),
    "two scenarios": (
        pytest.mark.chaosproxy("reset", "idle-drop"),
        "the marker takes one scenario, and everything else by its name",
    ),
    "one scenario twice": (
        pytest.mark.chaosproxy("reset", scenario="reset"),
        "the marker takes one scenario, and everything else by its name",
    ),
    "a word for a truth": (pytest.mark.chaosproxy(sdk_env="yes"), "sdk_env is True or False; found 'yes'"),
}


@pytest.mark.parametrize(("mark", "said"), MARKER.values(), ids=MARKER)
def test_a_wrong_marker_is_one_message(mark, said):
    with pytest.raises(pytest.fail.Exception) as caught:
        marker._arguments(mark.mark)
    assert str(caught.value) == f"chaosproxy: {said}"
    assert caught.value.pytrace is False


SCENARIO = {
    "misspelt": (
        "idle-dorp",
        {},
        f"idle-dorp: no file and no shipped scenario is called 'idle-dorp'; did you mean 'idle-drop'? {LISTED}",
    ),
    "not there": ("absent.yaml", {}, "absent.yaml: cannot be read: No such file or directory"),
    "of no kind": (7, {}, "a scenario is a name, a path, YAML text or a mapping; found int"),
    "for a wrong upstream": (None, {"upstream": "127.0.0.1"}, f"upstream '127.0.0.1': {URL}"),
    "at no speed": (None, {"speed": 0}, "speed 0: write a number above 0, at most 1,000,000,000"),
}


@pytest.mark.parametrize(("scenario", "options", "said"), SCENARIO.values(), ids=SCENARIO)
def test_a_wrong_scenario_of_a_marker_is_one_message(scenario, options, said, pytestconfig):
    with pytest.raises(pytest.fail.Exception) as caught, plugin._opened(pytestconfig, scenario, options):
        pass
    assert str(caught.value) == f"chaosproxy: {said}"
    assert caught.value.pytrace is False


# ---- faults of one's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    name: ClassVar[str] = "own"
    made: type[Fault] = Fault

    def start(self, context):
        return self.made()


class Forgets(Fault):
    def data(self, data, now):
        pass


class Alone(Fault):
    def control(self, event, now):
        return event


class Raises(Fault):
    def data(self, data, now):
        return {}["key"]


class Hangs(Fault):
    def hangup(self, now):
        pass


RAISES = Raises.data.__code__
HANDLER = {
    "nothing": (Forgets, "data answers with a tuple of actions, not with None", "Data"),
    "nothing at the end": (Hangs, "hangup answers with a tuple of actions, not with None", "float"),
    "an exception": (Raises, f"KeyError('key') in {RAISES.co_filename}, line {RAISES.co_firstlineno + 1}", "Data"),
}


@pytest.mark.parametrize(("made", "said", "event"), HANDLER.values(), ids=HANDLER)
def test_what_a_handler_must_not_answer(made, said, event):
    with pytest.raises(FaultBug) as caught:
        play([Own(made=made)], [(1.0, b"x"), (2.0, "hangup")])
    assert str(caught.value) == f"fault 'own' in hop 0 failed on {event}: {said}"


def test_an_answer_without_its_brackets():
    with pytest.raises(FaultBug, match=r"^fault 'own' in hop 0 failed on ResponseHead: control answers with a tuple "):
        play([Own(made=Alone)], [(1.0, b"x")])


def test_a_step_that_is_none():
    with pytest.raises(ValueError, match=r"^no such step: 'hangpu'$"):
        play([], [(1.0, "hangpu")])
    with pytest.raises(TypeError, match=r"^no such step: None$"):
        play([], [(1.0, None)])


def test_a_field_that_nobody_could_write(monkeypatch):
    monkeypatch.setitem(REGISTRY, "own", Own)
    with pytest.raises(TypeError) as caught:
        load("version: 1\nfaults: [own: {made: x}]\n")
    assert str(caught.value).startswith("Own.made: a field of type type[chaosproxy.chain.fault.Fault] has no form in ")
    assert "take Duration, Size, Rate, Frequency, int, float, bool, " in str(caught.value)
