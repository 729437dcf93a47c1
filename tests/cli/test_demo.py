"""`chaosproxy demo` as a person or a program meets it."""

import json
import os
import pty
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from chaosproxy.cli.main import status_of

FIRST = re.compile(r"^ *first event +(\d+ ms|none)$", re.MULTILINE)
COMMAND = [sys.executable, "-m", "chaosproxy", "demo"]


@pytest.fixture
def said(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str) -> tuple[int, str, str]:
        status = status_of(["demo", *arguments])
        return status, *capsys.readouterr()

    return run


def test_with_no_argument_it_is_the_buffer_as_a_picture(said):
    status, out, err = said()
    assert (status, err) == (0, "")
    assert out.startswith("buffer-4k\n")
    straight, held = (int(found.removesuffix(" ms")) for found in FIRST.findall(out))
    assert held >= 390
    assert straight < held
    strips = [line for line in out.splitlines() if line.endswith("┤")]
    assert len(strips) == 2
    assert strips[0].count("▅") > 3
    assert set(strips[1][2:22]) == {"·"}, "nothing, and only then events"
    assert "█" in strips[1]
    assert out.count("first event") == 2, "whoever searches for it finds the measurements alone"
    assert " ".join(out.split()).endswith("Watch the time to the first event.")
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert not any(line.endswith(" ") for line in out.splitlines())


def test_for_machines(said):
    status, out, err = said("--json")
    assert (status, err) == (0, "")
    seen = json.loads(out)
    direct, through = seen["direct"], seen["through"]
    assert (seen["scenario"], seen["speed"]) == ("buffer-4k", 1)
    assert (direct["events"], through["events"], direct["end"], through["end"]) == (40, 40, "clean", "clean")
    assert direct["bytes"] == through["bytes"]
    assert min(time for time, _ in through["arrivals"]) >= 0.39
    assert len(direct["arrivals"]) > 3
    assert through["first_event"] >= 0.39
    assert direct["first_event"] < through["first_event"] <= through["total"]


def test_a_scenario_of_one_s_own(said, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text('version: 1\nabout: \x1b[31mred\x85 and "[bold]"\nfaults: [{cut: {at: {event: 5}, then: rst}}]\n')
    status, out, _ = said(str(file))
    assert status == 2 or "\x1b" not in out  # YAML refuses control characters; nothing of them comes out
    file.write_text("version: 1\nabout: all [bold]of[/] it\nfaults: [{cut: {at: {event: 5}, then: rst}}]\n")
    status, out, _ = said(str(file))
    assert status == 0
    assert "all [bold]of[/] it" in out
    assert "reset (TCP RST)" in out
    assert "5 events" in out
    assert "The proxy says: cut: rst after event 5." in out


def test_a_scenario_that_nothing_meets_says_so(said, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text("version: 1\nmatch: {path: /none}\nfaults: [{buffer: 4KiB}]\n")
    status, out, _ = said(str(file))
    assert status == 0
    assert "No rule of the scenario takes any request" in " ".join(out.split())


def test_a_speed_is_said_and_kept(said):
    status, out, _ = said("total-timeout", "--speed", "60")
    assert status == 0
    assert "runs 60 times as fast, so that 15s take 250 ms" in " ".join(out.split())


@pytest.mark.parametrize(
    "arguments", [["bufer-4k"], ["absent.yaml"], ["--speed", "0"], ["--speed", "nan"], ["one", "two"]]
)
def test_wrong_usage(said, arguments):
    status, out, err = said(*arguments)
    assert (status, out) == (2, "")
    assert err
    assert "Traceback" not in err
    if arguments == ["bufer-4k"]:
        assert "did you mean 'buffer-4k'?" in err


def test_a_scenario_with_a_mistake_names_its_place(said, tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text("version: 1\nfaults: [{bufer: 4KiB}]\n")
    status, out, err = said(str(file))
    assert (status, out) == (2, "")
    assert f"{file}:2:11: unknown fault 'bufer'" in err


def test_the_picture_as_a_file(said, tmp_path):
    file = tmp_path / "demo.svg"
    assert said("--svg", str(file))[0] == 0
    text = file.read_text()
    ET.fromstring(text)
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text.replace("https://www.textualize.io", ""), "nothing is fetched to look at it"
    assert "straight" in text
    assert said("--svg", str(tmp_path / "absent" / "demo.svg"))[0] == 2


def test_where_there_is_no_unicode_it_draws_with_what_there_is():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "60"}
    done = subprocess.run(COMMAND, env=environment, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert b"#|" in done.stdout


@pytest.mark.parametrize("no_color", ["", "1"])
def test_progress_and_colour_are_for_a_terminal(no_color):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "NO_COLOR": no_color}
    if not no_color:
        del environment["NO_COLOR"]
    running = subprocess.Popen(COMMAND, env=environment, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    progress = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:
            break  # Linux says EIO where the other end is closed
        if not some:
            break
        progress += some
    out, _ = running.communicate(timeout=60)
    os.close(ours)
    assert running.returncode == 0
    assert b"straight to the server" in progress
    assert b"through buffer-4k" in progress
    assert b"of 40 events" in progress
    assert (b"\x1b[38;5" in progress or b"\x1b[1;3" in progress or b"\x1b[3" in progress) == (not no_color)
    assert b"\x1b" not in out


def test_what_a_wave_is_stands_below_it_and_a_narrow_axis_keeps_its_numbers_apart(said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = said("rate-limited")
    assert "  ~ bytes came, and no event\n" in out
    (axis,) = (line for line in out.splitlines() if "one column" in line)
    assert re.fullmatch(r"  0 +one column: [\d.]+ ms +\d+ ms", axis)
