"""Servers as people write them: raw ASGI applications under uvicorn, some of which behave badly."""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import uvicorn

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

TOKEN = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
PING = b"event: ping\ndata: {}\n\n"
DONE = b"data: [DONE]\n\n"
THINKING = 0.6
"""Seconds of silence of those that are silent: longer than any limit that they are to miss."""


@contextlib.contextmanager
def served(application: Application) -> Iterator[str]:
    """The application on a free port, in a thread of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        listening.close()


class Answer:
    """What an application says, piece by piece."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send

    async def head(self, status: int = 200, **fields: str) -> None:
        given = {"content-type": "text/event-stream", **{name.replace("_", "-"): said for name, said in fields.items()}}
        headers = [(name.encode(), said.encode()) for name, said in given.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def piece(self, payload: bytes) -> None:
        await self._send({"type": "http.response.body", "body": payload, "more_body": True})

    async def end(self, payload: bytes = b"") -> None:
        await self._send({"type": "http.response.body", "body": payload})

    async def gone(self) -> None:
        """Wait until the client has left."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


async def whole(answer: Answer) -> None:
    await answer.head(x_accel_buffering="no")
    await answer.end(TOKEN + TOKEN + DONE)


async def bare(answer: Answer) -> None:
    await answer.head()
    await answer.end(TOKEN + DONE)


async def headless(answer: Answer) -> None:
    await answer.gone()


async def eventless(answer: Answer) -> None:
    await answer.head()
    await answer.gone()


async def endless(answer: Answer) -> None:
    """One token; it takes a client that leaves to end this."""
    await answer.head()
    await answer.piece(TOKEN)
    await answer.gone()


async def pinging_on(answer: Answer) -> None:
    """The same, kept alive meanwhile."""
    await answer.head()
    await answer.piece(TOKEN)
    left = asyncio.create_task(answer.gone())
    while not left.done():
        await answer.piece(PING)
        await asyncio.sleep(THINKING / 30)


async def long_halting(answer: Answer) -> None:
    """Time enough for a client to leave in the middle, however busy the machine."""
    await answer.head()
    await answer.piece(TOKEN)
    await asyncio.sleep(4 * THINKING)
    await answer.end(TOKEN + DONE)


async def halting(answer: Answer) -> None:
    """Two tokens with a long silence between them."""
    await answer.head()
    await answer.piece(TOKEN)
    await asyncio.sleep(THINKING)
    await answer.end(TOKEN + DONE)


async def pinging(answer: Answer) -> None:
    """The same, but kept alive meanwhile."""
    await answer.head()
    await answer.piece(TOKEN)
    for _ in range(30):
        await asyncio.sleep(THINKING / 30)
        await answer.piece(PING)
    await answer.end(TOKEN + DONE)


async def breaking(answer: Answer) -> None:
    await answer.head()
    await answer.piece(TOKEN)
    raise RuntimeError("a bug in the middle of an answer")


async def busy(answer: Answer) -> None:
    await answer.head(503, retry_after="1")
    await answer.end(json.dumps({"error": {"message": "busy"}}).encode())


async def busy_for_long(answer: Answer) -> None:
    await answer.head(503, retry_after="30")
    await answer.end(b"{}")


async def failing(answer: Answer) -> None:
    await answer.head(500)
    await answer.end(b"{}")


async def briefly_busy(answer: Answer) -> None:
    """The clients of OpenAI and Anthropic read milliseconds too."""
    await answer.head(503, retry_after_ms="1")
    await answer.end(b"{}")


BEHAVIOURS = [
    whole, bare, headless, eventless, endless, halting, long_halting, pinging, pinging_on, breaking, busy, busy_for_long,
    failing, briefly_busy,
]  # fmt: skip
PATHS = {f"/{one.__name__}": one for one in BEHAVIOURS}


async def behaving(scope: Message, receive: Receive, send: Send) -> None:
    """The first part of the path says how; OpenAI's client has more behind it."""
    assert scope["type"] == "http"
    while (await receive()).get("more_body"):
        pass
    await PATHS["/" + scope["path"].split("/")[1]](Answer(receive, send))
