"""A TLS 1.2 client that wants to shake hands again, as often as it likes: each costs us far more than it costs the client.
OpenSSL's own client, since Python's cannot ask for it."""

import shutil

import trio

from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import tls
from tests.interop.conftest import missing

OPENSSL = shutil.which("openssl")
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_a_client_that_shakes_hands_again_is_refused(tmp_path, caplog, shown):
    if OPENSSL is None:
        missing("openssl not found: apt-get install openssl")
    server, ca = tls.server_context("auto", ["localhost"], tmp_path / "ca.pem")
    async with origin([OK, Ending.OPEN]) as served, proxy_on(None, served.url, server_tls=server) as proxied:
        argv = [OPENSSL, "s_client", "-tls1_2", "-connect", f"127.0.0.1:{proxied.port}", "-CAfile", str(ca)]
        # "R" at the beginning of a line asks for it.
        done = await trio.run_process(
            argv, stdin=b"R\n" * 20, capture_stdout=True, capture_stderr=True, check=False, deliver_cancel=None
        )
        assert b"no renegotiation" in done.stderr
        async with await RawClient.connect(
            "localhost", proxied.port, tls.client_context(ca, ("http/1.1",), insecure=False)
        ) as honest:
            await honest.send(GET)
            await honest.read_until(OK)
        with trio.fail_after(20):
            while proxied.proxy._clients:
                await trio.sleep(0.01)
    assert [one.head.split(b" ")[1] for one in served.requests] == [b"/"]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    shown(
        "slow",
        "TLS 1.2: a client that shakes hands again and again",
        tried=20,
        must="refused; an honest client is served",
        happens="no renegotiation; 200",
    )
