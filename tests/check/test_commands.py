"""Commands of every kind are run, watched, and ended with their children; what they say of an answer is read."""

import os
import sys
import time
from pathlib import Path

import pytest
import trio

from chaosproxy.check.card import Examination, Result
from chaosproxy.check.client import Command
from chaosproxy.check.runner import Limits
from chaosproxy.check.table import CASES
from chaosproxy.cli.main import status_of

CLIENTS = Path(__file__).with_name("clients")
LIMITS = Limits(patience=4.0, start=30, loop=20, timeout=1.0)
ASKS = f"""
import json, os, sys, time
sys.path.insert(0, {str(CLIENTS.parents[2])!r})
from tests.check.clients.good import Good
client = Good(10.0)
text = client.ask(os.environ["CHAOSPROXY_URL"])
"""


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


async def result_of(case: str, command: list[str], limits: Limits = LIMITS) -> Result:
    cases = [one for one in CASES if one.id == case]
    return (await Examination(Command(command), cases, limits=limits).run()).results[0]


def is_alive(pid: int) -> bool:
    """Also of one that nobody has waited for: its state says that it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_one_that_never_asks_is_ended_with_its_children(tmp_path):
    child = tmp_path / "child"
    program = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
open({str(child)!r}, "w").write(str(child.pid))
time.sleep(1000)
"""
    limits = Limits(patience=1.0, start=4.0)
    result = await result_of("whole", python(program), limits)
    assert (result.judged.verdict, result.judged.good) == ("hangs", False)
    assert "no request came" in result.judged.seen
    until = time.monotonic() + 20
    while is_alive(int(child.read_text())) and time.monotonic() < until:
        await trio.sleep(0.02)
    assert not is_alive(int(child.read_text()))


def test_what_cannot_be_run_is_said_once(tmp_path, capsys):
    script = tmp_path / "client"
    script.write_text("echo it has no first line that says who runs it\n")
    script.chmod(0o755)
    assert status_of(["check", "--jobs", "2", "--only", "reset*", "--", str(script)]) == 2
    assert capsys.readouterr().err == f"chaosproxy: {script} cannot be run: Exec format error\n"


async def test_a_child_that_is_left_behind_is_ended_too(tmp_path):
    child = tmp_path / "child"
    program = f"""{ASKS}
import subprocess
left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
open({str(child)!r}, "w").write(str(left.pid))
print(text, flush=True)
os._exit(0)
"""
    result = await result_of("whole", python(program))
    assert result.judged.good is True
    until = time.monotonic() + 20
    while is_alive(int(child.read_text())) and time.monotonic() < until:
        await trio.sleep(0.02)
    assert not is_alive(int(child.read_text()))


BEHAVIOURS = {
    "ignores the base URL": ("whole", "print('hi')", "corrupted", False, "no request came"),
    "says nothing": ("whole", "pass", "truncated", False, "no request came"),
    "cannot begin": ("whole", "raise SystemExit('no')", "raised", False, "no request came"),
    "leaves with a traceback": ("fin", f"{ASKS}", "raised", True, "NotWhole: EOFError"),
    "crashes": ("fin", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "raised", False, "no request"),
    "crashes behind its answer": (
        "whole",
        f"{ASKS}\nprint(text, flush=True)\nos.kill(os.getpid(), 11)",
        "raised",
        False,
        "SIGSEGV",
    ),
    "prints garbage, and a lot": (
        "whole",
        f"{ASKS}\nsys.stdout.buffer.write(bytes(range(256)) * 80_000)",
        "corrupted",
        False,
        "other text from character 1 on",
    ),
    "does not leave": ("whole", f"{ASKS}\nprint(text, flush=True); time.sleep(1000)", "hangs", False, "12 of 12"),
    "prints the stream": (
        "whole",
        f"{ASKS}\nprint('data: ' + text)",
        "corrupted",
        False,
        "it printed the stream, not its text",
    ),
    "prints a token a line": (
        "whole",
        f"{ASKS}\nprint(*[word + ' ' for word in text.split()], sep='\\n')",
        "whole",
        True,
        "all tokens",
    ),
    "says it in JSON": (
        "whole",
        f"{ASKS}\nprint('asking'); print(json.dumps({{'text': text, 'finish': 'stop', 'outcome': 'ok', 'error': None}}))",
        "whole",
        True,
        "all tokens",
    ),
    "says in JSON that it is not whole": (
        "whole",
        f"{ASKS}\nprint(json.dumps({{'text': text[:30], 'finish': 'interrupted', 'outcome': 'ok', 'error': None}}))",
        "flagged",
        False,
        "finish: interrupted",
    ),
}
"""The case, the program, the verdict, whether that is good, and what is seen of it."""


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """Of all of them, several at a time."""
    made = {}

    async def one(name, limiter):
        async with limiter:
            made[name] = await result_of(BEHAVIOURS[name][0], python(BEHAVIOURS[name][1]))

    async def all_of_them():
        limiter = trio.CapacityLimiter(6)
        async with trio.open_nursery() as nursery:
            for name in BEHAVIOURS:
                nursery.start_soon(one, name, limiter)

    trio.run(all_of_them)
    return made


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_what_it_does_is_said(results, name):
    _, _, verdict, good, seen = BEHAVIOURS[name]
    judged = results[name].judged
    assert (judged.verdict, judged.good) == (verdict, good), judged
    assert seen in judged.seen


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups here")
@pytest.mark.parametrize("deaf", [False, True])
async def test_an_interrupt_is_heard_on_the_wire(deaf):
    program = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{ASKS}" if deaf else ASKS
    limits = Limits(patience=1.0, start=30, timeout=8.0)
    result = await result_of("interrupt", python(program), limits)
    assert result.judged.good is not deaf, result.judged
    assert "the server heard of it" in result.judged.seen


async def test_who_holds_what_it_has_decoded_is_late(monkeypatch):
    monkeypatch.chdir(CLIENTS.parents[2])
    right, wrong = (
        [sys.executable, "-m", "tests.check.clients.good"],
        [sys.executable, "-m", "tests.check.clients.wrong"],
    )
    cases = [one for one in CASES if one.id in {"whole", "gzip"}]
    results = {}
    for name, command in (("right", right), ("wrong", wrong)):
        card = await Examination(Command(command), cases, limits=LIMITS, jobs=1).run()
        results[name] = {result.case.id: (result.judged.verdict, result.judged.good) for result in card.results}
    assert results["right"] == {"whole": ("whole", True), "gzip": ("whole", True)}
    assert results["wrong"] == {"whole": ("whole", True), "gzip": ("late", False)}
