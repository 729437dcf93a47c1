"""The client under test, in two kinds."""

import httpx

QUESTION = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}


def ask(url):
    with httpx.stream("POST", f"{url}/v1/chat/completions", json=QUESTION, timeout=60) as response:
        return [line for line in response.iter_lines() if line]


async def ask_async(url):
    async with (
        httpx.AsyncClient(timeout=60) as client,
        client.stream("POST", f"{url}/v1/chat/completions", json=QUESTION) as response,
    ):
        return [line async for line in response.aiter_lines() if line]
