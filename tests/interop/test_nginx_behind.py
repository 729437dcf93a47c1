"""Transparency: a raw client sees the same bytes through the proxy as straight from nginx."""

import gzip
import ssl

import httpx
import pytest
import trio

from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.recorder import QUIET
from tests.ports import free_port

SERVER = """
    location = /small { return 200 "hello\\n"; }
    location = /moved { return 301 /small; }
    location = /none { return 204; }
    location = /closing { keepalive_timeout 0; return 200 "bye\\n"; }
    location /files/ { alias FILES/; etag on; }
    location /gone/ { return 410; }
    location /packed/ { alias FILES/; gzip on; gzip_min_length 1; gzip_types *; gzip_comp_level 1; }
    location /ready/ { alias FILES/; gzip_static on; gzip_vary on; }
"""
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Mixed-CASE: One\r\nX-Mixed-CASE: two\r\n\r\n"

REQUESTS = {
    "a short answer": b"GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "several on one connection, pipelined": b"GET /small HTTP/1.1\r\nHost: a\r\n\r\n" * 3,
    "a head alone": b"HEAD /files/text.txt HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a file": b"GET /files/text.txt HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a large file": b"GET /files/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a range of it": b"GET /files/large.bin HTTP/1.1\r\nHost: localhost\r\nRange: bytes=500-9999\r\n\r\n",
    "not modified": b"GET /files/text.txt HTTP/1.1\r\nHost: a\r\nIf-Modified-Since: Wed, 01 Jan 2099 00:00:00 GMT\r\n\r\n",
    "not found": b"GET /files/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "gone": b"GET /gone/by HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a redirection that names the host": b"GET /moved HTTP/1.1\r\nHost: www.test\r\n\r\n",
    "no content": b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "the client closes": b"GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    "a body too early": b"POST /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
    "a chunked body": b"POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "a target to be kept as it is": b"GET /files/../small?a=%2f&b=c//d HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "coded as it is read": b"GET /packed/large.bin HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip;q=1.0, br\r\n\r\n",
    "coded in advance": b"GET /ready/text.txt HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n",
    "not coded, as not asked for": b"GET /ready/text.txt HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a range of what it no longer is": b'GET /files/text.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=900-\r\nIf-Range: "other"\r\n\r\n',
    "a range that is not there": b"GET /files/text.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=9999-\r\n\r\n",
    "HTTP/1.0": b"GET /files/text.txt HTTP/1.0\r\n\r\n",
}


@pytest.fixture
def files(tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    (place / "text.txt").write_text("line\n" * 100)
    (place / "text.txt.gz").write_bytes(gzip.compress(b"line\n" * 100, mtime=0))
    (place / "large.bin").write_bytes(bytes(range(256)) * 4096)
    return place


async def asked(port: int, request: bytes) -> tuple[bytes, Ending]:
    """All that a raw client gets, until it is whole and nothing more comes; and how it ended. The date may differ from
    run to run, and Connection belongs to each hop."""
    async with await RawClient.connect("127.0.0.1", port) as client:
        await client.send(request)
        await client.read_until(b"\r\n\r\n")
        with trio.fail_after(20):
            while not whole(client, request) and await client.read():
                pass
        await client.read_all(QUIET)
        lines = client.received.split(b"\r\n")
        kept = [line for line in lines if not line.startswith((b"Date: ", b"Connection: "))]
        return b"\r\n".join(kept), client.ending or Ending.OPEN


def whole(client: RawClient, request: bytes) -> bool:
    """Whether the last answer is, by its own account; what ends with the connection never is."""
    answers = client.received.split(b"HTTP/1.1 ")[1:]
    head, _, body = answers[-1].partition(b"\r\n\r\n")
    if len(answers) < request.count(b" HTTP/1.") or b"\r\n\r\n" not in answers[-1]:
        return False
    status, *lines = head.lower().split(b"\r\n")
    fields = dict(line.split(b": ", 1) for line in lines)
    if fields.get(b"connection") == b"close":
        return False
    if request.startswith(b"HEAD ") or status[:3] in (b"204", b"304"):
        return True
    if b"content-length" in fields:
        return len(body) >= int(fields[b"content-length"])
    return body.endswith(b"0\r\n\r\n")


async def test_every_kind_of_answer_is_the_same_to_the_byte(nginx, proxy, files):
    port = nginx(SERVER.replace("FILES", str(files)))
    between = proxy(f"http://127.0.0.1:{port}")
    answers = {}

    async def ask(name: str, through: int, request: bytes) -> None:
        answers[name, through] = await asked(through, request)

    async with trio.open_nursery() as nursery:
        for name, request in REQUESTS.items():
            nursery.start_soon(ask, name, port, request)
            nursery.start_soon(ask, name, between.port, request)
    differing = {
        name: (answers[name, port], answers[name, between.port])
        for name in REQUESTS
        if answers[name, port] != answers[name, between.port]
    }
    assert not differing
    assert len(answers["a large file", port][0]) > 2**20
    for name in ("coded as it is read", "coded in advance"):
        assert b"\r\nContent-Encoding: gzip\r\n" in answers[name, between.port][0]


async def test_an_upstream_that_closes_after_each_answer_does_not_cost_the_client_its_connection(nginx, proxy):
    between = proxy(f"http://127.0.0.1:{nginx(SERVER.replace('FILES', '/'))}")
    async with await RawClient.connect("127.0.0.1", between.port) as client:
        for number in (1, 2):
            await client.send(b"GET /closing HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await client.read_until(b"bye\n" if number == 1 else client.received + b"HTTP/1.1 200 OK")
    records = between.journal(2)
    assert [record["end"]["how"] for record in records] == ["clean", "clean"]
    assert [record["upstream"]["connection"] for record in records] == [1, 2]


@pytest.mark.parametrize("protocol", ["h1", "h2"])
async def test_nginx_over_h2_and_tls(protocol, nginx, proxy, files, certificate):
    """A body of many windows, from nginx's own stack for HTTP/2, to a client of either version."""
    port = free_port()
    nginx(
        SERVER.replace("FILES", str(files)) + f"listen 127.0.0.1:{port} ssl http2;"
        f"ssl_certificate {certificate.certificate}; ssl_certificate_key {certificate.key};"
    )
    options = {"tls": "auto", "upstream_ca": str(certificate.ca)}
    between = proxy(f"https://localhost:{port}", {"upstream": {"protocol": "h2"}}, **options)
    trusted = ssl.create_default_context(cafile=between.ca)
    versions = {"http1": protocol == "h1", "http2": protocol == "h2"}
    async with httpx.AsyncClient(base_url=between.url, verify=trusted, trust_env=False, timeout=30, **versions) as http:
        whole = await http.get("/files/large.bin")
        part = await http.get("/files/large.bin", headers={"Range": "bytes=1000-300999"})
        absent = await http.get("/files/nothing")
    large = (files / "large.bin").read_bytes()
    assert (whole.status_code, whole.content) == (200, large)
    assert (part.status_code, part.content) == (206, large[1000:301000])
    assert absent.status_code == 404
    assert [record["upstream"]["protocol"] for record in between.journal(3)] == ["h2"] * 3
    assert whole.http_version == ("HTTP/2" if protocol == "h2" else "HTTP/1.1")


async def test_chunks_of_a_stream_keep_their_boundaries(proxy):
    answer = [CHUNKED, *(b"%x\r\n%s\r\n" % (size, bytes(size)) for size in (1, 300, 20, 9000, 1, 1)), b"0\r\n\r\n"]
    async with origin(answer, [b"".join(answer)]) as served:
        between = proxy(served.url)
        for _ in ("written one by one", "written at once"):
            through, _ = await asked(between.port, b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert through == b"".join(answer)


async def test_what_the_proxy_forwards_is_what_the_client_said(proxy):
    head = (
        b"POST /v1/x?y=%20z HTTP/1.1\r\nHost: Example.TEST:81\r\nX-CaSe: 1\r\naccept: a\r\nAccept: b\r\n"
        b"X-Empty:\r\nCookie: a=b\r\nCookie: c=d\r\nContent-Length: 3\r\n\r\n"
    )
    async with origin([b"HTTP/1.1 204 No Content\r\n\r\n"]) as served:
        between = proxy(served.url)
        async with await RawClient.connect("127.0.0.1", between.port) as client:
            await client.send(head + b"abc")
            await client.read_until(b"\r\n\r\n")
        (seen,) = served.requests
    assert seen.head.replace(b"X-Empty: \r\n", b"X-Empty:\r\n") == head
    assert seen.body == b"abc"
