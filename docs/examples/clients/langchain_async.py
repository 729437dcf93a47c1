"""LangChain's ChatOpenAI, with asyncio, where it has a time-out of its own between two chunks."""

from answer import LIMIT, SECONDS, URL, run
from langchain_openai import ChatOpenAI


async def ask(answer):
    limit = {**LIMIT, "stream_chunk_timeout": SECONDS} if SECONDS else {}
    async for part in ChatOpenAI(model="m", base_url=URL + "/v1", **limit).astream("hi"):
        answer.text += part.text
        answer.finish = part.response_metadata.get("finish_reason") or answer.finish


run(ask)
