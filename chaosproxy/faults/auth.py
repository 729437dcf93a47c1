"""`auth`: the machine lets in who has the right credentials, and refuses all others before anything begins.

Imitates a provider's check of the API key, and a gateway that asks for one: 401 with a JSON body, which a client has to
show at once, whatever stream it asked for.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from chaosproxy.chain.actions import FOREVER, Actions, Note
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.faults.refusals import Refusal
from chaosproxy.faults.refusing import RefusingSpec, refused
from chaosproxy.model.headers import values
from chaosproxy.model.messages import Event, RequestHead
from chaosproxy.model.units import Within
from chaosproxy.model.validate import field_problem
from chaosproxy.model.vocabulary import BothWays, Way

UNAUTHORIZED = 401
_KEYS = (b"x-api-key", b"api-key", b"x-goog-api-key")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Auth(RefusingSpec):
    """Lets in who has the right credentials."""

    name: ClassVar[str] = "auth"
    main: ClassVar[str | None] = "token"
    ways: ClassVar[frozenset[Way | BothWays]] = frozenset({Way.REQUEST})

    way: Way = Way.REQUEST
    token: tuple[str, ...] = ()
    """The tokens that are let in. Default: any, if there is one at all."""
    header: str | None = None
    """The field that has to be the token, as it stands. Default: where providers look, which is `Authorization: Bearer
    TOKEN` and `x-api-key`, `api-key` or `x-goog-api-key`."""
    status: Annotated[int, Within(400, 599)] = UNAUTHORIZED
    """The status of the answer to who is refused; 401 has a `WWW-Authenticate: Bearer` (RFC 9110 section 15.5.2). Default
    401."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        wrong = None if self.header is None else field_problem(self.header.encode(), b"")
        return [*RefusingSpec.problems(self), *([] if wrong is None else [(("header",), wrong)])]

    def start(self, context: Context) -> Fault:
        return RunningAuth(self, context)


class RunningAuth(Fault):
    """Looks at the request's head."""

    rest = FOREVER
    sees = (RequestHead,)
    unfired = "let in"

    def __init__(self, spec: Auth, context: Context) -> None:
        self._spec, self._context = spec, context
        self._tokens = {token.encode() for token in spec.token}

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, RequestHead):
            return (event,)
        given = self._given(event)
        if given and (not self._tokens or not self._tokens.isdisjoint(given)):
            return (event,)
        reply = refused(self._spec, _WRONG if given else _MISSING, self._context, self._asks)
        why = "the credentials are wrong" if given else "there are no credentials"
        return (Note("fired", f"answered {reply.head.status}: {why}"), reply)

    def _given(self, head: RequestHead) -> list[bytes]:
        if self._spec.header is not None:
            return values(head.headers, self._spec.header.lower().encode())
        found = [value for name in _KEYS for value in values(head.headers, name)]
        for value in values(head.headers, b"authorization"):
            scheme, _, token = value.partition(b" ")
            if scheme.lower() == b"bearer" and token.strip():  # RFC 9110 section 11.1: a scheme has no case
                found.append(token.strip())
        return found

    @property
    def _asks(self) -> tuple[tuple[bytes, bytes], ...]:
        return ((b"www-authenticate", b"Bearer"),) if self._spec.status == UNAUTHORIZED else ()


_WRONG = Refusal(
    openai="Incorrect API key provided.",
    anthropic="invalid x-api-key",
    ollama="unauthorized",
    type="invalid_request_error",
    code="invalid_api_key",
)
_MISSING = Refusal(
    openai="You didn't provide an API key. You need to provide it in an Authorization header: Bearer YOUR_KEY.",
    anthropic="x-api-key header is required",
    ollama="unauthorized",
    type="invalid_request_error",
    code=None,
)
