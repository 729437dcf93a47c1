"""OpenAI's client for Python: a chat."""

from answer import ASKED, LIMIT, run
from openai import OpenAI


def ask(answer):
    for part in OpenAI(**LIMIT).chat.completions.create(model="m", messages=ASKED, stream=True):
        for choice in part.choices:
            answer.text += choice.delta.content or ""
            answer.finish = choice.finish_reason or answer.finish


run(ask)
