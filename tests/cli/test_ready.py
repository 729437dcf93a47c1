"""The ready file tells of a proxy that accepts, and of no other."""

import json

import pytest

from chaosproxy.cli.main import status_of
from chaosproxy.cli.ready import ready_file

STALE = json.dumps({"url": "http://127.0.0.1:1", "urls": ["http://127.0.0.1:1"], "admin": None, "pid": 1, "ca": None})
OTHERS = ["", "notes\n", "[]", '{"url": "http://x"}', "[" * 100_000]


def start(file):
    """As far as a port that nobody can listen on."""
    return status_of(
        ["run", "--quiet", "--upstream", "http://127.0.0.1:1", "--listen", "192.0.2.1:1", "--ready-file", str(file)]
    )


def test_what_a_killed_process_has_left_is_gone_before_anything_listens(tmp_path):
    file = tmp_path / "ready.json"
    file.write_text(STALE)
    assert start(file) == 3
    assert not file.exists()


@pytest.mark.parametrize("content", OTHERS, ids=range(len(OTHERS)))
def test_a_file_of_somebody_else_s_stays_where_nothing_listens(tmp_path, content):
    file = tmp_path / "ready.json"
    file.write_text(content)
    assert start(file) == 3
    assert file.read_text() == content


def test_at_the_end_our_own_is_removed_and_another_s_is_not(tmp_path):
    file = tmp_path / "ready.json"
    with ready_file(file, ["http://x"]) as announce:
        announce()
        assert file.exists()
    assert not file.exists()
    with ready_file(file, ["http://x"]) as announce:
        announce()
        file.write_text(STALE)
    assert file.read_text() == STALE
