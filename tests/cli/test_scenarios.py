"""`scenarios`: the list by theme, the list for machines, and the text of one."""

import json
from pathlib import Path

import pytest

from chaosproxy.cli.main import status_of
from chaosproxy.scenario import library
from chaosproxy.scenario.load import load


@pytest.fixture
def said(capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        status = status_of(["scenarios", *arguments])
        return status, *capsys.readouterr()

    return run


def test_every_one_stands_under_its_theme_with_what_it_is_about(said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "72")
    status, out, err = said()
    assert (status, err) == (0, "")
    lines = out.splitlines()
    for name, path in library.shipped().items():
        (at,) = [number for number, line in enumerate(lines) if line.startswith(f"  {name} ")]
        theme = next(line for line in reversed(lines[:at]) if line and not line.startswith(" "))
        assert theme == library.theme(path)
        about = " ".join(load(path, env={}).about.split())
        assert about.startswith(lines[at].removeprefix(f"  {name}").strip())
    themes = [line for line in lines[:-1] if line and not line.startswith(" ")]
    assert len(themes) == len(set(themes)), "a theme stands once, with all of its own"
    assert max(map(len, lines[:-1])) <= 72


def test_a_theme_lists_its_own(said):
    status, out, _ = said("truncation")
    assert status == 0
    assert "\n  reset " in out
    assert "buffer-4k" not in out
    assert {one["theme"] for one in json.loads(said("truncation", "--json")[1])} == {"truncation"}


def test_for_machines_it_is_a_list_of_four_fields(said):
    status, out, err = said("--json")
    assert (status, err) == (0, "")
    listed = json.loads(out)
    assert [one["name"] for one in listed] == list(library.shipped())
    assert all(set(one) == {"name", "theme", "about", "file"} for one in listed)
    assert all(one["theme"] and one["about"] and Path(one["file"]).is_file() for one in listed)
    assert next(one for one in listed if one["name"] == "buffer-4k")["theme"] == "buffering"


def test_one_is_its_file_comments_included(said):
    status, out, err = said("buffer-4k")
    assert (status, err) == (0, "")
    assert out == library.find("buffer-4k").read_text()
    assert out.startswith("#")


def test_one_for_machines(said):
    assert [one["name"] for one in json.loads(said("idle-drop", "--json")[1])] == ["idle-drop"]


@pytest.mark.parametrize("name", ["bufer-4k", "../buffering/buffer-4k", "buffering/buffer-4k", ""])
def test_any_other_name_is_wrong_usage_and_gets_the_nearest(said, name):
    status, out, err = said(name)
    assert (status, out) == (2, "")
    assert repr(name) in err
    if name == "bufer-4k":
        assert "did you mean 'buffer-4k'?" in err


def test_a_variable_of_the_environment_cannot_hide_the_list(said, monkeypatch):
    for name in ("CHAOS_BYTES", "CHAOS_IDLE", "CHAOS_EVENT"):
        monkeypatch.setenv(name, "nonsense")
    status, out, _ = said()
    assert status == 0
    assert "\n  buffer-4k " in out
