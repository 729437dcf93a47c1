"""Whatever a peer, a file or an argument says, the lines of every command are lines: none more, none that moves a cursor,
fills a clipboard, turns the writing round or gives an order to who runs a build."""

import io
import logging
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from chaosproxy.check import shown as table
from chaosproxy.cli.logs import Plain
from chaosproxy.cli.main import status_of
from chaosproxy.diagnose.plain import plain
from chaosproxy.errors import FaultBug, Problem, ScenarioError, UsageError
from chaosproxy.journal.jsonl import as_line, line
from chaosproxy.judging.check import Finding, Verdict
from chaosproxy.model.shown import message
from chaosproxy.report.line import exchange_line
from chaosproxy.report.text import plain as uncoloured
from chaosproxy.report.timeline import timeline
from chaosproxy.scenario.load import load
from tests.report.examples import cut
from tests.report.test_hostile import HOSTILE, filled
from tests.security.hostile import card, diagnosis, drawn, orders

FILES = [text for text in HOSTILE if len(text) < 60 and not set(text) & set("/\0\ud800")] + [
    "\x1b[2J\x9b31m\x7f",
    "\u202eevil\u2066",
]
"""What a file may be called."""


def logged(text):
    """A line and a traceback."""
    with pytest.raises(FaultBug) as raised:
        raise FaultBug(0, text, None, text)
    told = (raised.type, raised.value, raised.tb)
    return Plain("chaosproxy: %(message)s").format(
        logging.LogRecord("chaosproxy", logging.ERROR, "x", 1, "client: %s", (text,), told)
    )


def watched(text):
    problems = [Problem(text, text, 1, 1, text), Problem(text, path=text)]
    return message(f"chaosproxy: the scenario stays as it was:\n{ScenarioError(problems)}")


SHOWN = {
    "the line of an exchange": lambda text: exchange_line(filled(cut(), text)),
    "a journal's line": lambda text: line(filled(cut(), text)),
    "a timeline": lambda text: timeline([filled(cut(), text)]),
    "a verdict": lambda text: str(Verdict("ended", text, (Finding((1,), False, text),), text)),
    "a card": lambda text: "".join(table.painted(card(text), uncoloured)),
    "a card's JSON": lambda text: as_line(card(text).as_json()),
    "a diagnosis": lambda text: drawn(diagnosis(text)),
    "a diagnosis's JSON": lambda text: as_line(plain(diagnosis(text))),
    "a problem of a scenario": watched,
    "the log": logged,
}
ONE_LINE = {"a verdict", "the line of an exchange", "a journal's line", "a card's JSON", "a diagnosis's JSON"}
SO_MANY = {"a timeline", "a problem of a scenario"}
"""As many lines as of a plain word."""
LONGEST = {"a card": 80, "a timeline": 5000, "the line of an exchange": 5000, "a problem of a scenario": 2100}


def test_lines(shown):
    wrong, tried = [], 0
    for place, show in SHOWN.items():
        lines = len(show("benign").split("\n"))
        for number, text in enumerate(HOSTILE):
            said = show(text)
            tried += 1
            wrong += [f"{place} {number}: {order}" for order in orders(said)]
            if place in ONE_LINE and "\n" in said:
                wrong.append(f"{place} {number}: more than one line")
            if place in SO_MANY and len(said.split("\n")) != lines:
                wrong.append(f"{place} {number}: {len(said.split(chr(10)))} lines, not {lines}")
            wrong += [
                f"{place} {number}: a line of {len(one)}"
                for one in said.split("\n")
                if len(one) > LONGEST.get(place, 1_000_000_000)
            ]
    shown(
        "secrets",
        "hostile text in the lines of `run`, `check`, `diagnose`, `lint`, `--watch`, the log, and in JSON",
        tried=tried,
        must="text alone: escaped, one line, bounded",
        happens="text alone" if not wrong else f"{len(wrong)} that do something",
    )
    assert wrong == []


def test_names_of_files(tmp_path, monkeypatch, capsys, shown):
    """What is called so says so, in `lint`, `run`, `report` and the reload of `--watch`, and so does a line in it."""
    monkeypatch.chdir(tmp_path)
    wrong = []
    for name in FILES:
        file = Path(f"{name}.yaml")
        file.write_text("version: 1\n::error::x: 1\n'##[error]x': {}\n", "utf-8")
        for words in (["lint"], ["run", "--upstream", "http://127.0.0.1:1"], ["report"], ["demo"]):
            assert status_of([*words, f"./{name}.yaml"]) in {1, 2}
            said = capsys.readouterr()
            wrong += [f"{words[0]} {name!a}: {order}" for order in orders(said.out + said.err)]
        file.write_text(f"version: 1\n{name}\n: {name}\n", "utf-8")
        with pytest.raises(ScenarioError) as error:
            load(file)
        wrong += [f"{name!a}: {order}" for order in orders(str(error.value))]
    shown(
        "secrets",
        "files with hostile names and lines, given to `lint`, `run`, `report`, `demo`",
        tried=len(FILES),
        must="what is said of them does nothing",
        happens="does nothing" if not wrong else f"{len(wrong)} that do something",
    )
    assert wrong == []


@pytest.mark.parametrize("place", ["option", "command", "argument", "value"])
def test_what_is_wrong_with_the_command_line(place, capsys):
    for text in HOSTILE:
        words = {
            "option": ["lint", f"--{text}"],
            "command": [text],
            "argument": ["healthcheck", "x", text],
            "value": ["report", "x", "--format", text],
        }[place]
        if not text.startswith("-"):
            assert status_of(words) in {1, 2}
            said = capsys.readouterr()
            assert orders(said.out + said.err) == [], words


def test_a_demonstration_of_a_hostile_scenario(tmp_path, capsys):
    about = " ".join(["::error::a", *["word"] * 19] * 3)
    file = tmp_path / "x.yaml"
    file.write_text(
        f"version: 1\nname: '::error::a ##[error]b<script>c</script>'\nabout: '{about}'\nfaults: [latency: 20ms]\n"
    )
    assert status_of(["demo", str(file), "--speed", "20", "--svg", str(tmp_path / "x.svg")]) == 0
    said = capsys.readouterr().out
    assert orders(said) == []
    assert ":\\x3aerror::a \\x23#[error]b" in said
    tags = {node.tag.rpartition("}")[2] for node in ET.parse(tmp_path / "x.svg").iter()}
    assert tags == {"svg", "style", "defs", "clipPath", "rect", "g", "text", "circle"}


@pytest.mark.parametrize("kind", [UsageError, ValueError])
def test_an_error_is_one_line(kind, monkeypatch, capsys):
    from chaosproxy.cli import main  # noqa: PLC0415 - to be replaced in

    for text in HOSTILE:

        def fails(text=text, **_):
            raise kind(text)

        monkeypatch.setattr(main.program, "main", fails)
        assert main.status_of([]) in {2, 3}
        said = capsys.readouterr().err
        assert orders(said) == []
        assert said.count("\n") == 1


def test_the_log_goes_to_stderr_and_keeps_its_lines():
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(Plain("chaosproxy: %(message)s"))
    handler.handle(logging.LogRecord("x", logging.ERROR, "x", 1, "client %s", ("a\r\n::error::b\x1b[2J",), None))
    assert out.getvalue() == "chaosproxy: client a\\x0d\\x0a::error::b\\x1b[2J\n"
