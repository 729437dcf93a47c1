"""requests with sseclient-py: event by event."""

import requests
from answer import BODY, CHAT, LIMIT, run
from sseclient import SSEClient


def ask(answer):
    response = requests.post(CHAT, json=BODY, stream=True, **LIMIT)
    response.raise_for_status()
    for event in SSEClient(response).events():
        if answer.data(event.data):
            break


run(ask)
