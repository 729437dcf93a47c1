"""curl through the proxy, in every version it speaks; what it says about each ending."""

import pytest
import trio

from chaosproxy.testing.peers import Ending, origin
from tests.interop.conftest import find

EVENTS = [b"data: %d\n\n" % number for number in range(5)]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAM = [HEAD, *(b"%x\r\n%s\r\n" % (len(event), event) for event in EVENTS), b"0\r\n\r\n"]
VERSIONS = {
    "1.0": ("--http1.0", False),
    "1.1": ("--http1.1", False),
    "1.1 tls": ("--http1.1", True),
    "2 prior knowledge": ("--http2-prior-knowledge", False),
    "2 tls": ("--http2", True),
}


@pytest.fixture(autouse=True)
def installed():
    find("curl")


async def curl(run, between, *arguments: str, path: str = "/sse"):
    trusted = ("--cacert", between.ca) if between.ca else ()
    return await trio.to_thread.run_sync(
        lambda: run("curl", "-sSN", "--max-time", "30", *trusted, *arguments, between.url + path)
    )


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_stream_arrives_whole_in_every_version(version, run, proxy):
    option, tls = VERSIONS[version]
    async with origin(STREAM) as served:
        between = proxy(served.url, **({"tls": "auto"} if tls else {}))
        done = await curl(run, between, option, "-w", "%{http_version} %{http_code}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"".join(EVENTS) + (b"2 200" if version[0] == "2" else b"1.1 200")
    (record,) = between.journal(1)
    assert record["end"] == {"by": "upstream", "how": "clean", "cause": None}
    assert record["response"]["bytes_out"] == 45


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_upload_arrives_whole_in_every_version(version, run, proxy, tmp_path):
    option, tls = VERSIONS[version]
    body = bytes(range(256)) * 2000
    (tmp_path / "body").write_bytes(body)
    async with origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served:
        between = proxy(served.url, **({"tls": "auto"} if tls else {}))
        done = await curl(run, between, option, "--data-binary", f"@{tmp_path}/body")
        assert done.stdout == b"ok", done.stderr
        (seen,) = served.requests
    assert seen.body == body


async def test_one_stream_is_reset_behind_its_third_event_and_its_siblings_go_on(run, proxy, tmp_path):
    scenario = {"rules": [{"nth": 1, "faults": [{"cut": {"at": {"event": 3}, "then": {"stream": "INTERNAL_ERROR"}}}]}]}
    third, go_on = trio.Event(), trio.Event()
    said: dict[str, str] = {}
    files = {f"/{number}": tmp_path / str(number) for number in range(3)}
    async with origin([*STREAM[:3], third, STREAM[3], go_on, *STREAM[4:]]) as served:
        between = proxy(served.url, scenario, tls="auto")
        urls = [word for path, file in files.items() for word in (between.url + path, "-o", str(file))]
        options = ("--http2", "--cacert", between.ca, "--parallel", "-sN", "-w", "%{urlnum} %{exitcode}\n")

        async def ask() -> None:
            done = await trio.to_thread.run_sync(lambda: run("curl", *options, *urls))
            said.update(line.split() for line in done.stdout.decode().splitlines())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            with trio.fail_after(20):
                while not all(file.exists() and file.read_bytes() == b"".join(EVENTS[:2]) for file in files.values()):
                    await trio.sleep(0.01)
            third.set()
            (reset,) = await trio.to_thread.run_sync(between.journal, 1)
            go_on.set()
    ends = {one["request"]["path"]: (one["client"]["connection"], one["end"]["how"]) for one in between.journal(3)}
    first = reset["request"]["path"]
    assert ends == {path: (1, "stream:INTERNAL_ERROR" if path == first else "clean") for path in ("/0", "/1", "/2")}
    assert reset["response"]["events_out"] == 3
    came = {path: file.read_bytes() for path, file in files.items()}
    # What comes together with the reset, curl may drop.
    assert came.pop(first) in (b"".join(EVENTS[:2]), b"".join(EVENTS[:3]))
    assert list(came.values()) == [b"".join(EVENTS)] * 2
    # 92: stream error in the HTTP/2 framing layer
    assert said == {path[1:]: "92" if path == first else "0" for path in ends}


async def test_a_chunked_upload_of_unknown_length(run, proxy):
    async with origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served:
        between = proxy(served.url)
        done = await trio.to_thread.run_sync(
            lambda: run("curl", "-sS", "-H", "Expect:", "-T", "-", between.url + "/put", stdin=b"from a pipe")
        )
        assert done.stdout == b"ok", done.stderr
        assert served.requests[0].body.endswith(b"\r\n0\r\n\r\n")
        assert b"from a pipe" in served.requests[0].body


@pytest.mark.parametrize(
    ("version", "ending", "codes"),
    [
        ("1.1", Ending.FIN, {18}),  # transfer closed with outstanding read data remaining
        ("1.1", Ending.RST, {56}),  # failure in receiving network data
        ("1.1 tls", Ending.FIN, {18}),
        ("1.1 tls", Ending.RST, {56}),
        ("2 prior knowledge", Ending.FIN, {92}),  # stream error in the HTTP/2 framing layer
        ("2 tls", Ending.RST, {92}),
    ],
)
async def test_a_stream_that_the_upstream_breaks_off_is_an_error_to_the_client(
    version, ending, codes, run, proxy, tmp_path
):
    option, tls = VERSIONS[version]
    came, has_come, file = b"".join(EVENTS[:3]), trio.Event(), tmp_path / "came"

    async def let_it_break_off_once_curl_has_all():
        # What comes together with RST_STREAM, curl drops.
        while not (file.exists() and file.read_bytes() == came):
            await trio.sleep(0.01)
        has_come.set()

    async with origin([*STREAM[:4], has_come, ending]) as served, trio.open_nursery() as nursery:
        between = proxy(served.url, **({"tls": "auto"} if tls else {}))
        nursery.start_soon(let_it_break_off_once_curl_has_all)
        with trio.fail_after(40):
            done = await curl(run, between, option, "-o", str(file))
        nursery.cancel_scope.cancel()
    assert done.returncode in codes, done.stderr
    assert file.read_bytes() == came
    (record,) = between.journal(1)
    assert (record["end"]["by"], record["end"]["cause"]) == ("upstream", f"upstream:{ending}")


async def test_an_upstream_that_is_not_there_is_a_502_in_one_line(run, proxy):
    between = proxy("http://127.0.0.1:1")
    done = await curl(run, between, "-i")
    assert done.stdout.startswith(b"HTTP/1.1 502 ")
    assert b"Connection refused" in done.stdout.rpartition(b"\r\n\r\n")[2]


async def test_many_requests_on_one_connection(run, proxy):
    async with origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served:
        between = proxy(served.url)
        done = await curl(run, between, between.url + "/second", between.url + "/third")
    assert done.stdout == b"okokok"
    assert [record["client"]["connection"] for record in between.journal(3)] == [1, 1, 1]


async def test_connect_passes_to_the_upstream_which_is_the_proxy_that_dials(run, proxy):
    """CONNECT is the upstream's business: what follows its 200 is a tunnel, here to a server behind it."""
    inner = b"GET /inside HTTP/1.1\r\n"
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ninside"
    async with origin([b"HTTP/1.1 200 Connected\r\n\r\n"], [answer]) as served:
        between = proxy(served.url)
        arguments = ("-sS", "--max-time", "30", "-p", "-x", between.url, "http://target.test:81/inside")
        done = await trio.to_thread.run_sync(lambda: run("curl", *arguments))
        assert (done.returncode, done.stdout) == (0, b"inside"), done.stderr
        connect, through = served.requests
    assert connect.head.startswith(b"CONNECT target.test:81 HTTP/1.1\r\n")
    assert through.head.startswith(inner)
    assert through.connection == connect.connection


async def test_an_absolute_target_reaches_the_upstream_as_it_is(run, proxy):
    async with origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]) as served:
        between = proxy(served.url)
        done = await trio.to_thread.run_sync(lambda: run("curl", "-sS", "-x", between.url, "http://target.test/x?y=z"))
        assert done.stdout == b"ok", done.stderr
        assert served.requests[0].head.startswith(b"GET http://target.test/x?y=z HTTP/1.1\r\n")
