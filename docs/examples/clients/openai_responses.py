"""OpenAI's client for Python: a response. An error comes as an event like any other."""

from answer import LIMIT, run
from openai import OpenAI


def ask(answer):
    for event in OpenAI(**LIMIT).responses.create(model="m", input="hi", stream=True):
        if event.type == "response.output_text.delta":
            answer.text += event.delta
        elif event.type in {"response.completed", "response.incomplete", "response.failed"}:
            answer.finish = event.response.status
        elif "error" in (event.type or "error"):
            answer.flag = f"an event: {event.to_json(indent=None)}"


run(ask)
