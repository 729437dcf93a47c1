"""aiohttp: line by line."""

import aiohttp
from answer import BODY, CHAT, SECONDS, run


async def ask(answer):
    limit = {"timeout": aiohttp.ClientTimeout(sock_read=SECONDS)} if SECONDS else {}
    async with aiohttp.ClientSession(**limit) as session, session.post(CHAT, json=BODY) as response:
        response.raise_for_status()
        async for line in response.content:
            if answer.line(line):
                break


run(ask)
