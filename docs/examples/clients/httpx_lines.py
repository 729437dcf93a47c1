"""httpx: line by line."""

import httpx
from answer import BODY, CHAT, LIMIT, run


def ask(answer):
    with httpx.stream("POST", CHAT, json=BODY, **LIMIT) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            if answer.line(line):
                break


run(ask)
