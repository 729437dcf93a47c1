"""LiteLLM, the way to Anthropic."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import asks the network

import litellm
from answer import ASKED, LIMIT, URL, run

litellm.suppress_debug_info = True  # it prints advice


def ask(answer):
    asked = {"model": "anthropic/m", "messages": ASKED, "stream": True, "max_tokens": 100, "api_base": URL}
    for part in litellm.completion(**asked, **LIMIT):
        for choice in part.choices:
            answer.text += choice.delta.content or ""
            answer.finish = choice.finish_reason or answer.finish


run(ask)
