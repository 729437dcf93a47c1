"""`check` and `diagnose` that are ended in the middle: what was seen is kept, and no command is left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys

from chaosproxy.origin.serving import serving
from tests.check.test_ended import is_there
from tests.security.processes import WITHIN, until

CLIENT = """
import os, sys, time, urllib.request
with open(os.environ["CHAOSPROXY_CASE"], "w") as file:
    file.write(str(os.getpid()))
if os.environ["CHAOSPROXY_CASE"] != "whole":
    os.rename(os.environ["CHAOSPROXY_CASE"], "hanging")
    time.sleep(600)
import json
body = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]}'
fields = {"Content-Type": "application/json"}
request = urllib.request.Request(os.environ["CHAOSPROXY_URL"] + "/v1/chat/completions", body, fields)
with urllib.request.urlopen(request, timeout=60) as answer:
    for line in answer:
        if line.startswith(b"data: {"):
            print(json.loads(line[6:])["choices"][0]["delta"].get("content") or "", end="")
"""
"""It answers for the first case, and hangs in the next."""


def interrupted(folder, number):
    """A card of two cases, the second of which does not end; what it says, and the exit status."""
    folder.mkdir()
    argv = [sys.executable, "-m", "chaosproxy", "check", "quick", "--jobs", "1", "--json", "--junit", "card.xml"]
    argv += ["--only", "whole", "--only", "fin", "--", sys.executable, "-c", CLIENT]
    with subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until((folder / "hanging").exists, "the second case")
        left = int((folder / "hanging").read_text())
        process.send_signal(number)
        out, err = process.communicate(timeout=WITHIN)
    until(lambda: not is_there(left), "the command is still there")
    assert "ended after 1 of 2 cases" in err
    assert 'name="whole"' in (folder / "card.xml").read_text()
    (case,) = json.loads(out)["cases"]
    return case["case"], case["verdict"], process.returncode


def test_a_card_that_is_ended_early(shown, tmp_path):
    numbers = [signal.SIGINT, signal.SIGTERM]
    seen = [interrupted(tmp_path / number.name, number) for number in numbers]
    assert seen == [("whole", "whole", 128 + number) for number in numbers]
    shown(
        "process",
        "check, SIGINT or SIGTERM in the middle",
        tried=len(seen),
        must="the card of what was judged, no command left behind, exit status 128 and the signal",
        happens=f"one case of two; none left; exit status {', '.join(str(status) for _, _, status in seen)}",
    )


def test_a_diagnosis_that_is_ended_early(shown, tmp_path):
    with serving() as origin, contextlib.ExitStack() as ends:
        argv = [sys.executable, "-m", "chaosproxy", "diagnose", f"{origin.url}/sse", "--times", "1000", "--json"]
        process = ends.enter_context(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        until(lambda: origin.stats()["finished"] >= 4, "some answers")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WITHIN)
    told = json.loads(out)
    assert "ended after " in err
    assert process.returncode == 130
    shown(
        "process",
        "diagnose, SIGINT in the middle",
        tried=1,
        must="the diagnosis by what was seen, exit status 130",
        happens=f"{len(told['hops'])} hop told of, exit status {process.returncode}",
    )


def test_what_is_here_has_a_parent():
    """The list of processes that `is_there` looks at knows this one."""
    assert is_there(os.getpid())
