"""The probes of grpcio, run by the report card: what each makes of a call that goes wrong."""

import json
import subprocess
import sys

import pytest

from docs.matrix.clients import PROBES

CASES = {
    "grpcio_sync.py": {
        "grpc-whole": ("whole", True, "all tokens"),
        "grpc-no-trailers": ("raised", True, "RpcError: UNKNOWN: "),
        "grpc-ok-early": ("truncated", False, "3 of 12 tokens, taken for the whole"),
    },
    "grpcio_aio.py": {
        "grpc-ok-early": ("truncated", False, "3 of 12 tokens, taken for the whole"),
        "grpc-undecodable": ("raised", True, "TypeError"),  # of the application: it is handed None
    },
}


@pytest.mark.parametrize("name", CASES)
def test_a_probe_makes_of_each_case_what_is_known_of_its_client(name):
    only = [word for case in CASES[name] for word in ("--only", case)]
    argv = [sys.executable, "-m", "chaosproxy", "check", "full", "--json", "--patience", "20s", *only]
    done = subprocess.run(
        [*argv, "--", sys.executable, str(PROBES / name)], capture_output=True, timeout=170, check=False
    )
    assert done.returncode == 1, done.stderr.decode()
    found = {seen["case"]: seen for seen in json.loads(done.stdout)["cases"]}
    assert list(found) == list(CASES[name])
    for case, (verdict, good, words) in CASES[name].items():
        assert (found[case]["verdict"], found[case]["good"]) == (verdict, good), found[case]
        assert words in found[case]["seen"]
