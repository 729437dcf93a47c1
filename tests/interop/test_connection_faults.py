"""What curl and httpx say of a connection that goes wrong before anything was asked: the table on the page of `tls`."""

import shutil
import ssl
import subprocess

import httpx
import pytest

OTHERS = "http://127.0.0.1:9"
"""An upstream that is never asked."""
CASES: dict[str, tuple[dict[str, object], set[int], str, str]] = {
    "expired": ({"tls": "expired"}, {60}, "expired", "expired"),
    "another host": ({"tls": "wrong_host"}, {60}, "", "IP address mismatch"),
    "nobody's": ({"tls": "unknown_authority"}, {60}, "", "unable to get local issuer certificate"),
    "refused": ({"accept": {"refuse": True}}, {7, 35, 56}, "", "reset"),
}
"""The fault, curl's exit status (which depends on its TLS library), some of its words, some of httpx's."""


@pytest.fixture
def shown(proxy):
    def start(fault: dict[str, object]):
        return proxy(OTHERS, {"connections": [{"match": {"side": "client"}, "faults": [fault]}]}, tls="auto")

    return start


def client_of(between) -> httpx.Client:
    return httpx.Client(verify=ssl.create_default_context(cafile=between.ca), trust_env=False)


@pytest.mark.parametrize("name", CASES)
def test_before_anything_was_asked(shown, name):
    fault, status, curl_says, httpx_says = CASES[name]
    between = shown(fault)
    url = f"https://127.0.0.1:{between.port}/"
    if shutil.which("curl"):
        argv = ["curl", "-sS", "--max-time", "20", "--cacert", between.ca, url]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode in status, done.stderr
        # A reset may come before curl has looked whether it is connected: 7.
        assert done.returncode == 7 or curl_says in done.stderr
    with (
        pytest.raises(httpx.ConnectError, match=httpx_says),
        client_of(between) as client,
    ):
        client.get(url, timeout=20)


def test_a_handshake_that_stalls_is_a_timeout_of_connecting(shown):
    between = shown({"tls": {"stall": "forever"}})
    with pytest.raises(httpx.ConnectTimeout), client_of(between) as client:
        client.get(f"https://127.0.0.1:{between.port}/", timeout=httpx.Timeout(20, connect=0.5))
