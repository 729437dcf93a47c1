"""httpx with httpx-sse: event by event."""

import httpx
from answer import BODY, CHAT, LIMIT, run
from httpx_sse import connect_sse


def ask(answer):
    with httpx.Client(**LIMIT) as client, connect_sse(client, "POST", CHAT, json=BODY) as source:
        source.response.raise_for_status()
        for event in source.iter_sse():
            if answer.data(event.data):
                break


run(ask)
