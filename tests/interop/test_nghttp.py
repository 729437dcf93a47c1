"""nghttp, an HTTP/2 client with a stack of its own, through the proxy: frames, many streams at once, trailers."""

import re

import pytest
import trio

from chaosproxy.testing.peers import Ending, origin
from tests.interop.conftest import find

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n"


@pytest.fixture(autouse=True)
def installed():
    find("nghttp")


async def nghttp(run, *arguments: str):
    return await trio.to_thread.run_sync(lambda: run("nghttp", "-t", "10", *arguments))


@pytest.mark.parametrize("tls", [False, True])
async def test_an_answer(tls, run, proxy):
    async with origin([ANSWER]) as served:
        between = proxy(served.url, **({"tls": "auto"} if tls else {}))
        done = await nghttp(run, "-v", between.url + "/x")
    assert done.returncode == 0, done.stderr
    assert b":status: 200" in done.stdout
    assert b"hello" in done.stdout


async def test_trailers_arrive_behind_the_data(run, proxy):
    async with origin([CHUNKED, b"3\r\nabc\r\n", b"0\r\nX-Sum: 42\r\n\r\n"]) as served:
        between = proxy(served.url)
        done = await nghttp(run, "-v", between.url + "/x")
    said = done.stdout.decode()
    assert said.index("abc") < said.index("x-sum: 42")
    assert "RST_STREAM" not in said


async def test_fifty_requests_at_once_on_one_connection(run, proxy):
    async with origin([ANSWER]) as served:
        between = proxy(served.url)
        done = await nghttp(run, "-m", "50", between.url + "/x")
        assert len(served.requests) == 50
    assert done.stdout == b"hello" * 50, done.stderr
    assert {record["client"]["connection"] for record in between.journal(50)} == {1}
    assert len({record["client"]["stream"] for record in between.journal(50)}) == 50


async def test_one_stream_that_breaks_off_leaves_the_others_alone(run, proxy):
    broken = [CHUNKED, b"3\r\nabc\r\n", Ending.FIN]
    async with origin(broken, [ANSWER]) as served:
        between = proxy(served.url)
        done = await nghttp(run, "-v", "-m", "5", between.url + "/x")
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode())
    assert len(re.findall(r"recv RST_STREAM", said)) == 1
    assert "INTERNAL_ERROR" in said
    assert said.count("hello") == 4


async def test_a_large_body_through_a_small_window(run, proxy):
    size = 3_000_000
    async with origin([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size, bytes(size)]) as served:
        between = proxy(served.url)
        done = await nghttp(run, "-w", "14", "-W", "15", between.url + "/x")
    assert len(done.stdout) == size, done.stderr


async def test_an_upload(run, proxy, tmp_path):
    (tmp_path / "body").write_bytes(bytes(500_000))
    async with origin([ANSWER]) as served:
        between = proxy(served.url)
        done = await nghttp(run, "-d", str(tmp_path / "body"), between.url + "/x")
        assert done.stdout == b"hello", done.stderr
        assert served.requests[0].body.count(0) >= 500_000
