"""The card in each of its forms, by the command line: what it prints, what it writes, with which status it leaves."""

import json
import os
import sys
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from chaosproxy.cli.main import status_of

CASES = ("--only", "whole", "--only", "fin", "--only", "clean-early", "--only", "h2-reset")
GOOD = ("--", sys.executable, "-m", "tests.check.clients.good")
BELIEVES = ("--", sys.executable, "-m", "tests.check.clients.believes")


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    """Where `-m tests...` is found."""
    monkeypatch.chdir(Path(__file__).parents[2])


def test_a_clean_card(capsys):
    assert status_of(["check", *CASES, "--json", *GOOD]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["suite"] == "quick"
    assert [(one["case"], one["verdict"], one["good"]) for one in card["cases"]] == [
        ("whole", "whole", True),
        ("fin", "raised", True),
        ("clean-early", "raised", True),
        ("h2-reset", "not_applicable", None),
    ]
    assert all(one["rule"] and one["seen"] for one in card["cases"])
    assert card["cases"][1]["requests"] == 1


def test_a_bad_one_in_every_form(capsys, tmp_path):
    files = [tmp_path / name for name in ("card.xml", "card.html", "card.md")]
    written = [
        word
        for option, file in zip(("--junit", "--html", "--markdown"), files, strict=True)
        for word in (option, str(file))
    ]
    assert status_of(["check", "quick", *CASES, *written, *BELIEVES]) == 1
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0] == "chaosproxy check quick: 1 of 3 cases failed, 1 not judged"
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in said.out
    assert any(line.split()[:3] == ["FAILED", "clean-early", "truncated"] for line in lines)
    assert any(line.split()[:3] == ["ok", "fin", "raised"] for line in lines)
    assert "only the provider's last" in said.out

    suite = fromstring(files[0].read_text())[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "skipped": "1",
    }
    (failed,) = [case for case in suite if case.find("failure") is not None]
    assert failed.get("name") == "clean-early"
    assert "taken for the whole" in failed.find("failure").get("message")

    page = files[1].read_text()
    assert "What happens: a clean end in mid-answer" in page
    assert page.count('class="exchange"') == 3  # a request each
    assert "<script src" not in page
    assert "http://" not in page.replace("http://127.0.0.1", "").replace("http://www.w3.org", "")

    text = files[2].read_text()
    assert "| ❌ | clean-early |" in text
    assert "| ✅ | fin |" in text


def test_what_is_known_does_not_fail_and_what_is_new_does(capsys, tmp_path):
    known = tmp_path / "known.json"
    chosen = ("--only", "whole", "--only", "clean-early")
    assert status_of(["check", *chosen, "--baseline", str(known), "--write-baseline", *BELIEVES]) == 0
    assert json.loads(known.read_text()) == {"version": 1, "known": {"clean-early": "truncated"}}
    reading, writing = os.pipe()
    os.write(writing, known.read_bytes())
    os.close(writing)
    assert status_of(["check", *chosen, "--baseline", f"/dev/fd/{reading}", *BELIEVES]) == 0  # as <(...) of a shell
    os.close(reading)
    assert "known  clean-early" in capsys.readouterr().out
    known.write_text('{"version": 1, "known": {"whole": "late", "clean-early": "loops"}}')
    assert status_of(["check", *chosen, "--baseline", str(known), *BELIEVES]) == 1
    assert "whole is good now: take it out of the baseline." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "quick"], "no command"),
        (["check", "quick", "--", "no-such-command-here"], "no-such-command-here: no such command"),
        (["check", "quick", "--skip", "*", "--", "true"], "no case is left"),
        (
            ["check", "--write-baseline", "--baseline", "/no/such/folder/known", "--", "true"],
            "cannot write the baseline",
        ),
        (["check", "fastest", "--", "true"], "fastest"),
        (["check", "true", "--now"], "write `--` in front of the command: -- true ..."),
        (["check", "full", "true"], "write `--` in front of the command: -- true ..."),
        (["check", "--", __file__], "it is not executable"),
        (
            ["check", "timeouts", "--only", "fin", "--html", "card.html", "--", "true"],
            ": --only, --html cannot stand beside",
        ),
        (["check", "--only", "fni", "--", "true"], "no case is called 'fni'"),
        (["check", "--timeout", "forever", "--", "true"], "--timeout forever: write a time that passes"),
        (["check", "--patience", "0s", "--", "true"], "--patience 0s: write a time that passes"),
        (["check", "--write-baseline", "--", "true"], "--baseline FILE"),
        (["check", "--baseline", "/no/such/file", "--", "true"], "cannot read the baseline"),
        (["check", "--html", "/no/such/folder/card.html", "--", "true"], "cannot write the card"),
    ],
)
def test_what_is_asked_wrongly_is_said_before_anything_runs(arguments, said, capsys):
    assert status_of(arguments) == 2
    assert said in capsys.readouterr().err


def test_half_a_character_of_a_client_s_json_is_told_as_it_was(capsys):
    says = r"""print('{"text": "", "outcome": "raised", "error": "half \\ud83d"}')"""
    assert status_of(["check", "--only", "whole", "--json", "--", sys.executable, "-c", says]) == 1
    assert json.loads(capsys.readouterr().out)["cases"][0]["seen"].startswith("half \ud83d")


def test_the_cases_are_listed(capsys):
    assert status_of(["check", "full", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert "fin" in {line.split()[0] for line in listed}
    assert max(map(len, listed)) <= 80


@pytest.mark.parametrize("gateway", [(), ("--gateway", "http://127.0.0.1:1")])
def test_the_list_is_json_where_that_is_wanted(capsys, gateway):
    arguments = ["check", "full", "--list", *gateway]
    assert status_of(arguments) == 0
    shown = capsys.readouterr().out.splitlines()
    assert status_of([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["suite"] == ("gateway" if gateway else "full")
    cases = document["cases"]
    assert [(case["case"], case["suite"]) for case in cases] == [tuple(line.split()[:2]) for line in shown]
    assert all(set(case) == {"case", "suite", "title", "theme", "kinds"} and case["title"] for case in cases)


def test_options_behind_the_dashes_are_the_command_s(capsys):
    assert (
        status_of(["check", "--only", "whole", "--json", "--", sys.executable, "-c", "print('--json --only x')"]) == 1
    )
    assert json.loads(capsys.readouterr().out)["cases"][0]["verdict"] == "corrupted"
