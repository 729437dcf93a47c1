"""`chaosproxy diagnose` as a person or a program meets it: in front of the embedded origin, with hops of our own."""

import json
import socket
from collections.abc import Iterator

import pytest

import chaosproxy
from chaosproxy.cli.main import status_of
from chaosproxy.origin.serving import OriginOptions, ServedOrigin, serving

QUICK = ("--times", "2", "--jobs", "12", "--abort-probe", "none")
"""Of two that disagree the good one counts: what a busy machine does once must not say that a hop is bad."""
SURE = ("--times", "3", "--jobs", "12")
"""Where nothing may be said to be wrong."""


@pytest.fixture(scope="module")
def server() -> Iterator[ServedOrigin]:
    with serving(OriginOptions(slots=64)) as served:
        yield served


@pytest.fixture(scope="module")
def hop(server):
    """`hop(scenario)`: a machine in front of the server."""
    running = []

    def start(scenario=None, upstream=None, tls=None) -> chaosproxy.ServedProxy:
        serving = chaosproxy.serve(scenario, upstream=upstream or server.url, tls=tls)
        running.append(serving)
        return serving.__enter__()

    yield start
    for one in reversed(running):
        one.__exit__(None, None, None)


@pytest.fixture
def said(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str) -> tuple[int, str, str]:
        status = status_of(["diagnose", *arguments])
        return status, *capsys.readouterr()

    return run


def test_a_chain_with_a_buffer_in_it(said, server, hop):
    second = hop("buffer-4k").url
    third = hop(None, second).url
    status, out, err = said(f"{server.url}/sse", f"gathers={second}", third, *QUICK)
    assert (status, err) == (1, "")
    flat = " ".join(out.split())
    assert f"Hop 2 (gathers, {second}/sse) breaks streaming: a buffer of 4 KiB" in flat
    assert "proxy_buffering off" in flat
    assert "bursts of 4,096 bytes" in flat
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    strips = [line for line in out.splitlines() if line.endswith("┤")]
    assert len(strips) == 3
    assert strips[0].count("·") < strips[1].count("·"), "one axis: the same time is as wide for all"


def test_nothing_is_wrong(said, server, hop):
    status, out, err = said(server.url, hop().url, *SURE)
    assert (status, err) == (0, "")
    assert f"1 {server.url}/sse\n" in out, "a server of ours is asked for a stream where no path says what"
    assert "No hop breaks streaming. Both hops pass on what comes as it comes" in " ".join(out.split())
    assert "a client that leaves: the server is told at once" in " ".join(out.split())


def test_for_machines(said, server, hop):
    gzip = hop({"version": 1, "faults": [{"compress": {"coding": "gzip", "flush": "end"}}]}).url
    status, out, err = said(f"{server.url}/sse", gzip, "--json", *SURE[:4], *QUICK[4:])
    assert (status, err) == (1, "")
    seen = json.loads(out)
    assert (seen["good"], seen["hop"], seen["cause"]) == (False, 2, "compression without a flush")
    assert seen["url"] == f"{gzip}/sse"
    assert "gzip" in seen["sentence"]
    assert "Without Accept-Encoding it passes each event on" in seen["sentence"]
    one, two = seen["hops"]
    assert (one["good"], two["good"]) == (True, False)
    assert (one["status"], one["events"], one["end"], one["framing"]) == (200, 25, "clean", "chunked")
    assert 0.03 <= one["first_event"] <= one["total"]
    assert one["gaps"]["p50"] == pytest.approx(0.04, abs=0.02)
    assert one["hints"]["content-type"].startswith("text/event-stream")
    assert two["asked"]["plain"]["kind"] == "streams"
    assert two["asked"]["coded"]["coding"] == "gzip"
    assert two["asked"]["coded"]["kind"] == "whole"
    assert two["leaving"] is None, "it was not to be tried"


def test_a_post_over_http2_and_tls(said, server, hop, tmp_path):
    body = tmp_path / "body.json"
    body.write_text('{"model": "m", "stream": true, "messages": [{"role": "user", "content": "x"}]}')
    secure = hop({"version": 1, "faults": [{"buffer": {"until_end": True}}]}, tls="auto")
    asked = (f"{server.url}/v1/chat/completions", secure.url, "-H", "Authorization: Bearer x", "-d", f"@{body}", *QUICK)
    status, out, _ = said(*asked, "--ca", str(secure.ca), "--json")
    seen = json.loads(out)
    assert (status, seen["hop"], seen["cause"]) == (1, 2, "whole answer gathered")
    assert (seen["hops"][0]["protocol"], seen["hops"][1]["protocol"]) == ("http/1.1", "h2")
    status, out, err = said(*asked)
    assert (status, out) == (3, "")
    assert "certificate" in err
    assert "--ca names whom to trust" in err
    status, out, _ = said(f"{secure.url}/stats", "-k", "--json", *QUICK)
    assert (status, json.loads(out)["hops"][0]["status"]) == (0, 200)


def test_the_hop_that_does_not_tell_the_server_that_its_client_has_left(said, server, hop):
    ignoring = hop({"version": 1, "faults": [{"client_abort": "ignore"}]}).url
    _, out, _ = said(f"{server.url}/sse", ignoring, "--json", "--times", "1", "--jobs", "12")
    one, two = json.loads(out)["hops"]
    assert one["leaving"]["told"] is not None
    assert two["leaving"] == {"told": None, "says": "the server is not told: 2500 ms later it was still at work"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "URL"),
        (["ftp://a"], "http://HOST:PORT"),
        (["http://a", "-H", "x"], "Name: value"),
        (["http://a", "-d", "@absent"], "cannot read absent"),
        (["http://a", "-d", "\udcff", "-X", "\udcff"], "cannot be asked"),
        (["http://a", "--limit", "5"], "--limit"),
        (["http://a", "--times", "0"], "--times"),
        (["http://a", "--ca", "absent"], "--ca"),
        (["https://a", "https://b", "--ca", __file__], "--ca"),
        (["http://a", "--abort-probe", "b"], "http://HOST:PORT"),
    ],
)
def test_wrong_usage(said, arguments, words):
    status, out, err = said(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_who_cannot_be_reached(said, server):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    status, out, err = said(f"{server.url}/sse", f"front=http://127.0.0.1:{port}", *QUICK)
    assert (status, out) == (3, "")
    assert err == f"chaosproxy: front cannot be asked: 127.0.0.1:{port}: Connection refused\n"
