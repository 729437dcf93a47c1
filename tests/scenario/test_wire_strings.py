"""No string of a scenario breaks what goes over the wire; only faults whose business that is may."""

import pytest

from chaosproxy.scenario.load import examine

EVIL = ["a\r\nset-cookie: b", "a\nb", "a\0b", "\r"]


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize(
    "scenario",
    [
        {"faults": [{"respond": {"status": 503, "retry_after": "${EVIL}"}}]},
        {"faults": [{"respond": {"status": 503, "headers": {"x": "${EVIL}"}}}]},
        {"faults": [{"respond": {"status": "${EVIL}"}}]},
        {"faults": [{"cut": {"at": "headers", "then": {"status": 503, "headers": {"x": ["fine", "${EVIL}"]}}}}]},
        {"faults": [{"timeout": {"idle": "1s", "then": [{"status": 503, "headers": {"x": "${EVIL}"}}]}}]},
        {"upstream": {"host": "${EVIL}"}},
        {"faults": [], "mount": "/${EVIL}"},
        {"name": "${EVIL}"},
        {"hops": [{"name": "${EVIL}", "faults": []}]},
    ],
    ids=[
        "retry_after",
        "respond headers",
        "respond status",
        "ending headers",
        "timeout ending",
        "host",
        "mount",
        "name",
        "hop name",
    ],
)
def test_a_string_that_would_break_the_wire_is_refused(scenario, text):
    refused, problems = examine({"version": 1, **scenario}, env={"EVIL": text})
    assert refused is None
    assert len(problems) == 1
    assert examine({"version": 1, **scenario}, env={"EVIL": "503"})[1] == ()


@pytest.mark.parametrize("status", [0, 42, 100, 101, 199, 600, -1, 2**40])
def test_only_final_statuses_answer(status):
    _, (problem,) = examine({"version": 1, "faults": [{"respond": status}]})
    assert "200 to 599" in problem.message
