"""Node's fetch (undici), as the JavaScript SDKs use it: a stream read piece by piece, a stream that breaks off, leaving."""

import json

import pytest
import trio

from chaosproxy.testing.peers import Ending, origin
from tests.interop.conftest import find

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
READ = """
const [url, most] = process.argv.slice(1);
const leaving = new AbortController();
const pieces = [];
let outcome = "whole";
try {
  const response = await fetch(url, {signal: leaving.signal});
  const text = new TextDecoder();
  for await (const piece of response.body) {
    pieces.push(text.decode(piece));
    if (pieces.length == Number(most)) { leaving.abort(); }
  }
} catch (error) {
  outcome = error.name + ": " + (error.cause?.code ?? error.message);
}
console.log(JSON.stringify({pieces, outcome}));
"""


@pytest.fixture(autouse=True)
def installed():
    find("node")


def chunk(number: int) -> bytes:
    return b"9\r\ndata: %d\n\n\r\n" % number


@pytest.fixture
def fetch(run):
    async def read(url: str, *, trusted: str | None = None, most: int = 99) -> dict:
        extra = {"NODE_EXTRA_CA_CERTS": trusted} if trusted else {}
        arguments = ("--input-type=module", "--eval", READ, "--", url, str(most))
        done = await trio.to_thread.run_sync(lambda: run("node", *arguments, **extra))
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    return read


@pytest.mark.parametrize("tls", [False, True])
async def test_a_stream_arrives_whole(tls, fetch, proxy):
    async with origin([HEAD, chunk(0), chunk(1), chunk(2), LAST]) as served:
        between = proxy(served.url, **({"tls": "auto"} if tls else {}))
        seen = await fetch(between.url + "/sse", trusted=between.ca)
    assert "".join(seen["pieces"]) == "data: 0\n\ndata: 1\n\ndata: 2\n\n"
    assert seen["outcome"] == "whole"


@pytest.mark.parametrize("ending", [Ending.FIN, Ending.RST])
async def test_a_stream_that_the_upstream_breaks_off_throws(ending, fetch, proxy):
    async with origin([HEAD, chunk(0), chunk(1), ending]) as served:
        between = proxy(served.url)
        seen = await fetch(between.url + "/sse")
    assert "".join(seen["pieces"]) == "data: 0\n\ndata: 1\n\n"
    assert seen["outcome"].startswith("TypeError: ")


async def test_an_aborted_fetch_ends_the_upstream(fetch, proxy):
    async with origin([HEAD, chunk(0), Ending.OPEN]) as served:
        between = proxy(served.url)
        seen = await fetch(between.url + "/sse", most=1)
        assert seen["outcome"].startswith("AbortError")
        request = await served.request(1)
        with trio.fail_after(20):
            await request.gone.wait()
    (record,) = between.journal(1)
    assert record["end"]["by"] == "client"


@pytest.mark.parametrize("then", ["abort", "rst", "fin_mid_chunk"])
async def test_a_cut_throws_and_a_clean_end_does_not(then, fetch, proxy):
    async with origin([HEAD, chunk(0), chunk(1), chunk(2), LAST]) as served:
        cut = proxy(served.url, {"faults": [{"cut": {"at": {"event": 2}, "then": then}}]})
        clean = proxy(served.url, {"faults": [{"cut": {"at": {"event": 2}, "then": "clean"}}]})
        broken, whole = await fetch(cut.url + "/sse"), await fetch(clean.url + "/sse")
    assert "".join(broken["pieces"]) == "".join(whole["pieces"]) == "data: 0\n\ndata: 1\n\n"
    assert broken["outcome"].startswith("TypeError: ")
    assert whole["outcome"] == "whole"
