"""The JUnit document is what CI systems read: the elements and attributes of the schema that Jenkins keeps of it."""

from xml.etree import ElementTree as ET

import pytest

from chaosproxy.judging.check import Finding, Verdict
from chaosproxy.report.pages import write
from tests.report.examples import examples, plain, verdicts

REQUIRED = {"testsuites": set(), "testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}}
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped", "timestamp", "hostname", "id", "package"},
    "testcase": {"name", "time", "classname", "group"},
    "failure": {"type", "message"},
    "system-out": set(),
}
INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase", "system-out"},
    "testcase": {"failure", "system-out"},
    "failure": set(),
    "system-out": set(),
}


def document(records, judged):
    return ET.fromstring(write(records, judged, "junit"))


@pytest.mark.parametrize("judged", [(), verdicts()], ids=["unjudged", "judged"])
def test_it_keeps_to_the_schema(judged):
    for node in document(examples(), judged).iter():
        assert REQUIRED.get(node.tag, set()) <= set(node.attrib) <= ALLOWED[node.tag]
        assert {child.tag for child in node} <= INSIDE[node.tag]


@pytest.mark.parametrize("judged", [(), verdicts()], ids=["unjudged", "judged"])
def test_it_counts_what_it_has(judged):
    top = document(examples(), judged)
    cases, failures = top.findall(".//testcase"), top.findall(".//failure")
    for counted in (top, top[0]):
        assert (counted.get("tests"), counted.get("failures")) == (str(len(cases)), str(len(failures)))
    assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)


def test_a_case_for_each_expectation_and_a_failure_has_the_proof():
    late, _, never = document(examples(), verdicts()).findall(".//testcase")
    assert late.find("failure").get("message") == "#2: the first event after 100 ms"
    assert "100 ms  first event sent" in late.find("failure").text
    assert never.find("failure").get("message") == "nothing to judge: an exchange with a fault of that name"


def test_what_expects_the_same_twice_has_two_cases():
    names = [case.get("name") for case in document([plain()], [*verdicts(), *verdicts()]).iter("testcase")]
    assert len({*names}) == 6


def test_an_exchange_by_itself_is_no_failure():
    cases = document(examples(), ()).findall(".//testcase")
    assert [case.get("time") for case in cases] == ["0.230", "0.150", "2.090", "0.001", "0.003", "0.000"]
    assert "rst after event 5" in cases[1].find("system-out").text


def test_a_failure_names_the_first_that_is_not_so_and_counts_the_others():
    wrong = [Finding((number,), False, f"seen {number}") for number in (1, 2, 3)]
    (failure,) = document([plain()], [Verdict("head", "a head", tuple(wrong), "x")]).iter("failure")
    assert failure.get("message") == "#1: seen 1, and 2 further"
    assert failure.text.splitlines()[-1].split() == ["#3:", "seen", "3"]
