"""Disks that are full, pipes that nobody reads: they cost what would have been written there, never a stream."""

import errno
import fcntl
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from chaosproxy.cli.main import status_of
from chaosproxy.journal import jsonl
from tests.journal.test_jsonl import record
from tests.security.processes import AT_ONCE, MANY, READER, WITHIN, answers, asked, process, serving

__all__ = ["process"]

PAGE = 4096


def one_page(descriptor):
    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PAGE)


def test_stdout_that_is_read_late(shown, process):
    reading, writing = os.pipe()
    one_page(writing)
    with serving(answers) as upstream:
        proxy = process("--upstream", upstream.url, "--json", stdout=writing).ready()
        os.close(writing)
        statuses = asked(proxy)
        read: list[str] = []

        def late():
            with os.fdopen(reading, encoding="ascii") as file:
                read.extend(file)

        reader = threading.Thread(target=late)
        reader.start()
        status, _, err = proxy.stop()
        reader.join(WITHIN)
    ids = [json.loads(line)["id"] for line in read]
    assert (status, err) == (0, "")
    assert ids == list(range(1, MANY + 1))
    shown(
        "process",
        "stdout that nobody reads, until later",
        tried=MANY,
        must="no exchange waits for it; every line comes, whole and in order",
        happens=f"{', '.join(sorted(statuses))}; {len(ids)} of {MANY} lines, in order",
    )


def test_stderr_and_a_journal_s_pipe_that_nobody_reads(shown, process, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading, writing = os.pipe()
    one_page(writing)
    with serving(answers) as upstream:
        proxy = process("--upstream", upstream.url, "-v", journal=pipe, stderr=writing).ready()
        os.close(writing)
        journal = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        one_page(journal)
        statuses = asked(proxy)
        began = time.monotonic()
        proxy.process.terminate()
        status = proxy.process.wait(WITHIN)
        took = time.monotonic() - began
    os.set_blocking(journal, True)
    with os.fdopen(journal, "rb") as left, os.fdopen(reading, "rb") as said:
        whole = [json.loads(line)["id"] for line in left.read().split(b"\n")[:-1]]
        assert said.read().startswith(b"chaosproxy: listening on ")
    assert whole == list(range(1, len(whole) + 1))
    assert whole != list(range(1, MANY + 1))
    assert status == 3
    assert took < 2 * READER + AT_ONCE
    shown(
        "process",
        "stderr, and a journal that is a pipe, that nobody reads",
        tried=MANY,
        must=f"no exchange waits; SIGTERM ends it within {READER} s for each reader and a second; a journal that lost exchanges is exit status 3",
        happens=f"{', '.join(sorted(statuses))}; exit status {status}",
        figure=f"ended {took * 1000:.0f} ms after SIGTERM",
    )


def test_a_reader_that_has_had_enough(shown, process):
    """`run --json | head -1`."""
    reading, writing = os.pipe()
    with serving(answers) as upstream:
        proxy = process("--upstream", upstream.url, "--json", stdout=writing).ready()
        os.close(writing)
        proxy.get()
        with os.fdopen(reading, encoding="ascii") as head:
            first = json.loads(head.readline())
        statuses = {proxy.get().split()[1].decode() for _ in range(3)}
        status, _, err = proxy.stop()
    assert (first["id"], len(proxy.records())) == (1, 4)
    shown(
        "process",
        "stdout whose reader has left",
        tried=3,
        must="traffic goes on, nothing is said of it",
        happens=f"{', '.join(sorted(statuses))}; exit status {status}, stderr {err or 'silent'}",
    )


def test_a_program_without_stdin_stdout_and_stderr(shown, process):
    """No connection gets their numbers, and with them what is said there."""
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    with serving(answers) as upstream:
        proxy = process("--upstream", upstream.url, "-v", wrapped=closed).ready()
        standard = {str(Path(f"/proc/{proxy.pid}/fd/{number}").readlink()) for number in range(3)}
        with proxy.connect() as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            came = b""
            while part := client.recv(65536):
                came += part
        status, _, _ = proxy.stop()
    assert came.endswith(b"\r\n\r\nok")
    assert status == 0
    shown(
        "process",
        "started without stdin, stdout and stderr",
        tried=3,
        must="no connection gets their numbers",
        happens=f"they are {', '.join(sorted(standard))}",
    )


def until_told(proxy, number):
    """What stderr says up to the end of that exchange, which is in the journal then, or is not."""
    said = ""
    while f"#{number} " not in said:
        line = proxy.process.stderr.readline()
        assert line, said
        said += line
    return said


def test_a_journal_that_has_no_room(shown, process):
    with serving(answers) as upstream:
        proxy = process("--upstream", upstream.url).ready()
        proxy.get()
        until_told(proxy, 1)
        line = proxy.journal.stat().st_size
        proxy.limit(resource.RLIMIT_FSIZE, line * 2 + line // 2)
        statuses = [proxy.get().split()[1].decode() for _ in range(4)]
        err = until_told(proxy, 5)
        full = proxy.journal.read_bytes()
        proxy.limit(resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)
        statuses.append(proxy.get().split()[1].decode())
        status, _, rest = proxy.stop()
    err += rest
    ids = [one["id"] for one in proxy.records()]
    assert full.endswith(b"\n")
    assert ids == [1, 2, 6]
    assert err.count("exchanges are being lost") == 1
    shown(
        "process",
        "a journal for which there is no room, and then is again",
        tried=5,
        must="traffic goes on; a line is whole or absent; one complaint; exit status 3",
        happens=f"{', '.join(sorted(set(statuses)))}; lines {ids} of 6, whole; one complaint; exit status {status}",
    )


def test_a_file_that_fails_in_every_way(shown, tmp_path, monkeypatch):
    """EIO where a line is cut back, and where the file is closed: what is whole can be read all the same."""
    said: list[str] = []
    journal = jsonl.JournalFile(tmp_path / "j", said.append)
    journal(record(1))
    real, short = os.write, [20]

    def write(descriptor, data):
        if not short:
            return real(descriptor, data)
        if (fits := short[0]) == 0:
            raise OSError(errno.EIO, "Input/output error")
        short[0] = 0
        return real(descriptor, data[:fits])

    def fails(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(jsonl.os, "write", write)
    monkeypatch.setattr(jsonl.os, "ftruncate", fails)
    journal(record(2))
    short.clear()
    journal(record(3))
    close = os.close
    monkeypatch.setattr(jsonl.os, "close", lambda descriptor: (close(descriptor), fails()))
    journal.close()
    monkeypatch.undo()
    lines = (tmp_path / "j").read_bytes().split(b"\n")
    assert [json.loads(lines[0])["id"], json.loads(lines[2])["id"]] == [1, 3]
    assert len(lines[1]) == 20
    assert journal.lost == 2
    shown(
        "process",
        "a disk that fails: half a line cannot be cut off, closing fails",
        tried=3,
        must="the next line stands by itself; both are counted and said once",
        happens=f"{journal.lost} counted, said {len(said)} time; the lines before and behind are whole",
    )


@pytest.fixture
def journal(tmp_path):
    file = tmp_path / "j.jsonl"
    file.write_text("".join(jsonl.line(record(number)) + "\n" for number in range(1, 300)))
    return file


def reported(journal, stdout):
    """`report` as a process of its own."""
    argv = [sys.executable, "-m", "chaosproxy", "report", str(journal), "--format", "html"]
    return subprocess.Popen(argv, stdout=stdout, stderr=subprocess.PIPE, text=True)


def test_results_that_find_no_room_or_no_reader(shown, journal):
    with Path("/dev/full").open("wb") as full:
        no_room = reported(journal, full)
    reading, writing = os.pipe()
    os.close(reading)
    no_reader = reported(journal, writing)
    os.close(writing)
    said = [one.communicate(timeout=WITHIN)[1] for one in (no_room, no_reader)]
    assert said == ["chaosproxy: No space left on device\n", ""]
    assert (no_room.returncode, no_reader.returncode) == (3, 141)
    shown(
        "process",
        "results on stdout: a full disk, or a reader that has left",
        tried=len(said),
        must="one line and exit status 3; or silence, and the exit status of who is ended by SIGPIPE",
        happens=f"one line, exit status {no_room.returncode}; silence, {no_reader.returncode}",
    )


def test_a_report_that_finds_no_room(shown, journal, tmp_path, capsys):
    """It is written beside its place: what stood there stays."""
    there = tmp_path / "report.html"
    there.write_text("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        status = status_of(["report", str(journal), "-o", str(there)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    err = capsys.readouterr().err
    assert err == f"chaosproxy: cannot write the report {there}: File too large\n"
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["j.jsonl", "report.html"]
    shown(
        "process",
        "a report that finds no room",
        tried=1,
        must="one line, exit status 3; the file of that name stays as it was",
        happens=f"one line, exit status {status}; it says {there.read_text()!r}",
    )
