"""requests: line by line."""

import requests
from answer import BODY, CHAT, LIMIT, run


def ask(answer):
    response = requests.post(CHAT, json=BODY, stream=True, **LIMIT)
    response.raise_for_status()
    for line in response.iter_lines():
        if answer.line(line):
            break


run(ask)
