"""`chaosproxy report`: from a journal to a picture; `run --report`: the same with the verdicts of the run."""

import json
import os
import pty
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chaosproxy.cli import report as module
from chaosproxy.cli.main import status_of
from chaosproxy.journal.jsonl import line
from chaosproxy.journal.reader import record_of
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.report.pages import write
from chaosproxy.report.text import WIDTH
from tests.cli.test_run import refused, run, streaming, upstream
from tests.report.examples import cut, examples, left, plain

__all__ = ["refused", "run", "streaming", "upstream"]


def until(condition):
    """Another process writes: it rings no bell."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


ESCAPE = "\x1b["


def written() -> list[ExchangeRecord]:
    """The examples, with times as exact as a journal has them."""
    return [record_of(line(record).encode()) for record in examples()]


@pytest.fixture
def journal(tmp_path) -> Path:
    file = tmp_path / "journal.jsonl"
    file.write_text("".join(line(record) + "\n" for record in examples()), encoding="ascii")
    return file


@pytest.fixture
def said(capsys):
    def ask(*arguments: object) -> tuple[int, str, str]:
        status = status_of(["report", *map(str, arguments)])
        return status, *capsys.readouterr()

    return ask


@pytest.mark.parametrize("form", ["html", "text", "junit", "markdown"])
def test_each_format_is_what_python_makes_of_the_records(said, journal, form):
    expected = write(written(), (), form, title="journal.jsonl")
    assert said(journal, "--format", form) == (0, expected, "")


def test_without_a_format_it_is_text_and_nothing_is_judged(said, journal):
    status, out, err = said(journal)
    assert (status, err) == (0, "")
    assert out.startswith("chaosproxy report, journal.jsonl: 6 exchanges\n")
    assert "  rst by proxy (cut), 150 ms\n" in out
    assert "expectation" not in out


@pytest.mark.parametrize(
    ("name", "begins"), [("a.html", "<!DOCTYPE"), ("a.xml", "<?xml"), ("a.md", "## "), ("a", "chaos")]
)
def test_a_file_s_name_asks_for_its_format(said, journal, tmp_path, name, begins):
    assert said(journal, "-o", tmp_path / name) == (0, "", "")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)
    assert {path.name for path in tmp_path.iterdir()} == {"journal.jsonl", name}


def test_what_the_option_says_wins_over_the_name(said, journal, tmp_path):
    said(journal, "-o", tmp_path / "a.html", "--format", "markdown")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("## ")


def test_lines_that_cannot_be_read_are_said_and_the_rest_is_shown(said, tmp_path):
    file = tmp_path / "cut.jsonl"
    file.write_text(f"{line(plain(1))}\n{line(cut(2))[:100]}\n{line(left(3))}\n{line(plain(4))[:-1]}")
    status, out, err = said(file)
    assert status == 0
    assert [row.split()[0] for row in out.splitlines() if row.startswith("#")] == ["#1", "#3"]
    assert err == f"{file}:2: no JSON, or cut off\n{file}:4: no JSON, or cut off\n"


def test_of_many_such_lines_the_first_are_said_and_all_are_counted(said, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "TOLD", 2)
    file = tmp_path / "cut.jsonl"
    file.write_text(f"{line(plain(1))}\n" + "x\n" * 5)
    assert said(file)[2].splitlines() == [
        f"{file}:2: no JSON, or cut off",
        f"{file}:3: no JSON, or cut off",
        f"{file}: and 3 further lines",
    ]


def test_an_empty_journal_has_an_empty_report(said, tmp_path):
    (tmp_path / "empty").touch()
    assert said(tmp_path / "empty") == (0, "chaosproxy report, empty: 0 exchanges\n", "")


def test_what_is_no_journal_is_wrong_usage(said, tmp_path):
    (tmp_path / "a.yaml").write_text("version: 1\n")
    status, out, err = said(tmp_path / "a.yaml", "-o", tmp_path / "a.html")
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].endswith("a.yaml is no journal: not one line of it is an exchange")
    assert not (tmp_path / "a.html").exists()
    status, _, err = said(tmp_path / "none")
    assert (status, "cannot read the journal" in err) == (2, True)
    assert said(tmp_path)[0] == 2


def test_a_report_does_not_overwrite_its_journal(said, journal):
    before = journal.read_bytes()
    status, _, err = said(journal, "-o", journal)
    assert (status, "would overwrite" in err) == (2, True)
    assert journal.read_bytes() == before


def test_a_report_that_cannot_be_written_says_so(said, journal, tmp_path):
    status, _, err = said(journal, "-o", tmp_path / "none" / "a.html")
    assert (status, "cannot write the report" in err) == (3, True)


def test_what_is_no_plain_file_stays_what_it_is(said, journal, tmp_path):
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text, encoding="utf-8")
        assert said(journal, "-o", pipe)[0] == 0
        assert read.result(timeout=20).startswith("## ")
    assert pipe.is_fifo()


def test_a_pipe_is_read_as_a_file_is(journal):
    command = [sys.executable, "-m", "chaosproxy", "report", "-", "--format", "markdown"]
    with journal.open("rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as pipe:
        done = subprocess.run(command, stdin=pipe.stdout, capture_output=True, check=True, timeout=60)
    assert done.stdout.decode() == write(written(), (), "markdown", title="stdin")


def on_a_terminal(journal, **env) -> str:
    """What a terminal is sent."""
    ours, theirs = pty.openpty()
    surroundings = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "TERM"}}
    command = [sys.executable, "-m", "chaosproxy", "report", str(journal)]
    with subprocess.Popen(command, stdout=theirs, env={**surroundings, "TERM": "xterm", **env}) as process:
        os.close(theirs)
        told = b""
        try:
            while part := os.read(ours, 65536):
                told += part
        except OSError:  # which is how Linux says that nobody writes any more
            pass
        finally:
            os.close(ours)
    assert process.returncode == 0
    return told.decode().replace("\r\n", "\n")


def test_a_terminal_has_colours_that_say_what_the_words_say(journal):
    told = on_a_terminal(journal)
    assert "  \x1b[31m\x1b[1mrst by proxy (cut), 150 ms\x1b[0m\n" in told
    assert "  \x1b[32mclean by upstream, 230 ms\x1b[0m\n" in told


def test_a_terminal_without_colours_or_letters_has_neither(journal):
    told = on_a_terminal(journal, NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert ESCAPE not in told
    assert told.isascii()
    assert max(map(len, told.splitlines())) <= WIDTH
    assert "  deliveries ..............#....#" in told
    assert ESCAPE not in on_a_terminal(journal, TERM="dumb")


def test_a_run_writes_its_exchanges_with_their_verdicts(run, upstream, tmp_path):
    file = tmp_path / "strict.yaml"
    file.write_text(
        'version: 1\nname: strict\nexpect:\n- ended: {how: clean}\n- header: {name: content-length, value: "3"}\n'
    )
    reports = [tmp_path / name for name in ("r.html", "r.xml", "r.md", "r.txt")]
    env = {"CHAOSPROXY_REPORT": " ".join(map(str, reports))}
    proxy = run(str(file), "--assert", "--upstream", upstream.url, env=env)
    proxy.get("/a")
    assert proxy.stop()[0] == 1
    page, document, summary, text = (report.read_text(encoding="utf-8") for report in reports)
    assert "<h1>chaosproxy report, strict</h1><p>1 of 2 expectations failed, 1 exchange</p>" in page
    assert '<testsuite name="strict" tests="2" failures="1" errors="0"' in document
    assert summary.startswith("## chaosproxy `strict`: 1 of 2 expectations failed, 1 exchange\n")
    assert "FAILED  header: expected content-length: 3 in the response" in text


def test_a_report_of_a_run_that_cannot_be_is_refused_before_it_begins(refused, tmp_path):
    status, err = refused("--report", "a.pdf", "--upstream", "http://127.0.0.1:1")
    assert status == 2
    assert err == "chaosproxy: --report a.pdf: its name must end in one of .html, .htm, .txt, .xml, .md\n"
    status, err = refused("--report", str(tmp_path / "none" / "a.html"), "--upstream", "http://127.0.0.1:1")
    assert (status, "cannot write the report" in err) == (2, True)


def test_a_journal_that_is_still_written_is_drawn(run, upstream, said):
    proxy = run("--upstream", upstream.url)
    proxy.get("/a")
    proxy.get("/b")
    until(lambda: len(proxy.records()) == 2)
    out = said(proxy.journal)[1]
    assert [json.loads(one)["id"] for one in proxy.journal.read_text().splitlines()] == [1, 2]
    assert "GET /a" in out
    assert "GET /b" in out
