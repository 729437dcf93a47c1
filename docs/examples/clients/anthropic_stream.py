"""Anthropic's client for Python: a message, by its helper for streams."""

from answer import ASKED, LIMIT, run
from anthropic import Anthropic


def ask(answer):
    with Anthropic(**LIMIT).messages.stream(model="m", max_tokens=100, messages=ASKED) as stream:
        for text in stream.text_stream:
            answer.text += text
        answer.finish = stream.get_final_message().stop_reason


run(ask)
