"""Everything is loaded when a proxy starts: an import in the middle would hold up every stream that runs."""

import subprocess
import sys

import pytest

PROGRAM = """
import socket, sys
from urllib.parse import urlsplit
import chaosproxy

H1 = b"GET /sse?tokens=1 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
SETTINGS = b"\\0\\0\\0\\x04\\0\\0\\0\\0\\0"
GET = b"\\0\\0\\x06\\x01\\x05\\0\\0\\0\\x01" + b"\\x82\\x86\\x84\\x41\\x01x"  # HEADERS: GET, http, /, x
H2 = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + SETTINGS + GET

with chaosproxy.serve({scenario}) as proxy:
    before = set(sys.modules)
    for number, request in enumerate((H1, H2), 1):
        at = urlsplit(proxy.url)
        with socket.create_connection((at.hostname, at.port)) as client:
            client.sendall(request)
            proxy.wait(number, timeout=30)
    print([one.client.protocol for one in proxy.exchanges], *sorted(set(sys.modules) - before))
"""


def coded(coding: str) -> dict:
    return {"version": 1, "faults": [{"compress": {"coding": coding, "when_accepted": False}}]}


@pytest.mark.parametrize("scenario", [None, coded("br"), coded("zstd")], ids=["transparent", "br", "zstd"])
def test_an_exchange_of_either_protocol_loads_nothing(scenario):
    program = PROGRAM.replace("{scenario}", repr(scenario))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['http/1.1', 'h2']\n"
