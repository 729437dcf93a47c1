"""A whole process with secrets in it: what it says and writes; and that keys are in no file, of its memory neither."""

import contextlib
import http.client
import json
import os
import signal
import ssl
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from chaosproxy.wire import tls
from tests.security.canaries import Canaries, summary

SCENARIO = """
version: 1
name: keyed
faults:
  - auth: {token: "${A_KEY}"}
  - respond: {status: 200, headers: {set-cookie: "a=${A_KEY}", location: "/?token=${A_KEY}"}, body: "${A_KEY}"}
expect:
  - header: {name: set-cookie}
"""
WITHIN = 60.0


class Run:
    """`chaosproxy run --tls auto -v`, and everything that it leaves behind."""

    def __init__(self, folder: Path, word: str) -> None:
        self.folder = folder
        (folder / "keyed.yaml").write_text(SCENARIO)
        reports = [folder / name for name in ("r.html", "r.xml", "r.md", "r.txt")]
        command = [
            sys.executable,
            "-m",
            "chaosproxy",
            "run",
            str(folder / "keyed.yaml"),
            "--upstream",
            "http://127.0.0.1:1",
        ]
        command += ["--listen", "127.0.0.1:0", "--tls", "auto", "-v", "--ca-out", str(folder / "ca.pem"), "--assert"]
        command += ["--ready-file", str(folder / "ready"), "--journal", str(folder / "journal.jsonl")]
        command += [word for report in reports for word in ("--report", str(report))]
        (folder / "tmp").mkdir()
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "A_KEY": word, "TMPDIR": str(folder / "tmp")},
            preexec_fn=_may_write_core,  # noqa: PLW1509 - it takes no lock
        )
        deadline = time.monotonic() + WITHIN
        while not (folder / "ready").exists():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.ready = (folder / "ready").read_text()

    def ask(self, word: str) -> str:
        port = int(json.loads(self.ready)["url"].rpartition(":")[2])
        context = ssl.create_default_context(cafile=self.folder / "ca.pem")
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=WITHIN)
        connection.request("GET", f"/?key={word}", headers={"Authorization": f"Bearer {word}", "Cookie": word})
        with contextlib.closing(connection):
            answer = connection.getresponse()
            return f"{answer.headers}{answer.read().decode()}"

    def stop(self) -> dict[str, str]:
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=WITHIN)
        assert self.process.returncode == 0, err
        files = {path.name: path.read_text() for path in self.folder.iterdir() if path.is_file()}
        return {"stdout": out, "stderr": err, "the ready file": self.ready, **files}


def _may_write_core() -> None:
    import resource  # noqa: PLC0415 - between fork and exec, where there is one

    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of another process's limits")
def test_a_process(tmp_path, shown):
    import resource  # noqa: PLC0415 - Windows has none

    secret = Canaries()
    word = secret("a variable, a field, a cookie, a query, an answer")
    run = Run(tmp_path, word)
    try:
        had = run.ask(word)
        core = resource.prlimit(run.process.pid, resource.RLIMIT_CORE)[0]
        outputs = run.stop()
    finally:
        run.process.kill()
        run.process.communicate()
    assert had.count(word) >= 3
    assert outputs.pop("keyed.yaml") == SCENARIO
    assert "GET / 200" in outputs["stderr"]
    assert len(outputs) == 9
    leaks = secret.found(outputs)
    shown(
        "secrets",
        "a process of `run -v` with TLS: stdout, stderr, ready file, journal, reports, CA",
        tried=len(outputs),
        must="no secret in them",
        happens=summary(leaks),
    )
    assert leaks == []
    keys = [name for name, text in outputs.items() if "PRIVATE KEY" in text]
    left = [str(path) for path in (tmp_path / "tmp").rglob("*")]
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("journal.jsonl", "ca.pem")}
    shown(
        "secrets",
        "what a process with TLS keys leaves on the disk",
        tried=len(outputs) + 2,
        must="no key in a file, no core file, the journal for its owner alone",
        happens=f"keys in {len(keys)} files, temporary files {len(left)}, core files of {core} bytes at most, "
        f"journal {modes['journal.jsonl']:o}, CA certificate {modes['ca.pem']:o}",
    )
    assert (keys, left, core) == ([], [], 0)
    assert modes == {"journal.jsonl": 0o600, "ca.pem": 0o644}


def test_a_key_is_a_file_for_a_moment_and_for_its_owner(tmp_path, monkeypatch):
    """OpenSSL takes keys from files alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    modes = []
    load = ssl.SSLContext.load_cert_chain

    def looked_at(context, certfile, keyfile=None, password=None):
        modes.append(stat.S_IMODE(Path(keyfile or certfile).stat().st_mode))
        return load(context, certfile, keyfile, password)

    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", looked_at)
    before = os.umask(0)
    try:
        _, ca = tls.server_context("auto", ["127.0.0.1"], None)
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert ca is not None
    assert list(tmp_path.iterdir()) == [ca]
    assert "PRIVATE" not in ca.read_text()
