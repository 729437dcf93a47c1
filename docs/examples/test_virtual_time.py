"""The official OpenAI client meets a minute of silence, in milliseconds: client, proxy and server share Trio's virtual clock.

The client's library is told how connections are made; everything above that, its time-outs too, is as it is shipped.
(`TrioStream` and `_pool` are names of its own that may change; it offers no public ones for this.)
"""

import httpcore2
import httpx2
import openai
import pytest
import trio
from httpcore2._backends.trio import TrioStream
from trio.testing import MockClock

import chaosproxy

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
WORD = b'data: {"choices": [{"index": 0, "delta": {"content": "hello "}}]}\n\n'


async def engine(stream):
    """Three words at once, and then it thinks for an hour."""
    await stream.receive_some()
    await stream.send_all(HEAD)
    for _ in range(3):
        await stream.send_all(b"%x\r\n%s\r\n" % (len(WORD), WORD))
    await trio.sleep(3600)


class Link(TrioStream):
    def get_extra_info(self, info):
        return False if info == "is_readable" else None  # there is no socket that could be asked


class Links(httpcore2.AsyncNetworkBackend):
    """Whatever is dialled is the proxy."""

    def __init__(self, proxy):
        self.proxy = proxy

    async def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        return Link(self.proxy.connect())


def client_of(proxy, **options):
    transport = httpx2.AsyncHTTPTransport()
    transport._pool = httpcore2.AsyncConnectionPool(network_backend=Links(proxy))
    http = httpx2.AsyncClient(transport=transport)
    return openai.AsyncOpenAI(api_key="none", base_url="http://proxy/v1", http_client=http, max_retries=0, **options)


async def ask(client, words):
    question = [{"role": "user", "content": "hello"}]
    async for part in await client.chat.completions.create(model="m", messages=question, stream=True):
        words.append(part.choices[0].delta.content)


def test_a_machine_in_between_drops_what_is_idle_for_a_minute():
    async def main():
        drop = {"version": 1, "faults": [{"timeout": {"idle": "60s"}}]}
        words = []
        async with chaosproxy.open_proxy(drop, upstream=engine) as proxy, client_of(proxy) as client:
            began = trio.current_time()
            with pytest.raises(openai.APIConnectionError):
                await ask(client, words)
            assert (len(words), round(trio.current_time() - began, 3)) == (3, 60)

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_the_client_s_own_limit_comes_first():
    async def main():
        patient = {
            "version": 1,
            "expect": [{"client_leaves": {"within": "31s", "at_least": "29s", "after": "last_event"}}],
        }
        words = []
        limit = openai.Timeout(600, read=30)
        async with chaosproxy.open_proxy(patient, upstream=engine) as proxy:
            async with client_of(proxy, timeout=limit) as client:
                with pytest.raises(openai.APITimeoutError):
                    await ask(client, words)
            await proxy.settle()
            assert proxy.verdict().good, proxy.verdict()

    trio.run(main, clock=MockClock(autojump_threshold=0))
