"""aiohttp with aiohttp-sse-client2: event by event."""

import aiohttp
from aiohttp_sse_client2.client import EventSource
from answer import BODY, CHAT, SECONDS, run


async def ask(answer):
    limit = {"timeout": aiohttp.ClientTimeout(sock_read=SECONDS)} if SECONDS else {}
    async with EventSource(CHAT, option={"method": "POST"}, json=BODY, **limit) as source:
        async for event in source:
            if answer.data(event.data):
                break


run(ask)
