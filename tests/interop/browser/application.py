"""Serves a page that reads streams, the streams, and what the page has told: a browser tells by requests of its own."""

import asyncio
from collections import defaultdict
from pathlib import Path

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, StreamingResponse
from starlette.routing import Route

PAGE = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
COUNT = 3
log = defaultdict(list)
"""For each path, in order: how many events the page has read, when everything was `sent`, that it was `done`."""
gates = defaultdict(asyncio.Event)


async def page(request):
    return HTMLResponse(PAGE.replace("PATHS", request.query_params["paths"]))


async def events(request):
    """`sync`: each event when the page has read the one before. Else one after the other."""
    path = request.url.path

    async def body():
        for number in range(1, COUNT + 1):
            yield f"data: {number}\n\n"
            if path.endswith("/sync"):
                await gates[path, str(number)].wait()
            else:
                await asyncio.sleep(0.05)
        log[path].append("sent")

    return StreamingResponse(body(), media_type="text/event-stream")


async def seen(request):
    path, what = request.query_params["path"], request.query_params["what"]
    log[path].append(what)
    gates[path, what].set()
    return JSONResponse(None)


async def told(request):
    return JSONResponse(log)


app = Starlette(
    routes=[
        Route("/page", page),
        Route("/sse/{coding}/{flush}", events),
        Route("/seen", seen),
        Route("/log", told),
    ]
)
