"""Anthropic's client for Python: a message, event by event."""

from answer import ASKED, LIMIT, run
from anthropic import Anthropic


def ask(answer):
    for event in Anthropic(**LIMIT).messages.create(model="m", max_tokens=100, messages=ASKED, stream=True):
        if event.type == "content_block_delta":
            answer.text += event.delta.text
        elif event.type == "message_delta":
            answer.finish = event.delta.stop_reason


run(ask)
