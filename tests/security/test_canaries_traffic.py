"""Secrets in what passes through: they reach the other side, and are in nothing that is kept or said of it."""

import logging

import pytest

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import linked
from tests.security.canaries import ANSWERED, FIELDS, PARAMETERS, Canaries, summary, told

REQUEST_BODY = '{{"model": "m", "password": "{}", "messages": [{{"content": "{}"}}]}}'


@pytest.fixture
def secret():
    return Canaries()


@pytest.fixture(autouse=True)
def all_is_logged(caplog):
    caplog.set_level(logging.DEBUG, "chaosproxy")


def target(secret, where):
    return "/v1/chat?" + "&".join(f"{name}={secret(f'{where} parameter {name}')}" for name in PARAMETERS)


def location(secret, where):
    at = f"{secret(f'{where} user')}:{secret(f'{where} password')}@elsewhere"
    return f"https://{at}/x?token={secret(f'{where} query')}#access_token={secret(f'{where} fragment')}"


def asked_fields(secret, where):
    fields = [(name, secret(f"{where} {name}")) for name in FIELDS]
    fields += [("Referer", location(secret, f"{where} Referer"))]
    protocols = f"realtime, openai-insecure-api-key.{secret(f'{where} Sec-WebSocket-Protocol')}"
    return [*fields, ("Sec-WebSocket-Protocol", protocols)]


def answered_fields(secret, where):
    fields = [(name, secret(f"{where} {name}")) for name in ANSWERED]
    return fields + [(name, location(secret, f"{where} {name}")) for name in ("Location", "Content-Location")]


def lines(fields):
    return "".join(f"{name}: {value}\r\n" for name, value in fields)


def is_there(secret, text):
    """Every one of them came out at the other side."""
    return [place for number, place in enumerate(secret.places, 1) if f"CANARY-{number}-X".encode() not in text]


async def over_http1(secret):
    """A POST with secrets everywhere, and an answer with more of them; records, and what both peers had."""
    body = REQUEST_BODY.format(secret("a member of the request"), secret("a message"))
    events = [f"data: {{{{}}}}{secret(f'event {number}')}\n\n" for number in range(3)]
    chunks = "".join(
        f"{len(event):x};ext={secret(f'extension {at}')}\r\n{event}\r\n" for at, event in enumerate(events)
    )
    answer = (
        f"HTTP/1.1 200 OK {secret('the reason')}\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
        f"{lines(answered_fields(secret, 'the answer'))}\r\n{chunks}0\r\nX-Trailing-Token: {secret('a trailer')}\r\n\r\n"
    )
    early = f"HTTP/1.1 103 Early\r\nSet-Cookie: {secret('an interim answer')}\r\n\r\n"
    origin = Origin([early.encode(), answer.encode()])
    async with linked(None, origin.serve) as proxied, RawClient(proxied.connect()) as client:
        head = f"POST {target(secret, 'the request')} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        await client.send(f"{head}{lines(asked_fields(secret, 'the request'))}\r\n{body}".encode())
        await client.read_until(b"\r\n0\r\n")
        records = await proxied.finished()
    return records, origin.requests[0].head + origin.requests[0].body + client.received


async def over_http2(secret):
    """The same in frames."""
    small = lambda fields: [(name.lower().encode(), value.encode()) for name, value in fields]  # noqa: E731
    body = REQUEST_BODY.format(secret("a member in DATA"), secret("a message in DATA")).encode()
    event = f"data: {secret('an event in DATA')}\n\n".encode()
    trailers = [(b"x-trailing-token", secret("a trailer of HTTP/2").encode())]
    answer = [(b":status", b"200"), (b"content-type", b"text/event-stream")]
    answer += small(answered_fields(secret, "the answer over HTTP/2"))
    peers = []

    async def serve(peer, stream):
        peers.append(peer)
        await peer.until(lambda: peer.streams[stream].ended)
        await peer.headers(stream, answer)
        await peer.data(stream, event)
        await peer.headers(stream, trailers, end=True)

    upstream = lambda transport: serve_h2(transport, serve)  # noqa: E731
    async with linked(None, upstream, upstream="h2c://origin") as proxied, h2_client(proxied.connect()) as client:
        path = target(secret, "the request over HTTP/2").encode()
        head = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"x")]
        await client.headers(1, head + small(asked_fields(secret, "the request over HTTP/2")))
        await client.data(1, body, end=True)
        await client.until(lambda: client.streams[1].over)
        records = await proxied.finished()
    return records, repr((peers[0].streams[1], client.streams[1])).encode()


@pytest.mark.parametrize("ask", [over_http1, over_http2], ids=["http1", "http2"])
async def test_secrets_pass_and_are_not_told(ask, secret, autojump_clock, caplog, shown):
    records, had = await ask(secret)
    hop_by_hop = {"the reason", *(f"extension {number}" for number in range(3))}
    assert records[0].end.how == "clean"
    assert set(is_there(secret, had)) <= hop_by_hop, "else it is no wonder that it is not found"
    leaks = secret.found(told(records) | {"the log": caplog.text})
    over = "HTTP/1.1" if ask is over_http1 else "HTTP/2"
    shown(
        "secrets",
        f"secrets in a request and its answer over {over}",
        tried=len(secret.places),
        must="the other side has them; journal, lines, timelines, reports and log have none",
        happens=summary(leaks),
    )
    assert leaks == []
