"""Runs chaosproxy and writes down, as Python's own audit has it, each address that is dialled and each name that is looked
up: `python audited.py LOG ARGUMENTS`."""

import os
import sys

LOG = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def hook(event, arguments):
    if event == "socket.connect":
        os.write(LOG, f"{arguments[1]!r}\n".encode())
    elif event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}:
        os.write(LOG, f"{arguments[0]!r}\n".encode())


sys.addaudithook(hook)

from chaosproxy.cli.main import main  # noqa: E402 - nothing is to happen before the hook

main(sys.argv[2:])
