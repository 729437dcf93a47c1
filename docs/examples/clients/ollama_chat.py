"""Ollama's client for Python: a chat, in lines of JSON."""

from answer import ASKED, LIMIT, run
from ollama import Client


def ask(answer):
    for part in Client(**LIMIT).chat("m", ASKED, stream=True):
        answer.text += part.message.content or ""
        answer.finish = part.done_reason or answer.finish


run(ask)
