"""Faults of the HTTP/2 session before real clients: curl, nghttp, httpx and Node, each with a stack of its own or another
way to use one. What they make of each is a table on its page; afterwards the proxy serves the next connection.

The same in-process stack (h2) is httpx's and the proxy's, but the proxy has it only for writing.
"""

import json
import re

import httpx
import pytest
import trio
from h2.exceptions import ProtocolError

from chaosproxy.testing.peers import Pause, origin
from tests.interop.conftest import find

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAM = [
    HEAD,
    *(part for number in range(4) for part in (b"9\r\ndata: %d\n\n\r\n" % number, Pause(0.15))),
    b"0\r\n\r\n",
]
SECONDS = 15
"""After which a client gives up."""
ASK = """
import http2 from "node:http2";
const url = new URL(process.argv[1]);
const say = (outcome) => { console.log(JSON.stringify(outcome)); process.exit(0); };
const client = http2.connect(url.origin);
let goaway = "";
client.on("goaway", (code) => { goaway = ` behind GOAWAY ${code}`; });
client.on("error", (error) => say((error.code ?? error.message) + goaway));
const asked = client.request({":path": url.pathname});
let body = "";
asked.setEncoding("utf8");
asked.on("data", (piece) => { body += piece; });
asked.on("error", (error) => say((error.code ?? "") + " " + error.message + goaway));
asked.on("aborted", () => say("aborted" + goaway));
asked.on("close", () => say(`closed with ${asked.rstCode}, ${body.split("data: ").length - 1} events` + goaway));
setTimeout(() => say("waited"), Number(process.argv[2]) * 1000);
"""
CLIENTS = ("curl", "nghttp", "httpx", "node")


@pytest.fixture(autouse=True)
def installed():
    for name in ("curl", "nghttp", "node"):
        find(name)


@pytest.fixture
def ask(run):
    """What one client reports of `GET /sse`."""

    def curl(url: str) -> str:
        done = run("curl", "-sS", "--http2-prior-knowledge", "-m", str(SECONDS), url)
        return f"{done.stdout.count(b'data: ')} events, exit {done.returncode}: {done.stderr.decode().strip()}"

    def nghttp(url: str) -> str:
        done = run("nghttp", "-t", str(SECONDS), "-v", url)
        said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode("latin-1"))
        last = (done.stderr.decode().strip().splitlines() or [""])[-1]
        return f"{said.count('data: ')} events, exit {done.returncode}: {last}"

    def in_process(url: str) -> str:
        events = 0
        try:
            with httpx.Client(http1=False, http2=True, timeout=SECONDS) as client, client.stream("GET", url) as answer:
                for piece in answer.iter_text():
                    events += piece.count("data: ")
        except (httpx.HTTPError, ProtocolError) as error:
            return f"{events} events, {type(error).__name__}: {error}"
        return f"{events} events"

    def node(url: str) -> str:
        done = run("node", "--input-type=module", "--eval", ASK, "--", url, str(SECONDS))
        return json.loads(done.stdout)

    asks = {"curl": curl, "nghttp": nghttp, "httpx": in_process, "node": node}

    async def every(url: str) -> dict[str, str]:
        seen: dict[str, str] = {}

        async def one(name: str) -> None:
            seen[name] = await trio.to_thread.run_sync(asks[name], url)

        async with trio.open_nursery() as nursery:
            for name in CLIENTS:
                nursery.start_soon(one, name)
        return seen

    return every


WHOLE = re.compile(r"4 events(, exit 0: )?|closed with 0, 4 events.*")
CASES = {
    "goaway, nothing was processed": (
        {"goaway": {"stream": 1, "last": "0", "then": "fin"}},
        {"curl": "exit 16", "nghttp": "not processed", "httpx": "RemoteProtocolError", "node": "REFUSED_STREAM"},
    ),
    "goaway in mid-stream": ({"goaway": {"at": {"time": "200ms"}}}, {"httpx": "RemoteProtocolError"}),
    "goaway twice in mid-stream": (
        {"goaway": {"at": {"time": "200ms"}, "double": True}},
        {"httpx": "ProtocolError.*RECV_PING in state ConnectionState.CLOSED"},
    ),
    "every stream refused": (
        {"refuse": {}},
        {"curl": "exit", "nghttp": "not processed", "httpx": "error_code:7", "node": "REFUSED_STREAM"},
    ),
    "garbage in place of settings": (
        {"garbage": {"then": "fin"}},
        {"curl": "exit", "nghttp": "not processed", "httpx": "RemoteProtocolError", "node": "ERR_HTTP2_ERROR"},
    ),
    "settings never acknowledged": ({"settings": {"acknowledge": "forever"}}, {}),
}
"""The fault, and what those report whose answer is not whole."""


@pytest.mark.parametrize("case", CASES)
async def test_what_each_client_reports(ask, proxy, case):
    fault, failing = CASES[case]
    scenario = {"connections": [{"match": {"side": "client", "protocol": "h2"}, "faults": [fault]}]}
    async with origin(STREAM) as served:
        between = proxy(served.url, scenario)
        seen = await ask(between.url + "/sse")
        for name in CLIENTS:
            if name in failing:
                assert re.search(failing[name], seen[name], re.DOTALL), (name, seen)
                assert not WHOLE.fullmatch(seen[name]), (name, seen)
            else:
                assert WHOLE.fullmatch(seen[name]), (name, seen)
        async with httpx.AsyncClient() as client:
            assert (await client.get(between.url + "/sse")).text.count("data: ") == 4
