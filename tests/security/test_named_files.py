"""Files that an option names: a name leads nowhere else, what is no file is refused at once, and what is written is
whole, its own, and no link's."""

import os
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from chaosproxy import files
from chaosproxy.check import baseline
from chaosproxy.check.card import Card
from chaosproxy.cli.main import status_of
from chaosproxy.cli.ready import check, ready_file
from chaosproxy.cli.saving import save
from chaosproxy.errors import UnavailableError, UsageError
from chaosproxy.journal.jsonl import JournalFile
from chaosproxy.scenario import library
from chaosproxy.scenario.load import examine
from chaosproxy.wire.tls import client_context, server_context

RUN = ("run", "--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--wait-upstream", "0s")
GIB = 2**30
NAMES = [
    "../../etc/passwd", "/etc/passwd", "..", ".", "./..", "/", "a%2fb", "%2e%2e%2fetc%2fpasswd", "..%2f", "..\\..\\etc", "C:", "C:\\a", "//host/a",
    "theme/../../a", "classics/../../pyproject.toml", "file:///etc/passwd", "http://127.0.0.1/a", "~", "~root/x", "-", "", " ", "a\nb", "A", "a b",
    "\x1b[2J", "\u202eevil", "a" * 300, "a/" * 3000, "../" * 500 + "etc/passwd", "buffer-4k\0", "/proc/self/environ", "/dev/stdin/x",
]  # fmt: skip
"""What is no name of a shipped scenario, and no scenario either."""


def test_a_name_leads_nowhere_else(capsys, tmp_path, monkeypatch, shown):
    monkeypatch.chdir(tmp_path)
    shipped = set(library.shipped().values())
    statuses = set()
    for name in NAMES:
        read, problems = examine(name)
        assert read is None, name
        assert problems
        if "\0" not in name:
            statuses |= {status_of([*command, "--", name]) for command in (RUN, ("lint",), ("scenarios",))}
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        try:
            found = library.find(name)
        except (LookupError, OSError):
            continue
        assert found not in shipped
        assert found == Path(name)
    shown(
        "files",
        "names of scenarios: up, absolute, coded, of devices, with controls",
        tried=len(NAMES),
        must="status 1 or 2, nothing of the library is meant by it",
        happens=f"status {' or '.join(map(str, sorted(statuses)))}",
    )


def test_links_out_of_the_library_are_not_followed(tmp_path, monkeypatch):
    outside, inside = tmp_path / "outside", tmp_path / "library"
    outside.mkdir()
    (inside / "theme").mkdir(parents=True)
    (outside / "secret.yaml").write_text("version: 1\n")
    (inside / "theme" / "good.yaml").write_text("version: 1\n")
    (inside / "theme" / "secret.yaml").symlink_to(outside / "secret.yaml")
    (inside / "linked").symlink_to(outside, target_is_directory=True)
    monkeypatch.setattr(library, "_PLACES", (inside,))
    assert set(library.shipped()) == {"good"}


@pytest.fixture
def odd(tmp_path):
    """What is no file to read, and one that is far too large."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").touch()
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(10 * GIB)
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "around").symlink_to("around")
    (tmp_path / "locked").touch(mode=0)
    names = [
        "pipe",
        "folder",
        "sparse",
        "gone",
        "around",
        "absent",
        "folder/a/b",
        *(["locked"] if os.geteuid() else []),
    ]
    return [
        *(tmp_path / name for name in names),
        Path("/dev/zero"),
        Path("/dev/null"),
        Path("/dev/tty"),
        Path("/proc/self/mem"),
    ]


READERS = {
    "a scenario": lambda file: status_of(["lint", "--", str(file)]),
    "check --baseline": baseline.read,
    "--tls": lambda file: server_context(f"{file}:{file}", [], None),
    "--upstream-ca": lambda file: client_context(file, ["h2"], insecure=False),
    "diagnose -d @": lambda file: status_of(["diagnose", "-d", f"@{file}", "http://127.0.0.1:9"]),
}


@pytest.mark.timeout(60)
def test_what_is_no_file_is_refused_at_once(odd, capsys, shown):
    statuses = set()
    for name, read in READERS.items():
        for file in odd:
            if name == "diagnose -d @" and file.name in {"pipe", "null", "tty"}:
                continue  # of these one may want to read
            try:
                status = read(file)
            except UsageError as error:
                status, said = 2, str(error)
            else:
                said = str(file)
            assert str(file) in said
            assert status in {1, 2}, (name, file)
            statuses.add(status)
            assert "internal error" not in capsys.readouterr().err
    shown(
        "files",
        f"a pipe, a directory, devices, 10 GB, links to nowhere and around, as {', '.join(READERS)}",
        tried=len(odd) * len(READERS),
        must="refused at once with a line that names it",
        happens=f"status {' or '.join(map(str, sorted(statuses)))}",
    )


def test_a_journal_that_is_no_file(odd, tmp_path, capsys):
    """A pipe may be one: whoever names it has somebody write to it."""
    for file in odd:
        if file.name in {"pipe", "sparse", "tty", "mem"}:
            continue
        assert status_of(["report", str(file)]) == 2
        assert "Traceback" not in capsys.readouterr().err
    with (tmp_path / "nothing").open("wb") as sparse:
        sparse.truncate(GIB // 8)
    assert status_of(["report", str(tmp_path / "nothing")]) == 2


def test_a_pipe_without_end_is_no_journal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("chaosproxy.cli.report.MOST_PIPED", 2**20)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", 'exec cat /dev/zero >"$0"', str(pipe)], stderr=subprocess.DEVNULL) as endless:
        assert status_of(["report", str(pipe)]) == 2
    assert endless.returncode
    assert "in a pipe; name the file itself" in capsys.readouterr().err


# ---- what is written


def report(file: Path) -> None:
    with tempfile.NamedTemporaryFile() as journal:
        if status_of(["report", journal.name, "--format", "text", "-o", str(file)]):
            raise UsageError(file)


def ready(file: Path) -> None:
    check(file)
    with ready_file(file, ["http://x"]) as announce:
        announce()
        assert file.read_text().startswith("{")
        raise FileExistsError  # written, and gone at the end


WRITERS = {
    "--journal": lambda file: JournalFile(file, print).close(),
    "--ready-file": ready,
    "report -o": report,
    "check --baseline": lambda file: baseline.write(file, Card("quick", ())),
    "check --html": lambda file: save(file, ["<html>"]),
    "--ca-out": lambda file: server_context("auto", ["127.0.0.1"], file),
}


def written(write, file: Path) -> str:
    try:
        write(file)
    except FileExistsError:
        pass
    except (UsageError, UnavailableError):
        return "refused"
    return "written"


def test_no_link_is_written_through(tmp_path, capsys, shown):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    outcomes, tried = set(), 0
    for name, write in WRITERS.items():
        for aim in (precious, tmp_path / "nothing yet"):
            # A link in its place, and one in the place where it is made.
            file, part = tmp_path / "out.txt", tmp_path / "out.txt.part"
            file.symlink_to(aim)
            outcome = written(write, file)
            assert outcome == ("written" if name == "--ca-out" else "refused"), name
            assert file.is_symlink() == (outcome == "refused")
            outcomes.add("the link is refused" if outcome == "refused" else "--ca-out replaces it by a file of its own")
            file.unlink()
            part.symlink_to(aim)
            assert written(write, file) == "written", name
            assert not file.is_symlink()
            file.unlink(missing_ok=True)
            part.unlink(missing_ok=True)
            assert precious.read_text() == "mine"
            assert not (tmp_path / "nothing yet").exists()
            tried += 2
    shown(
        "files",
        f"links planted in the way of what is written: {', '.join(WRITERS)}",
        tried=tried,
        must="what a link leads to stays as it was",
        happens="; ".join(sorted(outcomes)),
    )


def test_its_directory_must_be_there(tmp_path, capsys, shown):
    tried = 0
    for name, write in WRITERS.items():
        for file in (tmp_path / "none" / "out.txt", tmp_path / ("a" * 300), tmp_path):
            assert written(write, file) == "refused", (name, file)
            assert [*tmp_path.iterdir()] == []
            tried += 1
    shown(
        "files",
        f"a directory that is not there, a name too long, a directory in its place: {', '.join(WRITERS)}",
        tried=tried,
        must="refused, and nothing is left",
        happens="refused, and nothing is left",
    )


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_has_the_mode_that_is_right_for_it(name, tmp_path, capsys, monkeypatch):
    before = os.umask(0o022)
    try:
        file, made = tmp_path / "out.txt", []
        monkeypatch.setattr(Path, "unlink", lambda self, **_: made.append(self))
        written(WRITERS[name], file)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == (0o600 if name == "--journal" else 0o644)


def test_a_file_is_whole_or_as_it_was(tmp_path):
    file = tmp_path / "report.html"
    file.write_text("before")

    def pieces():
        yield "half"
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError):
        files.write(file, pieces())
    assert file.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_killed_process_s_remains_stand_in_nobody_s_way(tmp_path):
    (tmp_path / "a.txt.part").write_text("half")
    files.write(tmp_path / "a.txt", ["whole"])
    assert (tmp_path / "a.txt").read_text() == "whole"


def test_two_that_write_the_same_file_write_it_whole_each(tmp_path, shown):
    file, seen = tmp_path / ("r" * 250 + ".html"), []

    def pieces():
        yield "the first "
        files.write(file, ["the second"])
        seen.append(file.read_text())
        yield "is whole"

    files.write(file, pieces())
    seen.append(file.read_text())
    assert seen == ["the second", "the first is whole"]
    assert [*tmp_path.iterdir()] == [file]
    shown(
        "files",
        "two runs that write the same report at the same time",
        tried=2,
        must="the file is the one or the other, whole; nothing is left beside it",
        happens=", then ".join(seen),
    )
