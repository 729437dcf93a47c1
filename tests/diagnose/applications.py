"""Applications that stream, with a middleware that does not let them: on uvicorn, in front of nobody.

Each event takes its time, and none of them says how it was asked.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

EVENTS, GAP = 60, 0.02
FILLER = "." * 170


async def _events(form: Callable[[int], str]) -> AsyncIterator[str]:
    for number in range(EVENTS):
        await asyncio.sleep(GAP)
        yield form(number)


async def sse(request: Request) -> Response:
    return StreamingResponse(
        _events(lambda number: f'data: {{"token": "{number} {FILLER}"}}\n\n'), media_type="text/event-stream"
    )


async def file(request: Request) -> Response:
    """Not a stream by its type, and of a known length."""
    said = [f"{number:04} {FILLER}\n" for number in range(EVENTS)]
    length = str(sum(map(len, said)))
    return StreamingResponse(_events(said.__getitem__), headers={"content-length": length}, media_type="text/plain")


async def lines(request: Request) -> Response:
    return StreamingResponse(
        _events(lambda number: f'{{"token": "{number} {FILLER}"}}\n'), media_type="application/x-ndjson"
    )


class Gathers(BaseHTTPMiddleware):
    """Reads what goes out, to log it."""

    async def dispatch(self, request, call_next) -> Response:
        answer = await call_next(request)
        body = b"".join([piece async for piece in answer.body_iterator])
        fields = {name: value for name, value in answer.headers.items() if name != "content-length"}
        return Response(body, answer.status_code, fields)


class Passes(BaseHTTPMiddleware):
    """Looks at the head alone."""

    async def dispatch(self, request, call_next) -> Response:
        answer = await call_next(request)
        answer.headers["x-seen"] = "yes"
        return answer


class Compresses:
    """Everything, and flushes at the end: as middleware does that was made for pages."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if b"gzip" not in dict(scope["headers"]).get(b"accept-encoding", b""):
            await self._app(scope, receive, send)
            return
        coder = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)

        async def coded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-encoding", b"gzip")]
            else:
                more = message.get("more_body", False)
                body = coder.compress(message.get("body", b""))
                message["body"] = body if more else body + coder.flush()
            await send(message)

        await self._app(scope, receive, coded)


class Blocks:
    """Writes when so many bytes are there, whole events at a time."""

    def __init__(self, app: ASGIApp, size: int) -> None:
        self._app, self._size = app, size

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        held = b""

        async def blocks(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.body":
                held += message.get("body", b"")
                if message.get("more_body", False) and len(held) < self._size:
                    return
                message["body"], held = held, b""
            await send(message)

        await self._app(scope, receive, blocks)


def _made(*middleware: Middleware) -> Starlette:
    return Starlette(
        routes=[Route("/sse", sse), Route("/lines", lines), Route("/file", file)], middleware=list(middleware)
    )


APPLICATIONS: dict[str, Starlette] = {
    "plain": _made(),
    "gathers": _made(Middleware(Gathers)),
    "passes": _made(Middleware(Passes)),
    "writes blocks of 4 KiB": _made(Middleware(Blocks, size=4096)),
    "writes blocks of 2 KiB": _made(Middleware(Blocks, size=2048)),
    "compresses": _made(Middleware(Compresses)),
    "gzip": _made(Middleware(GZipMiddleware, minimum_size=0)),
}
"""By what their middleware does."""
