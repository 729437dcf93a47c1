"""LiteLLM, the way to Anthropic."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import asks the network

import litellm
from answer import ASKED, LIMIT, URL, run

litellm.suppress_debug_info = True  # it prints advice


def ask(answer):
    asked = {"model": "anthropic/m", "messages": ASKED, "stream": True, "max_tokens": 100, "api_base": URL}
    for part in litellm.completion(**asked, **LIMIT):
        answer.text += part.choices[0].delta.content or ""
        answer.finish = part.choices[0].finish_reason or answer.finish


run(ask)
