"""A client attacks, on a connection that a fault of the session is on: that connection ends, and no other notices."""

import contextlib

import pytest
import trio

from chaosproxy.http2.frames import PREFACE, SETTINGS, frame
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin
from chaosproxy.testing.proxied import linked
from chaosproxy.testing.recorder import Recorder
from tests.http2.test_h2_floods import ATTACKS, opening
from tests.virtual.shipped import stream

FAULTS: dict[str, dict[str, object]] = {
    "none": {"ping": {"min_interval": "0s"}},
    "garbage": {"garbage": {}},
    "goaway": {"goaway": {"double": True, "then": "keep"}},
    "pings late": {"ping": {"answer": "1h"}},
    "refuse": {"refuse": {}},
    "settings": {"settings": {"max_concurrent_streams": 2, "delay": "1h", "acknowledge": "forever"}},
    "window": {"window": "withhold"},
}
CHOSEN = ("RST_STREAM on closed", "PING", "SETTINGS", "CONTINUATION", "HEADERS", "PRIORITY")


@pytest.mark.parametrize("name", FAULTS)
async def test_others_do_not_notice(autojump_clock, name: str):
    served = Origin(stream(10, 1))
    scenario = {
        "version": 1,
        "connections": [{"match": {"side": "client", "number": "2-"}, "faults": [FAULTS[name]]}],
    }
    async with linked(scenario, served.serve) as proxied, h2_client(proxied.connect()) as other:
        began = trio.current_time()
        await other.request(1, "/sse")
        for attack in CHOSEN:
            attacker = Recorder(proxied.connect())
            with contextlib.suppress(ConnectionError):  # it may be over before all is said
                await attacker.send(PREFACE + frame(SETTINGS, 0, 0) + opening(1))
                for part in ATTACKS[attack]():
                    await attacker.send(part)
            with trio.fail_after(1):
                while await attacker.read():
                    pass
            assert attacker.ending is Ending.FIN, attack
            attacker.transport.close()
        await other.until(lambda: other.streams[1].over, within=100)
        assert [round(time - began, 6) for time, _ in other.streams[1].frames][:10] == list(range(10))
        assert (other.streams[1].ended, other.ending, other.goaways) == (True, None, [])
        with trio.fail_after(100):
            while len(proxied.proxy._clients) > 1 or proxied.proxy._exchanges:
                await trio.sleep(1)
        assert "internal" not in {record.end.cause for record in proxied.exchanges}
