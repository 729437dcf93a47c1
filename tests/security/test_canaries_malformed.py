"""Secrets in what is no HTTP, or not quite: what is said of the mistake names the rule, and does not quote the secret."""

import logging

import pytest
from hpack import Encoder

from chaosproxy.testing.h2_peers import PREFACE
from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from tests.security.canaries import Canaries, summary, told

GET = "GET / HTTP/1.1\r\nHost: x\r\n"
POST = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
CLIENT = {
    "the query of a line with a word too much": "GET /?key={} HTTP/1.1 x\r\n\r\n",
    "the query of a line with a blank in it": "GET /? {} HTTP/1.1\r\n\r\n",
    "the query of a target that is no path": "GET x?key={} HTTP/1.1\r\nHost: x\r\n\r\n",
    "the query of a target with a quote": 'GET /?key={}"\x80 HTTP/1.1\r\nHost: x\r\n\r\n',
    "the fragment of a target": "GET /#access_token={} HTTP/1.1\r\nHost: x\r\n\r\n",
    "a target with user information": "GET http://me:{}@host/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "what looks like user information": "GET me:{}@host/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT with user information": "CONNECT me:{}@host:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "Host with user information": "GET / HTTP/1.1\r\nHost: me:{}@host\r\n\r\n",
    "another version": "GET /?key={} HTTP/9.9\r\n\r\n",
    "no version": "GET /?key={}\r\n\r\n",
    "a word instead of a line": "{}\r\n\r\n",
    "a field instead of a line": "Authorization: Bearer {}\r\n\r\n",
    "a body instead of a line": '{{"model": "m", "prompt": "{}"}}\r\n\r\n',
    "a method in small letters behind it": "get /?key={}  HTTP/1.1\r\n\r\n",
    "a field without a colon": GET + "Authorization {}\r\n\r\n",
    "a word among the fields": GET + "{}\r\n\r\n",
    "a blank in front of the colon": GET + "Authorization : {}\r\n\r\n",
    "a value in the name": GET + "X-Api-Key {}: x\r\n\r\n",
    "a name with brackets": GET + "X-Api(Key): {}\r\n\r\n",
    "NUL in a value": GET + "Cookie: {}\0\r\n\r\n",
    "CR in a value": GET + "Cookie: {}\rx\r\n\r\n",
    "LF behind a value": GET + "Cookie: {}\nX: y\r\n\r\n",
    "a folded value": GET + "Cookie: a\r\n {}\r\n\r\n",
    "a length": GET + "Content-Length: {}\r\n\r\n",
    "a coding": GET + "Transfer-Encoding: {}\r\n\r\n",
    "a chunk's size": POST + "{}\r\n",
    "a chunk's extension": POST + "1;a={}\0\r\n",
    "behind a chunk": POST + "1\r\na{}\r\n",
    "a trailer without a colon": POST + "0\r\nAuthorization {}\r\n\r\n",
    "a trailer's name": POST + "0\r\nX-Api-Key {}: x\r\n\r\n",
}
UPSTREAM = {
    "a status": "HTTP/1.1 2x0 {}\r\n\r\n",
    "a reason with a control": "HTTP/1.1 200 {}\x01\r\n\r\n",
    "a word instead of an answer": "{}\r\n\r\n",
    "a body instead of an answer": '{{"error": "{}"}}\r\n\r\n',
    "a cookie instead of an answer": "Set-Cookie: {}\r\n\r\n",
    "a field without a colon": "HTTP/1.1 200 OK\r\nSet-Cookie {}\r\n\r\n",
    "a blank in front of the colon": "HTTP/1.1 200 OK\r\nSet-Cookie : {}\r\n\r\n",
    "NUL in a value": "HTTP/1.1 200 OK\r\nSet-Cookie: {}\0\r\n\r\n",
    "a length": "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
    "a chunk's size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}\r\n",
    "behind its length": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na{}",
}
CLIENT_2 = {
    ":method": {":method": "GET /?key={} HTTP/1.1"},
    ":path with a blank": {":path": "/?key={} x"},
    ":path that is none": {":path": "x?key={}"},
    ":authority with user information": {":authority": "me:{}@host"},
    ":scheme": {":scheme": "http://me:{}@host"},
    "a value with CRLF": {"cookie": "{}\r\nx: y"},
    "a value in the name": {"x-api-key: {}": "x"},
    "a value in the name, behind a blank": {"x-api-key {}": "x"},
    "capitals": {"X-Api-Key": "{}"},
    "a field of the connection": {"proxy-connection": "{}"},
    "te": {"te": "{}"},
    "a length": {"content-length": "{}"},
    "a pseudo field that there is not": {":token": "{}"},
}
UPSTREAM_2 = {
    "a cookie with NUL": {":status": "200", "set-cookie": "{}\0"},
    "a value in the name": {":status": "200", "set-cookie: {}": "x"},
    "a length": {":status": "200", "content-length": "{}"},
    "no status": {"set-cookie": "{}"},
    "behind the status": {":status": "200 {}"},
}


@pytest.fixture(autouse=True)
def all_is_logged(caplog):
    caplog.set_level(logging.DEBUG, "chaosproxy")


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def block(fields, word, **usual):
    """HEADERS on stream 1."""
    given = {f":{name}": value for name, value in usual.items()} | fields
    pairs = [
        (name.format(word).encode("latin-1"), value.format(word).encode("latin-1")) for name, value in given.items()
    ]
    pairs.sort(key=lambda pair: pair[0][:1] != b":")
    return frame(1, 5, 1, Encoder().encode(pairs))


def shows(shown, name, secret, leaks):
    shown(
        "secrets",
        name,
        tried=len(secret.places),
        must="the rule is named; no secret is in journal, lines, reports, log and the answers that tell of it",
        happens=summary(leaks),
    )
    assert leaks == []


async def test_requests(autojump_clock, caplog, shown):
    secret, had = Canaries(), ""
    async with linked(None, Origin().serve) as proxied:
        for place, text in CLIENT.items():
            async with RawClient(proxied.connect()) as client:
                await client.send(text.format(secret(place)).encode("latin-1"))
                await client.read_all()
                had += client.received.decode("latin-1")
        for place, fields in CLIENT_2.items():
            usual = {"method": "GET", "scheme": "http", "path": "/", "authority": "x"}
            async with RawClient(proxied.connect()) as client:
                await client.send(PREFACE + frame(4) + block(fields, secret(place), **usual))
                await client.read_until(frame(3, 0, 1, b"\0\0\0\1"))
        records = await proxied.finished(len(secret.places))
    assert [record for record in records if record.end.cause != "malformed" or not record.detail] == []
    leaks = secret.found(told(records) | {"the log": caplog.text, "the proxy's own answers": had})
    shows(shown, "secrets in malformed requests", secret, leaks)


async def test_answers(autojump_clock, caplog, shown):
    secret = Canaries()
    answers = [text.format(secret(place)).encode("latin-1") for place, text in UPSTREAM.items()]
    frames = [frame(4) + block(fields, secret(place)) for place, fields in UPSTREAM_2.items()]
    had = b""

    async def over_http2(transport):
        peer = Recorder(transport)
        await peer.read()
        await peer.send(frames.pop(0))
        while await peer.read():
            pass
        transport.close()

    records = []
    for number in range(len(answers) + len(frames)):
        origin = Origin([answers[number], Ending.FIN]) if number < len(answers) else None
        serve, upstream = (over_http2, "h2c://origin") if origin is None else (origin.serve, "http://origin")
        async with linked(None, serve, upstream=upstream) as proxied, RawClient(proxied.connect()) as client:
            await client.send(f"{GET}\r\n".encode())
            await client.read_all(1)
            had += client.received
            records += await proxied.finished()
    untold = [place for place, record in zip(secret.places, records, strict=True) if not record.detail]
    assert untold == ["behind its length"], "of which nobody is told"
    leaks = secret.found(told(records) | {"the log": caplog.text, "the proxy's own answers": had.decode("latin-1")})
    shows(shown, "secrets in malformed answers", secret, leaks)
