"""How long it takes from the command to the first connection that is accepted, beside the import of what it stands on.

Rules: both from before the process is made; the import is over when the process says so, a start when a connection opens.
All modules are compiled already, as an installer leaves them: a working copy's need not be, and the environment may say
that they never are.
"""

import os
import socket
import subprocess
import sys
import time
from functools import partial

from benchmarks.cpu import spent
from benchmarks.peers import Pool
from benchmarks.programs import UnavailableError, free_port, started
from benchmarks.scene import Measure, Scene, Seen

_TOO_LONG = 30.0
_IMPORT = "import trio, h11, h2.connection, yaml, sys; print(); sys.stdin.read()"


def _begin(pool: Pool, *command: str) -> tuple[float, subprocess.Popen[str]]:
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = started(
        pool.cpus,
        sys.executable,
        *command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=compiled | {"PYTHONPYCACHEPREFIX": str(pool.folder / "compiled")},
    )
    return began, process


def _end(began: float, process: subprocess.Popen[str]) -> Seen:
    seen = {"ms": (time.perf_counter() - began) * 1e3, "cpu_ms": spent([process.pid]) / 1e6}
    process.kill()
    process.communicate()
    return seen


def imported(pool: Pool) -> Seen:
    """Python, and the four imports."""
    began, process = _begin(pool, "-c", _IMPORT)
    assert process.stdout
    process.stdout.readline()
    return _end(began, process)


def accepted(pool: Pool) -> Seen:
    """`chaosproxy run`, until somebody can connect."""
    port = free_port()
    command = ["-m", "chaosproxy", "run", "-q", "--listen", f"127.0.0.1:{port}"]
    began, process = _begin(pool, *command, "--upstream", f"http://127.0.0.1:{pool.origin}")
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=_TOO_LONG).close()
        except ConnectionRefusedError:
            if process.poll() is not None or time.perf_counter() - began > _TOO_LONG:
                _end(began, process)
                raise UnavailableError("does not accept") from None
            time.sleep(0.002)
        else:
            return _end(began, process)


def scene(pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """Both, so often that a median means something."""
    rows = {"import of trio, h11, h2, yaml": partial(imported, pool), "run to accepted": partial(accepted, pool)}
    return Scene("start", "start", rows, rounds=1 if measure.quick else 9)
