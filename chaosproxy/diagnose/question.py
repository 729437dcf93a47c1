"""What is asked, and of whom: the hops, from the server outwards, and the one request that all of them get.

Must not know: how it is sent.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, quote, urlsplit

from chaosproxy.errors import UsageError
from chaosproxy.model.headers import Headers, first
from chaosproxy.model.mask import masked_address, masked_target
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.validate import check_request
from chaosproxy.model.vocabulary import Framing
from chaosproxy.proxy.address import UpstreamAddress, parse_upstream

_NAMED = re.compile(r"([A-Za-z0-9][\w .-]*)=((?:http|https|h2c)://.*)", re.ASCII)
_UNQUOTED = "/%:@!$&'()*+,;=~-._?"
_TAKES = b"text/event-stream, application/x-ndjson, */*"
KNOBS = ("tokens", "first", "gap", "text")
"""Of the embedded origin."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One place to ask."""

    name: str
    """Empty where nobody has given it one."""
    address: UpstreamAddress
    target: str
    """Path and query."""

    @property
    def url(self) -> str:
        """For people: what is secret in its query is masked."""
        return masked_target(f"{self.address.url}{self.target}")


@dataclass(frozen=True, slots=True)
class Question:
    """The request, but for where it goes."""

    method: str
    headers: Headers = ()
    body: bytes = b""
    dense: bytes | None = None
    """Another body, at which the answer is long."""

    def head(self, hop: Hop, body: bytes, more: Headers = ()) -> RequestHead:
        """As `hop` gets it. UsageError if it cannot be said in HTTP."""
        given = self.headers + more
        defaults: Headers = ((b"accept", _TAKES), (b"user-agent", b"chaosproxy"))
        if body and body.lstrip()[:1] in {b"{", b"["}:
            defaults += ((b"content-type", b"application/json"),)
        elif body:
            defaults += ((b"content-type", b"application/x-www-form-urlencoded"),)
        fields = given + tuple(pair for pair in defaults if first(given, pair[0]) is None)
        if body:
            fields += ((b"content-length", b"%d" % len(body)),)
        head = RequestHead(
            self.method.encode("utf-8", "surrogateescape"),
            hop.target.encode(),
            tuple(pair for pair in fields if pair[0].lower() != b"host"),
            scheme=b"https" if hop.address.tls else b"http",
            authority=first(given, b"host") or hop.address.authority,
            framing=Framing.LENGTH if body else Framing.NONE,
            final=not body,
        )
        problem = check_request(head)
        if problem is not None:
            raise UsageError(f"that cannot be asked of {hop.url}: {problem}")
        return head


def hops(urls: Sequence[str]) -> list[Hop]:
    """`URL` or `NAME=URL`; one without a path has that of the first. UsageError says what is wrong with one."""
    read = [_hop(text) for text in urls]
    return [replace(hop, target=hop.target or read[0].target or "/") for hop in read]


def _hop(text: str) -> Hop:
    named = _NAMED.fullmatch(text)
    name, url = (named[1].strip(), named[2]) if named else ("", text)
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"URL {masked_address(url)!r}: {error}") from error
    address = parse_upstream(f"{parts.scheme}://{parts.netloc}" if parts.netloc else url, "URL")
    target = _quoted(parts.path) or ("/" if parts.query else "")
    return Hop(name, address, f"{target}?{_quoted(parts.query)}" if parts.query else target)


def _quoted(text: str) -> str:
    """What is quoted already stays; a byte of the command line that is no text stays that byte."""
    return quote(text, safe=_UNQUOTED, errors="surrogateescape")


def turns_knobs(hop: Hop) -> bool:
    """Its query says itself how long and how fast the answer is to be."""
    return any(name in KNOBS for name, _ in parse_qsl(urlsplit(hop.target).query, keep_blank_values=True))


def header(text: str) -> tuple[bytes, bytes]:
    """`Name: value`, as curl has it. UsageError if it is none."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError("-H: write Name: value; in one there is no colon, or nothing in front of it")
    return name.strip().encode("latin-1", "replace"), value.strip().encode("utf-8", "surrogateescape")
