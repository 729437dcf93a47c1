"""`check` that is ended from outside, as a CI job that is cancelled: no command of it is left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

WITHIN = 20
COMMAND = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
with open('written', 'w') as file:
    file.write(f'{os.getpid()} {child.pid}')
os.rename('written', 'running')
time.sleep(600)
"""


def is_there(process: int) -> bool:
    """Whether it runs; who has ended, and is waited for by nobody, does not."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    ).stdout
    return bool(state.strip()) and not state.startswith("Z")


def until(holds):
    ends = time.monotonic() + WITHIN
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups here")
def test_a_signal_ends_the_commands_and_their_children_too(tmp_path):
    arguments = ["check", "--only", "whole", "--", sys.executable, "-c", COMMAND]
    with subprocess.Popen([sys.executable, "-m", "chaosproxy", *arguments], cwd=tmp_path) as process:
        until((tmp_path / "running").exists)
        started = [int(word) for word in (tmp_path / "running").read_text().split()]
        assert all(map(is_there, started))
        process.terminate()
        assert process.wait(WITHIN) == 128 + signal.SIGTERM
    until(lambda: not any(map(is_there, started)))
