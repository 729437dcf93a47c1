"""A second answer is never the next client's."""

import ssl
from pathlib import Path

from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import tls
from tests.security.poisoning import SCENARIO, SECONDS, TwoFaced, answer, poisoned

ROUNDS = 1000
SOCKETS = 50


async def test_no_client_gets_the_second_answer_to_another(shown, autojump_clock):
    found = await poisoned(ROUNDS)
    assert found == []
    shown(
        "framing",
        "an upstream that answers one client twice, the next waiting for the same connection",
        tried=ROUNDS,
        must="the next client gets its own answer",
        happens=f"{len(found)} got another's, or none",
    )


async def test_nor_over_sockets(shown, tmp_path):
    """The kernel has both the second answer and the next client's request: which the proxy reads first is chance."""
    context, ca = tls.server_context("auto", ["127.0.0.1"], tmp_path / "ca.pem")
    await _over_sockets(None, None)
    await _over_sockets(context, ca)
    shown(
        "framing",
        "the same over sockets, with and without TLS",
        tried=2 * SOCKETS,
        must="the next client gets its own answer",
        happens="it does",
    )


async def _over_sockets(context: ssl.SSLContext | None, ca: Path | None) -> None:
    upstream = TwoFaced("with the next request", SECONDS[0])
    async with listening(upstream.serve, context) as port:
        url = f"{'https' if context else 'http'}://127.0.0.1:{port}"
        async with (
            proxy_on(SCENARIO, url, upstream_ca=ca) as proxied,
            await RawClient.connect("127.0.0.1", proxied.port) as one,
            await RawClient.connect("127.0.0.1", proxied.port) as other,
        ):
            for number in range(SOCKETS):
                await one.send(b"GET /twice/%d HTTP/1.1\r\nHost: a\r\n\r\n" % number)
                await one.read_until(b"\r\n\r\n/twice/%d" % number)
                upstream.speak()
                await other.send(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % number)
                await other.read_until(b"\r\n\r\n/%d" % number)
            assert other.received == b"".join([answer(b"/%d" % number) for number in range(SOCKETS)])
