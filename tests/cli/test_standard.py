"""Standard streams that are closed, or that nobody reads any more."""

import os
import shlex
import subprocess
import sys

import pytest

WITHIN = 60


@pytest.mark.parametrize("words", [["report", "-"], ["diagnose", "http://127.0.0.1:1/", "-d", "@-"]], ids=" ".join)
def test_a_closed_stdin_is_wrong_usage(words):
    command = shlex.join([sys.executable, "-m", "chaosproxy", *words])
    done = subprocess.run(["sh", "-c", f"{command} <&-"], capture_output=True, text=True, check=False, timeout=WITHIN)
    assert (done.returncode, done.stdout) == (2, "")
    assert "stdin is closed" in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["run", "--help"]], ids=" ".join)
def test_help_that_nobody_reads_ends_as_by_sigpipe(words):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        argv = [sys.executable, "-m", "chaosproxy", *words]
        done = subprocess.run(argv, stdout=writing, stderr=subprocess.PIPE, check=False, timeout=WITHIN)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
