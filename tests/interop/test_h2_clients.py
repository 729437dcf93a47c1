"""The page of what HTTP/2 and gRPC clients report is true: all of them are asked again.

Where a client has another version than the page names, only whether its answer is whole, an error or a wait is compared;
where a row is fickle, only whether it is whole. What differs is asked again: a client that is told two things at once may
meet either first, and what is not as on the page three times is not so.
"""

import re

import pytest

from chaosproxy.chain.fault import REGISTRY
from docs.generate import FAULTS
from tests.interop.asked import WAITS, WHOLE
from tests.interop.conftest import find
from tests.interop.h2_page import COMMAND, read, versions
from tests.interop.h2_table import CLIENTS, ROWS, asks, reports


@pytest.fixture(autouse=True)
def installed():
    for name in ("curl", "nghttp", "node"):
        find(name)


def kind(words: str) -> str:
    return words if words in (WHOLE, WAITS) or words.startswith("**") else "an error"


def test_every_fault_of_these_groups_is_asked_about():
    grouped = {
        path.stem
        for path in FAULTS.glob("*.md")
        if re.search(r"<!-- group: (http2|grpc|connection) -->", path.read_text(encoding="utf-8"))
    }
    below = {spec.name for spec in REGISTRY.values() if spec.on_connections or spec.on_sessions}
    assert (grouped | below) - {row.fault.partition(":")[0] for row in ROWS} == set()


@pytest.mark.timeout(240)
async def test_what_each_client_reports_of_each_fault(tmp_path):
    shown, made_with = read()
    assert set(shown) == {(row.fault, client) for row in ROWS for client in CLIENTS if asks(client, row)}, COMMAND
    here = versions()
    waiting = {key for key, words in shown.items() if words == WAITS}
    found = await reports(tmp_path, waiting=waiting)
    fickle = {row.fault for row in ROWS if row.fickle}

    def same(fault: str, client: str) -> bool:
        one, other = shown[fault, client], found[fault, client]
        if fault in fickle:
            return (one == WHOLE) is (other == WHOLE)
        return one == other if made_with[client] == here[client] else kind(one) == kind(other)

    def differing() -> dict[tuple[str, str], tuple[str, str]]:
        return {key: (shown[key], found[key]) for key in shown if not same(*key)}

    for _ in range(2):
        doubted = {fault for fault, _ in differing()}
        if doubted:
            found |= await reports(tmp_path, [row for row in ROWS if row.fault in doubted], waiting)
    assert differing() == {}, f"as on the page, and as found; {COMMAND} writes it anew"
