"""The standard library's urllib: line by line."""

import json
from urllib.request import Request, urlopen

from answer import BODY, CHAT, LIMIT, run


def ask(answer):
    question = Request(CHAT, json.dumps(BODY).encode(), {"Content-Type": "application/json"})
    with urlopen(question, **LIMIT) as response:
        for line in response:
            if answer.line(line):
                break


run(ask)
