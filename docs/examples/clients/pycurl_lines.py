"""pycurl: whatever comes, in a callback; its time-out is an average speed."""

import json

import pycurl
from answer import BODY, CHAT, SECONDS, run


def ask(answer):
    rest = b""

    def read(piece):
        nonlocal rest
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            answer.line(line)

    curl = pycurl.Curl()
    for option, value in {
        pycurl.URL: CHAT,
        pycurl.POSTFIELDS: json.dumps(BODY),
        pycurl.HTTPHEADER: ["Content-Type: application/json"],
        pycurl.ACCEPT_ENCODING: "",
        pycurl.FAILONERROR: True,
        pycurl.WRITEFUNCTION: read,
        pycurl.LOW_SPEED_LIMIT: 1 if SECONDS else 0,
        pycurl.LOW_SPEED_TIME: round(SECONDS or 0),
    }.items():
        curl.setopt(option, value)
    curl.perform()


run(ask)
