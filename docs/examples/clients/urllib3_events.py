"""urllib3 with sseclient-py: event by event."""

import urllib3
from answer import BODY, CHAT, LIMIT, run
from sseclient import SSEClient


def ask(answer):
    response = urllib3.PoolManager().request("POST", CHAT, json=BODY, preload_content=False, **LIMIT)
    if response.status != 200:
        raise urllib3.exceptions.HTTPError(f"status {response.status}")
    for event in SSEClient(response).events():
        if answer.data(event.data):
            break


run(ask)
