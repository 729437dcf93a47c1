"""Real proxies beside their presets: what a client could tell apart, it must be known to tell apart.

Everything is asked in one Trio run before the first test; what keeps the machine busy over HTTP/1.1 alone, and over both
by `make differential`.
"""

import pytest
import trio

from tests.differential.compare import Comparison
from tests.differential.known import known
from tests.differential.launch import MissingError, find
from tests.differential.page import PAGE, rows_on
from tests.differential.programs import PROGRAMS
from tests.differential.rules import BUSY
from tests.differential.settings import PEERS
from tests.interop.conftest import missing

pytestmark = pytest.mark.timeout(600)


def _missing(name):
    try:
        find(PROGRAMS[name])
    except MissingError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def absent():
    """Why a program cannot be compared."""
    return {name: reason for name in PEERS if (reason := _missing(name))}


@pytest.fixture(scope="module")
def results(absent, tmp_path_factory):
    place = tmp_path_factory.mktemp("programs")
    for above in (place, *place.parents[:2]):
        above.chmod(0o755)  # some programs give up their rights
    peers = [peer for name, peer in PEERS.items() if name not in absent]
    rows = [row for peer in peers for row in peer.rows() if row.protocol == "h1" or row.rule not in BUSY]
    comparison = Comparison(peers, rows, known(), place)
    trio.run(comparison.run)
    return comparison.results


@pytest.mark.parametrize("name", PEERS)
def test_a_preset_is_like_the_real_program_but_for_what_is_known(name, absent, results):
    if name in absent:
        missing(absent[name])
    rows = {str(row): result for row, result in results.items() if row.program == name}
    apart = {row: f"real: {one.real}; preset: {one.preset}" for row, one in rows.items() if not one.agrees}
    assert {row: seen for row, seen in apart.items() if row not in known()} == {}
    assert [row for row in rows if row in known() and row not in apart] == [], "no more: take it from the file"


def test_what_is_known_to_disagree_is_asked():
    assert known().keys() <= {str(row) for peer in PEERS.values() for row in peer.rows()}


def test_the_page_has_every_row_and_the_known_disagreements():
    rows = rows_on(PAGE.read_text(encoding="utf-8"))
    assert list(rows) == [str(row) for peer in PEERS.values() for row in peer.rows()], "make differential"
    assert {row for row, agrees in rows.items() if not agrees} == set(known()), "make differential"
