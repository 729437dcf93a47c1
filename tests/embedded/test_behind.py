"""What is asked behind the exchanges: that none runs, what was expected of them, and how to have them once more."""

import shlex
import socket

import httpx
import pytest
import yaml

import chaosproxy
from chaosproxy.cli.run import command as run
from chaosproxy.scenario.load import load

CLEAN = {"version": 1, "name": "clean", "expect": [{"ended": {"how": "clean"}}]}
RESET = {**CLEAN, "name": "reset", "expect": [{"ended": {"how": "rst"}}]}


def test_settle_tells_whether_none_runs(upstream):
    with chaosproxy.serve(upstream=upstream) as proxy:
        assert proxy.settle(0)
        with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=20) as client:
            client.sendall(b"GET /forever HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(1)
            assert not proxy.settle(0.01)
            assert proxy.exchanges == []
        assert proxy.settle(20)
        assert len(proxy.exchanges) == 1


def test_what_was_in_force_before_is_judged_if_anybody_met_it(upstream):
    def names(proxy):
        return [(verdict.expected, verdict.good) for verdict in proxy.verdict().each]

    with chaosproxy.serve(RESET, upstream=upstream) as proxy:
        proxy.use(CLEAN)
        assert names(proxy) == [("an end how clean", False)]
        httpx.get(proxy.url + "/2", trust_env=False)
        proxy.settle(20)
        assert names(proxy) == [("an end how clean", True)]
        with proxy.using(RESET):
            httpx.get(proxy.url + "/2", trust_env=False)
            proxy.settle(20)
            assert names(proxy) == [("an end how clean", True), ("an end how rst", False)]
        assert names(proxy) == [("an end how rst", False), ("an end how clean", True)]
        proxy.clear()
        assert names(proxy) == [("an end how clean", False)]


@pytest.mark.parametrize("given", ["reset", "a file", "a mapping", None])
def test_the_command_runs_the_same_again(given, upstream, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "version: 1\nfaults: [cut: {at: {event: 2}}]\n"
    (tmp_path / "a file").write_text(text)
    scenario = {"version": 1, "name": "x y", "faults": [{"cut": {"at": "end"}}]} if given == "a mapping" else given
    with chaosproxy.serve(scenario, upstream=upstream, seed=5, speed=2) as proxy:
        line, _, further = proxy.command().partition("\n")
        if given == "a mapping":
            file, _, text = further.partition(": ")
            (tmp_path / file).write_text(text)
            assert yaml.safe_load(text)["name"] == "x y"
        words = shlex.split(line)
        assert words[:2] == ["chaosproxy", "run"]
        asked = run.make_context("run", words[2:]).params
        assert (asked["upstream"], asked["seed"], asked["speed"]) == ((upstream,), 5, 2.0)
        assert load(*asked["scenarios"]).name == proxy.scenario if given else asked["scenarios"] == ()


def test_an_embedded_origin_stands_in_the_command_too():
    with chaosproxy.serve("reset", seed=5) as proxy:
        assert proxy.command() == ("chaosproxy origin & chaosproxy run reset --upstream http://127.0.0.1:8000 --seed 5")


def test_a_mount_has_a_url(upstream):
    rules = [{"mount": "/a", "faults": []}, {"mount": "/b", "faults": []}, {"faults": []}]
    with chaosproxy.serve({"version": 1, "name": "two", "rules": rules}, upstream=upstream) as proxy:
        assert proxy.url_for("/b") == proxy.url + "/b"
        assert httpx.get(proxy.url_for("/b") + "/2", trust_env=False).status_code == 200
        with pytest.raises(LookupError, match="no rule of two is mounted at '/c'; there are: /a, /b"):
            proxy.url_for("/c")
        proxy.use(None)
        with pytest.raises(LookupError, match="none has a mount"):
            proxy.url_for("/a")


@pytest.mark.parametrize("written", ["text", "mapping"])
def test_what_the_environment_holds_is_not_in_the_command(monkeypatch, written):
    monkeypatch.setenv("KEY_OF_OURS", "sk-secret")
    text = "version: 1\nname: keyed\nfaults:\n- respond: {body: 'Bearer ${KEY_OF_OURS}'}\n"
    mapping = {"version": 1, "name": "keyed", "faults": [{"respond": {"body": "Bearer ${KEY_OF_OURS}"}}]}
    with chaosproxy.serve(text if written == "text" else mapping) as proxy:
        line, _, further = proxy.command().partition("\n")
    assert f" run keyed.{'yaml' if written == 'text' else 'json'} " in line
    assert "Bearer ${KEY_OF_OURS}" in further
    assert "sk-secret" not in further
