import asyncio

import anyio
import httpx
import pytest
import trio
from client import ask_async

import chaosproxy as package

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.asyncio
@pytest.mark.chaosproxy("reset")
async def test_asyncio(chaosproxy):
    with pytest.raises(httpx.ReadError):
        await ask_async(chaosproxy.url)
    await asyncio.to_thread(chaosproxy.wait, 1, 60)
    assert chaosproxy.last.end.how == "rst"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.chaosproxy("reset")
async def test_anyio(chaosproxy, anyio_backend):
    with pytest.raises(httpx.ReadError):
        await ask_async(chaosproxy.url)
    await anyio.to_thread.run_sync(chaosproxy.wait, 1, 60)
    assert chaosproxy.last.end.how == "rst"


@pytest.mark.trio
@pytest.mark.chaosproxy("reset")
async def test_trio(chaosproxy, nursery):
    with pytest.raises(httpx.ReadError):
        await ask_async(chaosproxy.url)
    await trio.to_thread.run_sync(chaosproxy.wait, 1, 60)
    assert chaosproxy.last.end.how == "rst"


@pytest.mark.asyncio
async def test_session(chaosproxy_session):
    with pytest.raises(httpx.ReadError):
        await ask_async(chaosproxy_session.url + "/reset")


async def falls_silent(stream):
    await stream.receive_some()
    await stream.send_all(HEAD + b"9\r\ndata: a\n\n\r\n")
    await trio.sleep(24 * 3600)


@pytest.mark.trio
async def test_virtual_time(autojump_clock):
    drop = {"version": 1, "faults": [{"timeout": {"idle": "60s"}}]}
    async with package.open_proxy(drop, upstream=falls_silent) as proxy, proxy.connect() as client:
        await client.send_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        async for _ in client:
            pass
        await proxy.settle()
        assert round(proxy.last.times.end, 3) == 60
