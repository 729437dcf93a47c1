"""OpenAI's client for Python, with asyncio: a chat."""

from answer import ASKED, LIMIT, run
from openai import AsyncOpenAI


async def ask(answer):
    async for part in await AsyncOpenAI(**LIMIT).chat.completions.create(model="m", messages=ASKED, stream=True):
        for choice in part.choices:
            answer.text += choice.delta.content or ""
            answer.finish = choice.finish_reason or answer.finish


run(ask)
