"""Received heads: from the lines of a head to a RequestHead, a ResponseHead or an Interim, and what follows from it.

Plain heads are taken apart by `plain.py`; h11 parses all others (it keeps order, case and duplicates) and has the word
on what is none. Before it stand our own limits and the framing rules on which it is too lenient, behind it the validator
of all heads.
Rules: Malformed or a head, nothing between; the message's framing is decided here and nowhere else.
Must not know: how the body arrives, what the connection did before.
"""

import re
from dataclasses import dataclass

import h11

from chaosproxy.http1.fields import HOP_BY_HOP, content_length, is_chunked, may_persist, travelling, upgrade_of
from chaosproxy.http1.lines import LineBlock, Malformed
from chaosproxy.http1.plain import is_plain_text, plain_fields, plain_request_line
from chaosproxy.model.headers import Headers, first, without
from chaosproxy.model.messages import Interim, RequestHead, ResponseHead
from chaosproxy.model.validate import beginning, check_request, check_response, show_name
from chaosproxy.model.vocabulary import Framing

_REQUEST_LINE = re.compile(rb"([^ ]+) ([^ ]+) HTTP/([0-9])\.([0-9])", re.DOTALL)  # RFC 9112 section 3
_STATUS_LINE = re.compile(rb"HTTP/1\.([0-9]) ([1-5][0-9]{2})(?: (.*))?", re.DOTALL)  # RFC 9112 section 4
_CONNECTION = HOP_BY_HOP | {b"te"}
"""Without one of these a head says nothing of its connection, and all its fields travel."""
_FRAMING = (b"content-length", b"transfer-encoding")
_ASKING = h11.Request(method="GET", target="/", headers=[("host", "x")])
_UPGRADING = h11.Request(method="GET", target="/", headers=[("host", "x"), ("upgrade", "x")])
"""Without having asked, h11 takes no interim answer, and without an upgrade no 101."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    head: RequestHead
    length: int
    """Bytes of body where the framing is LENGTH."""
    persistent: bool
    """The client would send a further request on this connection."""


@dataclass(frozen=True, slots=True)
class ReceivedResponse:
    head: ResponseHead | Interim
    length: int
    persistent: bool


def request_block() -> LineBlock:
    return LineBlock("request head", skip=2, check_first=_check_request_line)


def response_block() -> LineBlock:
    return LineBlock("response head", check_first=_check_status_line)


def _check_request_line(line: bytes) -> None:
    match = _REQUEST_LINE.fullmatch(line)
    if match is None:
        raise Malformed(f"{beginning(line)} is no request line")
    if match[3] not in (b"0", b"1"):
        raise Malformed(f"HTTP/{match[3].decode()}.{match[4].decode()} on an HTTP/1.1 connection", 505)
    if match[3] == b"0":
        raise Malformed(f"{beginning(line)} is no request line")


def _check_status_line(line: bytes) -> None:
    if _STATUS_LINE.fullmatch(line) is None:
        raise Malformed(f"{beginning(line)} is no status line")


def parse_request(lines: list[bytes], scheme: bytes) -> ReceivedRequest:
    """The head in `lines`, the first of which has been checked."""
    minor = lines[0][-1:]
    version = b"1.0" if minor == b"0" else b"1.1"  # RFC 9110 section 2.5: a higher minor version is read as ours
    plain = plain_fields(lines[1:]) if version == b"1.1" else None
    length, chunked = None, False
    if plain is None or not plain.names.isdisjoint(_FRAMING):
        length = content_length(lines[1:], lenient=False)
        chunked = is_chunked(lines[1:], version, request=True)
    if chunked and length is not None:  # RFC 9112 section 6.3: ought to be handled as an error
        raise Malformed("both Content-Length and Transfer-Encoding")
    start = plain_request_line(lines[0])
    if plain is not None and start is not None and b"host" in plain.names:
        method, target = start
        headers = plain.headers
    else:
        parsed = _parse(lines, h11.SERVER)
        assert isinstance(parsed, h11.Request)
        method, target, plain = parsed.method, parsed.target, None
        headers = tuple(parsed.headers.raw_items())
    if method == b"CONNECT" and (chunked or length):  # RFC 9110 section 9.3.6
        raise Malformed("CONNECT with a body")
    silent = plain is not None and plain.names.isdisjoint(_CONNECTION)
    upgrade = b"" if silent or chunked or length or method == b"CONNECT" else upgrade_of(headers, version)
    framing = Framing.CHUNKED if chunked else Framing.NONE if length is None else Framing.LENGTH
    head = RequestHead(
        method=method,
        target=target,
        headers=headers if silent else travelling(headers, switching=bool(upgrade)),
        scheme=scheme,
        framing=framing,
        final=not chunked and not length,
        upgrade=upgrade,
        version=version,
    )
    problem = check_request(head, sound_fields=plain is not None)
    if problem is not None:
        raise Malformed(problem)
    return ReceivedRequest(head, length or 0, silent or may_persist(headers, version))


def parse_response(lines: list[bytes], request: RequestHead) -> ReceivedResponse:
    """The answer to `request` in `lines`, the first of which has been checked."""
    match = _STATUS_LINE.fullmatch(lines[0])
    assert match is not None
    version = b"1.0" if match[1] == b"0" else b"1.1"
    status, reason = int(match[2]), match[3] or b""
    switching = status == 101
    if switching and not request.upgrade:
        raise Malformed("a 101 that nobody asked for")
    plain = plain_fields(lines[1:]) if status >= 200 and is_plain_text(reason) else None
    if plain is None:
        parsed = _parse(lines, h11.CLIENT, _UPGRADING if switching else _ASKING if status < 200 else None)
        headers: Headers = tuple(parsed.headers.raw_items())
    else:
        headers = plain.headers
    silent = plain is not None and plain.names.isdisjoint(_CONNECTION)
    kept = headers if silent else travelling(headers, switching=switching)
    head: ResponseHead | Interim
    length, plainly_framed = 0, True
    if status < 200 and not switching:
        head = Interim(status, without(kept, _FRAMING), reason)  # RFC 9110 section 8.6: it may have none
    elif switching or (request.method == b"CONNECT" and status < 300):
        # RFC 9110 section 9.3.6: lengths in an answer that opens a tunnel are ignored
        head = ResponseHead(status, without(kept, _FRAMING), reason, Framing.TUNNEL)
    else:
        framing, length = _response_framing(lines[1:], request.method, status, version)
        if framing is Framing.CHUNKED and first(kept, b"content-length") is not None:
            # RFC 9112 section 6.3: chunked overrides it; whoever believes it sees another end than we do
            kept, plainly_framed = without(kept, (b"content-length",)), False
        elif status == 204:
            kept = without(kept, _FRAMING)  # as of an interim answer
        final = framing is Framing.NONE or (framing is Framing.LENGTH and not length)
        head = ResponseHead(status, kept, reason, framing, final)
    problem = check_response(head, sound_fields=plain is not None)
    if problem is not None:
        raise Malformed(problem)
    return ReceivedResponse(head, length, plainly_framed and may_persist(headers, version))


def bodyless(method: bytes, status: int) -> bool:
    """RFC 9112 section 6.3, first rule: these answers end with their head whatever their fields say."""
    return method == b"HEAD" or status in (204, 304) or status < 200


def _response_framing(lines: list[bytes], method: bytes, status: int, version: bytes) -> tuple[Framing, int]:
    chunked = is_chunked(lines, version, request=False)
    length = content_length(lines, lenient=True)
    if bodyless(method, status):
        return Framing.NONE, 0
    if chunked:
        return Framing.CHUNKED, 0
    if length is None:
        return Framing.CLOSE, 0
    return Framing.LENGTH, length


_SHOWN = re.compile(r": bytearray\(b['\"](.*)['\"]\)", re.DOTALL)
"""How h11 shows a peer's line."""


def _parse(
    lines: list[bytes], role: type[h11.CLIENT] | type[h11.SERVER], asked: h11.Request | None = None
) -> h11.Request | h11.Response | h11.InformationalResponse:
    """One fresh h11 connection a head: its state machine, its body readers and its repairs stay out of the way. Its
    own head limit is lifted, for ours stands before it."""
    connection = h11.Connection(role, max_incomplete_event_size=2**62)
    if asked is not None:
        connection.send(asked)
    connection.receive_data(b"\r\n".join(lines) + b"\r\n\r\n")
    try:
        event = connection.next_event()
    except h11.RemoteProtocolError as error:
        raise Malformed(_said(error, lines), error.error_status_hint or 400) from error
    assert isinstance(event, h11.Request | h11.Response | h11.InformationalResponse)  # the head is complete
    return event


def _said(error: h11.RemoteProtocolError, lines: list[bytes]) -> str:
    """h11's words, of a line no more than the name in it: what stands behind that may be a secret."""
    said = str(error)
    found = _SHOWN.search(said)
    if found is None:
        return said
    words = said[: found.start()]
    if "header" not in words:
        return f"{words}: {beginning(lines[0])}"
    name, colon, _ = found[1].partition(":")
    return f"{words}: {show_name(name.encode())}" if colon else f"{words}: no colon in it"
