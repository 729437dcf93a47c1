import asyncio

import anyio
import httpx
import pytest
import trio
from client import ask_async


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
