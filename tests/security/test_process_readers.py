"""Terminals and pipes that nobody reads, and a journal in the midst of stdout: no stream waits, and no line is torn."""

import json
import os
import time
from pathlib import Path

from tests.security.processes import AT_ONCE, MANY, READER, WITHIN, answers, asked, process, serving

__all__ = ["process"]


def test_a_terminal_that_nobody_reads(shown, process):
    """Held by Ctrl-S, or full: it says that it takes something, and then waits with a part of a line."""
    reading, writing = os.openpty()
    with serving(answers) as upstream:
        proxy = process("--upstream", upstream.url, "--json", stdout=writing, stderr=writing).ready()
        statuses = asked(proxy)
        began = time.monotonic()
        proxy.process.terminate()
        status = proxy.process.wait(WITHIN)
        took = time.monotonic() - began
    ids = [one["id"] for one in proxy.records()]
    os.close(writing)
    os.close(reading)
    assert ids == list(range(1, MANY + 1))
    assert status == 0
    assert took < 2 * READER + AT_ONCE
    shown(
        "process",
        "stdout and stderr are a terminal that nobody reads",
        tried=MANY,
        must=f"no exchange waits; SIGTERM ends it within {READER} s for each of them and a second",
        happens=f"{', '.join(sorted(statuses))}; exit status {status}",
        figure=f"ended {took * 1000:.0f} ms after SIGTERM",
    )


def test_a_journal_s_pipe_that_nobody_opens(shown, process, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with serving(answers) as upstream:
        proxy = process("--upstream", upstream.url, "-q", journal=pipe).ready()
        for _ in range(3):
            proxy.get()
        status, _, err = proxy.stop()
    assert err == f"chaosproxy: journal {pipe}: 3 exchanges lost, which nobody read\n"
    shown(
        "process",
        "a journal that is a named pipe which nobody opens",
        tried=3,
        must="what is left in it is counted; exit status 3",
        happens=f"3 exchanges lost, which nobody read; exit status {status}",
    )


def test_a_journal_that_is_stdout(shown, process, tmp_path):
    """`(echo before; chaosproxy run --json --journal /dev/stdout) > file`"""
    file = tmp_path / "out"
    with serving(answers) as upstream, file.open("wb") as out:
        out.write(b"before\n")
        out.flush()
        proxy = process("--upstream", upstream.url, "--json", journal=Path("/dev/stdout"), stdout=out.fileno()).ready()
        for _ in range(3):
            proxy.get()
        status, _, err = proxy.stop()
    before, *lines = file.read_text().splitlines()
    assert (status, err, before) == (0, "", "before")
    ids = [json.loads(line)["id"] for line in lines]
    assert ids == [1, 1, 2, 2, 3, 3]
    shown(
        "process",
        "a journal that is /dev/stdout, beside --json, redirected to a file",
        tried=3,
        must="nothing is cut off; each line is whole",
        happens=f"{len(ids)} lines of {len(set(ids))} exchanges behind what stood there",
    )
