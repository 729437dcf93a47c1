"""Real machines that break a stream, or do not, are told apart by their URLs alone; the page has all that were tried."""

import os

import pytest
import trio

from chaosproxy.diagnose.causes import Cause
from chaosproxy.diagnose.plain import plain
from tests.diagnose.blind import CASES, COMPRESSION, KEEP, PAGE, Case, Outcome, diagnosed, everything

PROGRAMS = ("", "nginx-1.22", "haproxy-2.6", "lighttpd-1.4")
"""Those that are up at once; `python -m tests.diagnose.blind` takes all."""
LEFT_OUT = {COMPRESSION, "proxy_buffer_size 8k;\nproxy_buffers 8 8k;", "passes", "gzip", KEEP}
TRIED = [
    case
    for case in CASES
    if case.program in PROGRAMS
    and case.setting not in LEFT_OUT
    and not (case.h2 or case.alone or case.path == "/file")
    and not (not case.program and case.path == "/sse" and case.right is not None)
    and not (case.stranger and case.program != "nginx-1.22")
    and (case.right is not None or case.setting in {"plain", "option http-no-delay", "proxy_buffering off;"})
]
"""Every kind of cause, and enough machines with none."""


AGAIN = 4
"""How often one that is wrong is asked once more, before that is believed of it and not of a busy machine."""


@pytest.fixture(scope="module")
def outcomes() -> dict[Case, Outcome | str]:
    """What was said of each; of those whose program is not there, what would bring it. Who is wrong is asked again: it
    may have been the machine."""
    with everything(TRIED) as (urls, missing):
        said = {outcome.case: outcome for outcome in trio.run(diagnosed, urls, 1, 10)}
        for _ in range(AGAIN):
            again = {case: urls[case] for case, outcome in said.items() if not outcome.right}
            said |= {outcome.case: outcome for outcome in trio.run(diagnosed, again, 3, 2)}
    return {case: said.get(case) or missing[case.program] for case in TRIED}


@pytest.mark.parametrize("case", TRIED, ids=lambda case: f"{case.machine}: {case.settings}"[:70])
def test_the_right_hop_and_the_right_cause(case, outcomes):
    outcome = outcomes[case]
    if isinstance(outcome, str):
        if os.environ.get("CHAOSPROXY_PEERS") == "required":
            pytest.fail(outcome)
        pytest.skip(outcome)
    assert (outcome.hop, outcome.said) == (case.hop, case.right), plain(outcome.report)


def test_each_cause_of_real_machines_is_among_them():
    assert {case.right for case in TRIED} >= {
        None,
        Cause.BUFFER,
        Cause.WHOLE,
        Cause.COMPRESSION,
        Cause.CORK,
        Cause.BEHIND,
    }


def test_the_page_has_every_case_and_its_count():
    page = PAGE.read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.endswith(("| yes |", "| **no** |"))]
    assert [row.split(" | ")[:2] for row in rows] == [[f"| {case.machine}", case.settings] for case in CASES]
    right = sum(row.endswith("| yes |") for row in rows)
    assert f"{right} of {len(CASES)} named the right hop, the right cause" in page
    assert right >= 0.8 * len(rows)
