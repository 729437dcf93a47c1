"""The origin as an ASGI application: its paths, and what each makes of a request.

Must not know: how tokens are scheduled, how it is served.
"""

import itertools
import time
from collections.abc import Awaitable, Callable
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from chaosproxy.origin import openai, sse
from chaosproxy.origin.answer import Answer, Streamed, Whole
from chaosproxy.origin.anthropic import Messages
from chaosproxy.origin.engine import Job, Link, TooLongError
from chaosproxy.origin.gemini import GenerateContent, StreamGenerateContent
from chaosproxy.origin.ollama import OllamaChat
from chaosproxy.origin.question import UNSAID, BadQuestionError, Knobs, read_body, read_knobs
from chaosproxy.origin.responses import Responses
from chaosproxy.origin.runtime import Generation, Runtime
from chaosproxy.origin.shape import MODEL, Reply, Shape

Endpoint = Callable[[Request], Awaitable[ASGIApp]]

SHAPES: dict[str, Shape] = {
    "/v1/chat/completions": openai.Chat(),
    "/v1/completions": openai.Completions(),
    "/v1/responses": Responses(),
    "/v1/messages": Messages(),
    "/api/chat": OllamaChat(),
    "/v1/models/{model}:generateContent": GenerateContent(),
    "/v1/models/{model}:streamGenerateContent": StreamGenerateContent(),
    "/v1beta/models/{model}:generateContent": GenerateContent(),
    "/v1beta/models/{model}:streamGenerateContent": StreamGenerateContent(),
}


class Origin:
    """The application over a running engine; `broken` links of the abort chain are left out. `otherwise`: the knobs of
    requests that say nothing."""

    def __init__(self, runtime: Runtime, broken: frozenset[Link], otherwise: Knobs = UNSAID) -> None:
        self._runtime = runtime
        self._otherwise = otherwise
        self._looks = Link.DISCONNECT not in broken
        self._numbers = itertools.count(1)
        self._started = int(time.time())

    def application(self) -> ASGIApp:
        asking = [Route(path, self._asked(shape), methods=["POST"]) for path, shape in SHAPES.items()]
        looking = [
            Route("/sse", self._sse),
            Route("/stats", self._stats),
            Route("/v1/models", self._models),
            Route("/healthz", self._healthy),
        ]
        return Starlette(routes=[*asking, *looking], exception_handlers={HTTPException: _no_such})

    def _asked(self, shape: Shape) -> Endpoint:
        async def endpoint(request: Request) -> ASGIApp:
            try:
                content = await request.body()
            except ClientDisconnect:
                return Response(status_code=400)  # nobody reads it
            try:
                body = {**request.path_params, **read_body(content)}
                question = shape.read(body, self._knobs(request))
                generation = self._start(question.job())
            except BadQuestionError as error:
                return JSONResponse(shape.refusal(str(error), error.field), 400)
            reply = Reply(question, next(self._numbers), time.time())
            if not question.stream:
                return self._answer(generation, Whole(reply.tokens, partial(shape.whole, reply)))
            pieces, closing = partial(shape.pieces, reply), partial(shape.closing, reply)
            return self._answer(generation, Streamed(shape.media_type, reply.tokens, pieces, closing))

        return endpoint

    async def _sse(self, request: Request) -> ASGIApp:
        try:
            question = sse.read(self._knobs(request))
            had = sse.had(request.headers, question.words.count)
            rest = question.words.count - had
            if not rest:
                return Response(status_code=204)
            generation = self._start(Job(0, rest, question.first, question.gap))
        except BadQuestionError as error:
            return JSONResponse(sse.refusal(str(error)), 400)
        reply = Reply(question, next(self._numbers), time.time())
        return self._answer(generation, Streamed("text/event-stream", rest, partial(sse.piece, reply, skipped=had)))

    def _knobs(self, request: Request) -> Knobs:
        return read_knobs(request.query_params, request.headers, self._otherwise)

    def _start(self, job: Job) -> Generation:
        try:
            return self._runtime.start(job)
        except TooLongError as error:
            raise BadQuestionError(str(error), "tokens") from error

    def _answer(self, generation: Generation, content: Streamed | Whole) -> Answer:
        return Answer(generation, content, self._looks)

    async def _stats(self, request: Request) -> Response:
        return JSONResponse(self._runtime.stats())

    async def _models(self, request: Request) -> Response:
        model = {"id": MODEL, "object": "model", "created": self._started, "owned_by": "chaosproxy"}
        return JSONResponse({"object": "list", "data": [model]})

    async def _healthy(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")


async def _no_such(request: Request, error: Exception) -> Response:
    """A path or method that there is not."""
    assert isinstance(error, HTTPException)
    said = f"{error.detail}: {request.method} {request.url.path}"
    return JSONResponse(openai.refusal(said, None, "not_found_error"), error.status_code, error.headers)
