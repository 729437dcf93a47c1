"""h2spec itself against the proxy, where somebody has installed it: no package registry has it, so CI runs without it.

What it asks for is put by hand in `test_h2_listed.py`, which runs everywhere.
"""

import shutil
import xml.etree.ElementTree as ET

import pytest
import trio

from chaosproxy.testing.peers import origin
from chaosproxy.testing.proxied import proxy_on

PROGRAM = shutil.which("h2spec")
OBSOLETE = {"5.3.1"}
"""RFC 7540 asked for an error where a stream depends on itself; RFC 9113 section 5.3.2 has us ignore it."""
ANSWER = [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"]


def failed(report: bytes) -> list[str]:
    """The cases of a JUnit report that did not pass, by section and what they ask."""
    found = []
    for suite in ET.fromstring(report).iter("testsuite"):
        for case in suite.iter("testcase"):
            section = case.get("package", "").rpartition("/")[2]
            if (case.find("failure") is not None or case.find("error") is not None) and section not in OBSOLETE:
                found.append(f"{section} {case.get('classname')}")
    return found


@pytest.mark.skipif(PROGRAM is None, reason="h2spec is not installed; no package registry has it")
async def test_h2spec_finds_nothing(tmp_path):
    report = tmp_path / "report.xml"
    async with origin(ANSWER) as served, proxy_on(None, served.url) as proxied:
        command = [str(PROGRAM), "-h", "127.0.0.1", "-p", str(proxied.port), "--strict", "-o", "5", "-j", str(report)]
        with trio.fail_after(170):
            await trio.run_process(command, check=False, capture_stdout=True, capture_stderr=True)
    assert failed(report.read_bytes()) == []


def test_a_report_is_read():
    """As h2spec writes it."""
    report = b"""<?xml version="1.0"?><testsuites><testsuite name="x" package="http2/6.5" tests="3">
      <testcase package="http2/6.5" classname="Sends a SETTINGS frame" time="0.1"></testcase>
      <testcase package="http2/5.3.1" classname="depends on itself"><failure>x</failure></testcase>
      <testcase package="http2/6.5" classname="breaks"><failure>expect: GOAWAY</failure></testcase>
    </testsuite></testsuites>"""
    assert failed(report) == ["6.5 breaks"]
