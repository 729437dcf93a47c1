"""`chaosproxy run` as a process: what it says, writes and leaves behind, and its exit status."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from chaosproxy.cli.main import status_of
from chaosproxy.cli.speed import SpeedType
from tests.ports import free_port

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=SECRET\r\n\r\nok"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n"


class Upstream:
    """Answers every request with the same bytes and keeps the connection."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while connection.recv(65536):
                connection.sendall(self._answer)
        except OSError:
            pass

    def close(self) -> None:
        self._socket.close()
        for connection in self._connections:
            connection.close()


@pytest.fixture
def upstream():
    served = Upstream(ANSWER)
    yield served
    served.close()


@pytest.fixture
def streaming():
    served = Upstream(STREAM)
    yield served
    served.close()


class Run:
    """One running `chaosproxy run`."""

    def __init__(self, folder: Path, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.ready_file = folder / "ready.json"
        self.journal = folder / "journal.jsonl"
        command = [sys.executable, "-m", "chaosproxy", "run", "--listen", "127.0.0.1:0"]
        command += ["--ready-file", str(self.ready_file), "--journal", str(self.journal), *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
        )
        deadline = time.monotonic() + 30
        while not self.ready_file.exists():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, "not ready within 30 s"
            time.sleep(0.01)
        self.ready = json.loads(self.ready_file.read_text())
        self.url = self.ready["url"]

    def get(self, path: str = "/") -> bytes:
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read()

    def open_stream(self) -> socket.socket:
        """A client that has had the first event of a stream that goes on."""
        client = socket.create_connection(("127.0.0.1", int(self.url.rpartition(":")[2])), timeout=30)
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b""
        while b"data: 1" not in received:
            received += client.recv(65536)
        return client

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit status, stdout, stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err

    def records(self) -> list[dict]:
        return [json.loads(line) for line in self.journal.read_text().splitlines()]


@pytest.fixture
def run(tmp_path):
    running: list[Run] = []

    def start(*arguments: str, env: dict[str, str] | None = None) -> Run:
        running.append(Run(tmp_path, *arguments, env=env))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.fixture
def refused(capsys):
    """A run that cannot start: its exit status and what it says. No process is made for what ends before it serves."""

    def ended(*arguments: str) -> tuple[int, str]:
        status = status_of(["run", *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert out == ""
        return status, err

    return ended


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_listens_serves_and_leaves_in_order(number, run, upstream):
    proxy = run("--upstream", upstream.url)
    assert set(proxy.ready) == {"url", "urls", "admin", "pid", "ca"}
    assert proxy.ready["pid"] == proxy.process.pid
    assert (proxy.ready["admin"], proxy.ready["ca"], proxy.ready["urls"]) == (None, None, [proxy.url])
    assert proxy.get("/hello?token=SECRET") == b"ok"
    status, out, err = proxy.stop(number)
    assert (status, out) == (0, "")
    assert "#1 GET /hello 200" in err
    assert not proxy.ready_file.exists()
    (record,) = proxy.records()
    assert record["end"] == {"by": "upstream", "how": "clean", "cause": None}
    assert "SECRET" not in proxy.journal.read_text() + err


def test_json_lines_go_to_stdout(run, upstream):
    proxy = run("--upstream", upstream.url, "--json")
    proxy.get("/a")
    proxy.get("/b")
    status, out, _ = proxy.stop()
    assert status == 0
    assert [json.loads(line)["request"]["path"] for line in out.splitlines()] == ["/a", "/b"]


def test_options_come_from_the_environment_too_and_the_command_line_wins(run, upstream):
    proxy = run(
        "--seed", "5", env={"CHAOSPROXY_UPSTREAM": upstream.url, "CHAOSPROXY_SEED": "7", "CHAOSPROXY_JSON": "1"}
    )
    proxy.get()
    _, out, _ = proxy.stop()
    assert json.loads(out)["seed"] == 5


def test_verbose_tells_the_timeline_of_each_exchange(run, upstream):
    proxy = run("--upstream", upstream.url, "-v")
    proxy.get("/")
    _, _, err = proxy.stop()
    line, *told = err.partition("#1 GET / 200 head ")[2].splitlines()
    assert "clean by upstream" in line
    assert any(moment.endswith("ms  head 200 sent") for moment in told)


def test_verbose_tells_no_secret(run, upstream):
    proxy = run("--upstream", upstream.url.replace("http", "h2c"), "-v")
    asked = urllib.request.Request(proxy.url, headers={"Authorization": "Bearer SECRET"})
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(asked, timeout=30)
    _, _, err = proxy.stop()
    assert "#1 GET / 502" in err
    assert "SECRET" not in err
    assert "header table" not in err


def test_a_client_that_speaks_no_tls_is_told_of(run, upstream):
    proxy = run("--upstream", upstream.url, "--tls", "auto")
    with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=30) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while client.recv(65536):
            pass
    with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=30) as health_check:
        health_check.shutdown(socket.SHUT_WR)
        while health_check.recv(65536):
            pass
    _, _, err = proxy.stop()
    assert err.count("client connection") == 1
    assert "chaosproxy: client connection 1: TLS failed: the peer speaks plain HTTP\n" in err


def test_where_the_throw_away_ca_stands_is_said(run, upstream, tmp_path):
    proxy = run("--upstream", upstream.url, "--tls", "auto")
    where = proxy.ready["ca"]
    assert "BEGIN CERTIFICATE" in Path(where).read_text()
    said = proxy.stop()[2].splitlines()
    assert said[:-1] == [f"chaosproxy: listening on {proxy.url}", f"chaosproxy: clients trust {where}"]
    chosen = run("--upstream", upstream.url, "--tls", "auto", "--ca-out", str(tmp_path / "ca.pem"))
    assert chosen.stop()[2].splitlines()[:-1] == [f"chaosproxy: listening on {chosen.url}"]


def test_every_listener_serves_the_same_rules(run, upstream):
    proxy = run("--upstream", upstream.url, "--listen", "127.0.0.1:0")
    assert len(set(proxy.ready["urls"])) == 2
    for url in proxy.ready["urls"]:
        with urllib.request.urlopen(url, timeout=30) as answer:
            assert answer.read() == b"ok"


def test_a_running_stream_has_the_grace_and_is_journalled(run, streaming):
    proxy = run("--upstream", streaming.url, "--grace", "200ms")
    with proxy.open_stream() as client:
        status, _, _ = proxy.stop()
        assert client.recv(65536) == b"", "it ends without a last chunk"
    assert status == 0
    (record,) = proxy.records()
    assert record["end"] == {"by": "proxy", "how": "fin", "cause": "shutdown"}


def test_a_second_signal_does_not_wait_for_the_grace(run, streaming):
    proxy = run("--upstream", streaming.url, "--grace", "1h")
    with proxy.open_stream():
        proxy.process.send_signal(signal.SIGTERM)
        # It says so at once: the first signal has been taken.
        while (said := proxy.process.stderr.readline()) and "ending" not in said:
            pass
        assert said == "chaosproxy: ending; 1 exchange is running and has 60m; a second signal ends it now\n"
        status, _, _ = proxy.stop()
    assert status == 0
    assert proxy.records()[0]["end"]["cause"] == "shutdown"


def test_several_that_run_are_counted(run, streaming):
    proxy = run("--upstream", streaming.url, "--grace", "10ms")
    with proxy.open_stream(), proxy.open_stream():
        _, _, err = proxy.stop()
    line = "chaosproxy: ending; 2 exchanges are running and have 10ms; a second signal ends them now\n"
    assert err.count("ending; ") == err.count(line) == 1


def test_memory_keeps_the_latest_exchanges_and_the_file_all(run, upstream):
    proxy = run("--upstream", upstream.url, "--journal-limit", "2")
    for _ in range(5):
        proxy.get()
    _, _, err = proxy.stop()
    why = "are no longer kept in memory (--journal-limit 2, or large heads)"
    assert err.splitlines()[-1] == f"chaosproxy: ended; 5 exchanges, of which the first 3 {why}"
    assert [record["id"] for record in proxy.records()] == [1, 2, 3, 4, 5]


def test_what_was_served_is_counted_at_the_end(run, upstream):
    proxy = run("--upstream", upstream.url)
    proxy.get()
    assert proxy.stop()[2].splitlines()[-1] == "chaosproxy: ended; 1 exchange"


def test_nothing_is_said_of_what_does_not_run_or_when_quiet(run, streaming, upstream):
    resting = run("--upstream", upstream.url)
    resting.get()
    assert "ending;" not in resting.stop()[2]
    quiet = run("--upstream", streaming.url, "--grace", "10ms", "-q")
    with quiet.open_stream():
        assert quiet.stop() == (0, "", "")


def test_a_scenario_is_reloaded_and_a_broken_one_changes_nothing(run, upstream, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text("version: 1\nfaults: [{respond: {status: 200, body: first}}]\n")
    proxy = run(str(scenario), "--upstream", upstream.url, "--watch")

    def until(expected: bytes) -> None:
        deadline = time.monotonic() + 30
        while proxy.get() != expected:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    until(b"first")
    scenario.write_text("version: 1\nfaults: [{respnd: 200}]\n")
    said = ""
    while "did you mean 'respond'" not in said:
        line = proxy.process.stderr.readline()
        assert line, said
        said += line
    assert proxy.get() == b"first"
    scenario.write_text("version: 1\nfaults: [{respond: {status: 200, body: third}}]\n")
    until(b"third")


def test_an_upstream_that_cannot_be_reached_is_a_502_and_the_proxy_goes_on(run):
    proxy = run("--upstream", f"http://127.0.0.1:{free_port()}")
    for _ in range(2):
        with pytest.raises(urllib.error.HTTPError) as error:
            proxy.get()
        with error.value as answer:
            assert answer.code == 502
            assert answer.read().count(b"\n") == 1
    proxy.stop()
    assert [record["end"]["cause"] for record in proxy.records()] == ["upstream:unreachable"] * 2


def test_a_port_that_is_taken(upstream):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        argv = [sys.executable, "-m", "chaosproxy", "run", "--upstream", upstream.url, "--listen", listen]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "taken" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_upstream_that_is_waited_for_is_served(run, upstream):
    proxy = run("--upstream", upstream.url, "--wait-upstream", "1m")
    assert proxy.get() == b"ok"
    status, _, err = proxy.stop()
    assert (status, "#1 GET / 200" in err) == (0, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_waiting_for_an_upstream(number):
    with socket.create_server(("127.0.0.1", 0)) as there:
        upstreams = [f"http://127.0.0.1:{port}" for port in (there.getsockname()[1], free_port())]
        argv = [sys.executable, "-m", "chaosproxy", "run", "--listen", "127.0.0.1:0", "--wait-upstream", "1h"]
        argv += [word for url in upstreams for word in ("--upstream", url)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
            there.settimeout(30)
            there.accept()[0].close()
            waiting.send_signal(number)
            assert waiting.communicate(timeout=30) == ("", "")
        assert waiting.returncode == 0


def test_an_upstream_that_is_waited_for_in_vain(refused):
    port = free_port()
    status, said = refused("--upstream", f"http://127.0.0.1:{port}", "--wait-upstream", "100ms")
    assert status == 3
    assert f"127.0.0.1:{port}" in said


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--upstream"),
        (["--upstream", "ftp://x"], "ftp://x"),
        (["--upstream", "http://x", "--listen", "nowhere"], "nowhere"),
        (["--upstream", "http://x", "--listen", "::1:80"], "brackets"),
        (["--upstream", "http://x", "--tls", "no.pem:no.key"], "no.pem"),
        (["--upstream", "https://x", "--upstream-ca", "/nowhere/ca.pem"], "/nowhere/ca.pem"),
        (["--upstream", "http://x", "--journal", "/nowhere/j"], "/nowhere/j"),
        (["--upstream", "http://x", "--ready-file", "/nowhere/r"], "/nowhere/r"),
        (["--upstream", "http://x", "--grace", "5"], "5"),
        (["--upstream", "http://x", "no-such-scenario"], "no-such-scenario"),
        (["--upstream", "http://x", "/"], "/"),
    ],
)
def test_wrong_usage_is_status_2_and_names_what_is_wrong(arguments, named, refused):
    status, said = refused(*arguments)
    assert status == 2
    assert named in said


def test_a_broken_scenario_is_status_2_with_its_place(tmp_path, refused):
    scenario = tmp_path / "s.yaml"
    scenario.write_text("version: 1\nfaults:\n  - bufer: 4KiB\n")
    status, said = refused("--upstream", "http://x", str(scenario))
    assert status == 2
    assert f"{scenario}:3:5: unknown fault 'bufer'; did you mean 'buffer'?" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_costs_the_journal_not_the_traffic(run, upstream, tmp_path):
    proxy = run("--upstream", upstream.url, "--journal", "/dev/full")
    assert proxy.get() == b"ok"
    assert proxy.get() == b"ok"
    status, _, err = proxy.stop()
    assert status == 3
    assert err.count("No space left") == 1


@pytest.mark.parametrize("speed", ["nan", "inf", "1e308", "-1", "0", "fast"])
def test_a_speed_that_nothing_could_run_at_is_one_line(capsys, speed):
    assert status_of(["run", "--upstream", "http://127.0.0.1:1", "--speed", speed]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].endswith(f"'--speed': {speed!r}: write a number above 0, at most 1,000,000,000")


@pytest.mark.parametrize("speed", ["1", "0.001", "1e9"])
def test_any_other_speed_is_taken(speed):
    assert SpeedType().convert(speed, None, None) == float(speed)
