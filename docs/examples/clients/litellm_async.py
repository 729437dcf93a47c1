"""LiteLLM with asyncio, the way to OpenAI and what is compatible with it."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import asks the network

import litellm
from answer import ASKED, LIMIT, URL, run

litellm.suppress_debug_info = True  # it prints advice


async def ask(answer):
    asked = {"model": "openai/m", "messages": ASKED, "stream": True, "api_base": URL + "/v1"}
    async for part in await litellm.acompletion(**asked, **LIMIT):
        for choice in part.choices:
            answer.text += choice.delta.content or ""
            answer.finish = choice.finish_reason or answer.finish


run(ask)
