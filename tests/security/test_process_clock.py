"""Clocks that jump, certificates, ports that cannot be had."""

import datetime as dt
import errno
import os
import socket
import ssl
import time

from cryptography import x509

import chaosproxy
from chaosproxy.cli.main import status_of
from chaosproxy.proxy import proxy as module
from chaosproxy.wire import listen
from tests.security.processes import GET, STREAM, WITHIN, answers, ended, serving

DAY = 86_400
PAUSE = 0.2
STALL = {"version": 1, "faults": [{"stall": {"at": {"event": 1}, "for": f"{PAUSE * 1000:.0f}ms"}}]}
WHOLE = STREAM + b"9\r\ndata: 2\n\n\r\n0\r\n\r\n"


class Jumping(dt.datetime):
    """A clock on the wall that is put back, or forward, by a day each time that it is looked at."""

    looks = 0

    @classmethod
    def now(cls, tz=None):
        cls.looks += 1
        return super().now(tz) + dt.timedelta(days=cls.looks if cls.looks % 2 else -cls.looks)


def test_the_clock_on_the_wall_jumps(shown, monkeypatch):
    real, looks = time.time, [0]

    def jumping():
        looks[0] += 1
        return real() + DAY * (looks[0] if looks[0] % 2 else -looks[0])

    Jumping.looks = 0
    count = 3
    with (
        serving(lambda connection: answers(connection, WHOLE)) as upstream,
        chaosproxy.serve(STALL, upstream=upstream.url) as proxy,
    ):
        monkeypatch.setattr(module.dt, "datetime", Jumping)
        monkeypatch.setattr(time, "time", jumping)
        for _ in range(count):
            with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=WITHIN) as client:
                client.sendall(GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
                assert ended(client).count(b"data:") == 2
        records = proxy.wait(count, timeout=WITHIN)
        monkeypatch.undo()
    took = [record.times.end for record in records]
    days = {record.started_at[:10] for record in records}
    assert all(PAUSE <= seconds < WITHIN for seconds in took)
    assert len(days) == count
    shown(
        "process",
        "the clock on the wall jumps by days, back and forth",
        tried=count,
        must="durations are as if it did not; started_at alone jumps",
        happens="durations as they are",
        figure=f"{min(took):.3f} to {max(took):.3f} s where a fault takes {PAUSE} s",
    )


def test_a_throw_away_certificate_s_time(shown):
    with chaosproxy.serve(upstream="http://127.0.0.1:9", tls="auto") as proxy:
        address = ("127.0.0.1", int(proxy.url.rpartition(":")[2]))
        made = [ssl.get_server_certificate(address, timeout=WITHIN), proxy.ca.read_text()]
    certificates = [x509.load_pem_x509_certificate(pem.encode()) for pem in made]
    now, week = dt.datetime.now(dt.UTC), dt.timedelta(days=7)
    valid = [one.not_valid_before_utc < now - week and one.not_valid_after_utc > now + week for one in certificates]
    shown(
        "process",
        "--tls auto where clocks differ by a week",
        tried=2 * len(made),
        must="the certificate and its CA are valid",
        happens="valid" if all(valid) else f"{valid}",
    )


def listening_fails(number):
    def fails(*_):
        raise OSError(number, os.strerror(number))

    return fails


def test_ports_that_cannot_be_had(shown, capsys, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ways = {
            f"127.0.0.1:{taken.getsockname()[1]}": None,
            "127.0.0.1:80": errno.EACCES,
            "[::1]:8666": errno.EADDRNOTAVAIL,
            "[::1]:0": errno.EAFNOSUPPORT,
        }
        statuses = []
        for address, number in ways.items():
            with monkeypatch.context() as patch:
                if number is not None:
                    patch.setattr(listen, "_listening", listening_fails(number))
                statuses.append(status_of(["run", "--upstream", "http://127.0.0.1:9", "--listen", address]))
            out, err = capsys.readouterr()
            assert (out, err.count("\n")) == ("", 1)
            assert err.startswith(f"chaosproxy: cannot listen on {address}: ")
    shown(
        "process",
        "a port that is taken, privileged, or of a family that is not there",
        tried=len(ways),
        must="one line, exit status 3",
        happens=f"one line, exit status {', '.join(sorted({str(status) for status in statuses}))}",
    )
