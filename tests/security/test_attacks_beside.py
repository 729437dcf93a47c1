"""Clients that attack, through the whole proxy: honest streams beside them are on time, and nothing stays behind."""

import trio

from chaosproxy.http2.frames import ACK, frame
from chaosproxy.journal.journal import Journal
from chaosproxy.journal.kept import EACH
from chaosproxy.model import codes
from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.peers import Ending, Origin
from chaosproxy.testing.proxied import linked
from tests.security.flooding import CLIENTS, opening
from tests.security.h2_frames import DATA, GREETING, HEADERS, OK, PING, RST, SETTINGS, WINDOW, four, setting
from tests.security.h2_worlds import PERIOD, Odd, attacks, quiet, watched
from tests.virtual.shipped import stream


async def test_clients_that_attack(autojump_clock, shown):
    count = 4 * len(CLIENTS)
    served = Origin(stream(count, PERIOD))
    async with linked(None, served.serve) as proxied, watched(proxied.connect()) as honest:
        for name, attack in CLIENTS.items():
            odd = Odd(proxied.connect())
            await odd.say(GREETING + frame(SETTINGS, ACK, 0) + opening(1))
            await attacks(odd, attack)
            assert (odd.ending, odd.heard.goaways) == (Ending.FIN, [codes.ENHANCE_YOUR_CALM]), name
            odd.leave()
            await trio.sleep(PERIOD)
        await quiet(proxied, 1, 1)
        await honest.over(count)
        await quiet(proxied, 1, 1)
        causes = {record.end.cause for record in proxied.exchanges}
        assert all(attack.named(causes) for attack in CLIENTS.values())
        assert "internal" not in causes
        kept = len(proxied.proxy._pool.upstreams[0].connections)
        assert kept < 101
    shown(
        "attacks",
        "honest streams of twenty events a second on another connection, while clients attack",
        tried=len(CLIENTS),
        must="each event at its moment; the attacker's connection and streams are gone",
        happens="each event at its moment; nothing is left",
    )


async def test_streams_thrown_away_dial_nothing(autojump_clock, shown):
    """Opened and reset in one read; and with a moment between, when they are dialled for."""
    dials = 0

    async def dialling() -> None:
        nonlocal dials
        dials += 1
        await trio.sleep(10)

    served = Origin(stream(1, PERIOD))
    async with linked(None, served.serve, dialling=dialling) as proxied:
        odd = Odd(proxied.connect())
        pairs = [opening(number) + frame(RST, 0, number, four(8)) for number in range(1, 161, 2)]
        await odd.say(GREETING + b"".join(pairs))
        with trio.move_on_after(15):
            await odd.listen()
        assert (len(proxied.exchanges), dials) == (80, 0)
        assert (odd.heard.goaways, odd.ending) == ([], None)
        odd.leave()
        odd = Odd(proxied.connect())
        await odd.say(GREETING)
        most = live = 0
        for number in range(1, 161, 2):
            await odd.say(opening(number))
            await trio.sleep(0.01)
            live = max(live, len(proxied.proxy._exchanges))
            await odd.say(frame(RST, 0, number, four(8)))
            await trio.sleep(0.01)
            most = max(most, sum(proxied.proxy._pool.upstreams[0]._dialling.values()))
        await trio.sleep(15)
        assert (len(proxied.exchanges), live, most, dials) == (160, 1, 1, 1)
        assert not served.requests
        odd.leave()
        await quiet(proxied, 0, 0)
    shown(
        "attacks",
        "requests that are reset before they are answered: what is dialled for them",
        tried=160,
        must="nothing for those reset in the same read; never more dials than streams that live",
        happens=f"0; {most} at a time; the upstream has heard of none",
    )


async def test_a_client_that_opens_its_window_by_one_byte(autojump_clock, shown):
    """And one that never does: neither has the upstream read without bound, and its siblings run."""
    sent = 0

    async def answer(peer: H2Peer, number: int) -> None:
        nonlocal sent
        await peer.headers(number, OK)
        while peer.streams[number].reset is None:
            await peer.data(number, b"x" * 1000)
            sent += 1000

    async with linked(None, lambda link: serve_h2(link, answer), upstream="h2c://o") as proxied:
        odd = Odd(proxied.connect())
        await odd.say(GREETING + setting(4, 0) + opening(1))
        await trio.sleep(3600)
        held = sent
        assert 0 < held < 256 * 1024
        assert odd.heard.bodies == {}
        for count in range(1, 101):
            await odd.say(frame(WINDOW, 0, 1, four(1)))
            await odd.listen(lambda count=count: len(odd.heard.bodies.get(1, b"")) == count)
        assert sent - held <= 1000
        await odd.say(frame(PING, 0, 0, b"12345678"))
        await odd.reset()
        await quiet(proxied, 0, 0)
    shown(
        "attacks",
        "a client whose window is opened by one byte at a time, or never",
        tried=101,
        must="one byte leaves for each; the upstream is held back",
        happens=f"one byte for each; held back after {held // 1024} KiB, for an hour",
    )


async def test_a_client_that_reads_nothing_and_asks_on(autojump_clock, shown):
    """PINGs behind each byte of an upload that is taken: it is not read any more once its answers do not leave."""
    served = Origin(stream(100, PERIOD), at_head=True)
    room = 65_536
    async with linked(None, served.serve, room=room) as proxied, watched(proxied.connect()) as honest:
        odd = Odd(proxied.connect())
        part = (frame(DATA, 0, 1, b"x") + frame(PING, 0, 0, b"12345678")) * 100
        sent = 0
        await odd.say(GREETING + opening(1, end=False))
        with trio.move_on_after(3):
            while True:
                await odd.say(part)
                sent += len(part)
        assert sent < 8 * room
        await honest.over(100)
        await odd.reset()
        await quiet(proxied, 1, 0)
    shown(
        "attacks",
        "a client that floods and reads nothing, through the proxy",
        tried=sent // len(part) * 100,
        must="it is not read any more; an honest stream has each event at its moment",
        happens="not read any more; each event at its moment",
        figure=f"after {sent // 1024} KiB",
    )


async def test_heads_that_unfold_do_not_fill_the_journal(autojump_clock, shown):
    """Fifteen times a field of 4 kB, from the table: 60 kB in the journal for thirty bytes."""
    served = Origin([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
    count, sent = 300, 0
    async with linked(None, served.serve) as proxied:
        proxied.proxy.journal = journal = Journal(limit=1000)
        odd = Odd(proxied.connect())
        plain = b"\x82\x86\x84\x01\x01a"
        await odd.say(GREETING + frame(HEADERS, 0x5, 1, plain + b"\x40\x01x\x7f\xa1\x1e" + b"v" * 4000))
        for number in range(3, 2 * count + 1, 2):
            part = frame(HEADERS, 0x5, number, plain + b"\xbe" * 15)
            sent += len(part)
            await odd.say(part)
            await odd.listen(lambda number=number: number in odd.heard.ended)
        odd.leave()
        await quiet(proxied, 0, 0)
        assert (journal.total, odd.heard.goaways) == (count, [])
        kept = sum(len(value) for one in journal.exchanges for _, value in one.request.headers)
        limit = 1000 * EACH
        assert limit / 2 < kept < limit
    shown(
        "attacks",
        "requests whose heads are large and come from the compression table",
        tried=count,
        must=f"the journal in memory holds at most {limit / 1_048_576:.0f} MiB of heads",
        happens="no more",
        figure=f"{kept / 1_048_576:.1f} MiB kept of {60_000 * count / 1_048_576:.1f}, which were {sent // 1024} KiB on the wire",
    )
