"""Scenario files of any bytes: a scenario that can be written down again, or problems that each have a place.

Must not know: what a scenario does, who draws the bytes.
"""

import json
import tempfile
from functools import cache
from pathlib import Path

from chaosproxy.errors import Problem
from chaosproxy.scenario import library
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import examine, load
from chaosproxy.scenario.schema import Scenario
from tests.fuzz.targets import Target

MOST_PROBLEMS = 101
LONGEST = 1000
"""Characters of a problem's message."""
TOKENS = (
    b": ", b"\n", b"  ", b"- ", b"[", b"]", b"{", b"}", b"&a ", b"*a", b"${A}", b"${A:-b}", b"!!int ", b'"', b"'", b"forever", b"-1",
    b"1e99", b".inf", b"null", b"5MiB", b"~", b"|\n", b"\t", b"version: 1\n", b"\r\n", b"\xc3\xa9", b"- cut: {at: end}\n", b"0x10", b"9" * 99,
)  # fmt: skip
ENVIRONMENT = {"A": "5", "LONG": "x" * 1000, "CONTROL": "a\x1bb", "LINE": "a\nb"}


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """One of the process, gone with it."""
    return tempfile.TemporaryDirectory(prefix="chaosproxy-")


def judged(scenario: Scenario | None, problems: tuple[Problem, ...], content: bytes | None) -> None:
    """`content` is the file's; None where there is none."""
    wrong = [problem for problem in problems if not problem.warning]
    assert (scenario is None) == bool(wrong), problems
    assert len(problems) <= MOST_PROBLEMS
    for problem in problems:
        assert 0 < len(problem.message) < LONGEST, problem.message
        assert problem.message.isprintable(), problem.message
        assert problem.source.isprintable(), problem.source
        if content is not None:
            _placed(problem, content)
    if scenario is not None:
        written = dump(scenario)
        assert load(written, env={}) == scenario, "written down, it is another"
        assert json.loads(json.dumps(written, allow_nan=False)) == written


def _placed(problem: Problem, content: bytes) -> None:
    """Its line is one of the file, or the one behind the last."""
    if "1 MiB" in problem.message:
        return
    lines = len(content.decode("utf-8", "replace").splitlines()) + 1
    assert 1 <= problem.line <= max(lines, content.count(b"\n") + content.count(b"\r") + 2), (problem, lines)
    assert problem.column >= 1, problem


def run(data: bytes) -> None:
    file = Path(folder().name) / "any.yaml"
    file.write_bytes(data)
    judged(*examine(file, env=ENVIRONMENT), data)


def mapping(given: dict[str, object]) -> None:
    """The same of what a Python program gives."""
    judged(*examine(given, env=ENVIRONMENT), None)


def seeds() -> list[bytes]:
    """Every scenario that is shipped, without its comments, and some that are none."""
    found = [path.read_bytes() for path in library.shipped().values()]
    bare = [b"\n".join(line for line in text.split(b"\n") if not line.startswith(b"#")) for text in found]
    return [*bare, b"version: 1\nfaults: [{cut: {at: {event: 3}}}]\n", b"a: &a [*a]", b"version: ${A}\n", b"\xff\xfe"]


TARGETS = {
    "loader": Target(
        "scenario files",
        "a scenario that is the same when it was written down and read again, or problems each with its place",
        run,
        seeds,
        TOKENS,
    )
}
