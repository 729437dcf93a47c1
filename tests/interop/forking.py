"""Run as a program: has imported chaosproxy once, and forks a proxy process for each line that it is given.

Starting an interpreter and importing costs half a second; ninety tests each want a proxy of their own. What is forked is
a process like any other, with its own arguments, output, signals and exit status. Speaks JSON lines: `{"argv", "log"}`
is answered by `{"pid"}`, `{"wait": pid}` by `{"status"}`, null while it runs.
"""

import gc
import json
import os
import signal
import sys
import traceback
from typing import NoReturn

import trustme  # noqa: F401 - imported by `--tls auto`, and slow

import chaosproxy.cli.serving
import chaosproxy.scenario.load  # noqa: F401 - both imported by `run`, and slow
from chaosproxy.cli.main import main


def become(argv: list[str], log: str) -> NoReturn:
    """Turn this fork into `chaosproxy ARGV`."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["chaosproxy", *argv]
    status: object = 1
    try:
        main()
        status = 0
    except SystemExit as leaving:
        status = leaving.code or 0
    except BaseException:  # noqa: BLE001 - the last one to see it
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1)


def serve() -> None:
    gc.freeze()  # else each fork copies what it collects
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests to answer
    for line in sys.stdin:
        asked = json.loads(line)
        if "argv" in asked:
            pid = os.fork()
            if not pid:
                become(asked["argv"], asked["log"])
            answer = {"pid": pid}
        else:
            pid, status = os.waitpid(asked["wait"], os.WNOHANG)
            answer = {"status": os.waitstatus_to_exitcode(status) if pid else None}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
