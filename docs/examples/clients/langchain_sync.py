"""LangChain's ChatOpenAI."""

from answer import LIMIT, URL, run
from langchain_openai import ChatOpenAI


def ask(answer):
    for part in ChatOpenAI(model="m", base_url=URL + "/v1", **LIMIT).stream("hi"):
        answer.text += part.text
        answer.finish = part.response_metadata.get("finish_reason") or answer.finish


run(ask)
