"""`check` and `diagnose` that are ended in the middle: what was seen is kept, and no command is left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest

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
body = b'{"stream": true, "messages": []}'
request = urllib.request.Request(os.environ["CHAOSPROXY_URL"] + "/v1/chat/completions", body)
with urllib.request.urlopen(request, timeout=60) as answer:
    for line in answer:
        if b'"content"' in line:
            import json
            print(json.loads(line[6:])["choices"][0]["delta"]["content"], end="")
"""
"""It answers for the first case, and hangs in the next."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_card_that_is_ended_early(shown, tmp_path, number):
    argv = [sys.executable, "-m", "chaosproxy", "check", "quick", "--jobs", "1", "--json", "--junit", "card.xml"]
    argv += ["--only", "whole", "--only", "fin", "--", sys.executable, "-c", CLIENT]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until((tmp_path / "hanging").exists, "the second case")
        left = int((tmp_path / "hanging").read_text())
        process.send_signal(number)
        out, err = process.communicate(timeout=WITHIN)
    until(lambda: not is_there(left), "the command is still there")
    card = json.loads(out)
    judged = [one["case"] for one in card["cases"]]
    assert judged == ["whole"]
    assert "whole" in (tmp_path / "card.xml").read_text()
    assert "ended after 1 of " in err
    assert process.returncode == (130 if number == signal.SIGINT else 128 + number)
    shown(
        "process",
        f"check, {number.name} in the middle",
        tried=1,
        must="the card of what was judged, no command left behind, exit status 128 and the signal",
        happens=f"{', '.join(judged)}: {card['cases'][0]['verdict']}; none left; exit status {process.returncode}",
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
