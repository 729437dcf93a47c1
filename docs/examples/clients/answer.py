"""What the probes in Python have in common: they print one JSON line of what a client gave to its application.

`text` is what came; `finish` the client's own word for the end, null where it has none; `outcome` is `ok`, `raised`,
or `flagged`: nothing was raised, but whoever looks is told; `error` is what was raised, the outermost first.
"""

import asyncio
import contextlib
import inspect
import json
import os
import sys
import time

os.environ.setdefault("OPENAI_API_KEY", "k")  # nobody looks at it, but the clients want one
os.environ.setdefault("ANTHROPIC_API_KEY", "k")

URL = os.environ.get("CHAOSPROXY_URL", "http://127.0.0.1:8666")
CHAT = URL + "/v1/chat/completions"
ASKED = [{"role": "user", "content": "hi"}]
BODY = {"model": "m", "messages": ASKED, "stream": True}
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else None
LIMIT = {"timeout": SECONDS} if SECONDS else {}  # python PROBE 1.5: as most clients call it
LEAVES = os.environ.get("CHAOSPROXY_CASE") in ("leave", "grpc-leave", "grpc-leave-cancel")
"""In these cases the application is to break out of its loop behind the third piece, and to live on."""


class Left(BaseException):
    """It has."""


class Answer:
    """What the application has of it so far."""

    finish = None
    flag = None
    _text, _additions = "", 0

    @property
    def text(self):
        return self._text

    @text.setter
    def text(self, text):
        self._text, self._additions = text, self._additions + 1
        if LEAVES and self._additions == 3:
            raise Left

    def data(self, data):
        """One event of a chat, read by hand. Whether it was the last."""
        if data == "[DONE]":
            return True
        for choice in json.loads(data)["choices"]:
            self.text += choice["delta"].get("content") or ""
            self.finish = choice["finish_reason"] or self.finish
        return False

    def line(self, line):
        """One line of an event stream, read by hand. Whether it was the last."""
        line = line.decode() if isinstance(line, bytes) else line
        return line.startswith("data:") and self.data(line[5:].strip())


def chain(error):
    """`APIConnectionError <- ReadError <- ConnectionResetError: Connection error.`"""
    names, said = [], str(error).strip()
    while error is not None and len(names) < 8:
        names.append(type(error).__name__)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return f"{' <- '.join(names)}: {said[:300]}"


async def asked(asking):
    """What asks, and the loop that runs on behind it if it leaves."""
    with contextlib.suppress(Left):
        await asking
        return
    await asyncio.sleep(2)


def run(ask):
    """Have the client ask, and print what came of it. `ask` may be a coroutine function."""
    answer, error = Answer(), None
    try:
        with contextlib.suppress(Left):
            asking = ask(answer)
            if inspect.isawaitable(asking):
                asyncio.run(asked(asking))
    except Exception as raised:  # noqa: BLE001 - whatever it is, it is the answer
        error = chain(raised)
    if LEAVES:
        time.sleep(2)
    outcome = "raised" if error else "flagged" if answer.flag else "ok"
    said = {"text": answer.text, "finish": answer.finish, "outcome": outcome, "error": error or answer.flag}
    print(json.dumps(said), flush=True)
    os._exit(outcome != "ok")  # what threads of a library still do at the end is not what is asked
