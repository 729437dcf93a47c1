"""`error_event`: what every fault must stand, and what cannot be written."""

import pytest

from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import ErrorEvent
from chaosproxy.model.vocabulary import Moment, Way
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault


@pytest.mark.parametrize(
    "spec",
    [
        ErrorEvent(at=Trigger(event=2)),
        ErrorEvent(at=Trigger(bytes=13), format="openai", then=(ABORT,)),
        ErrorEvent(at=Trigger(time=0.25), format="anthropic"),
        ErrorEvent(at=Trigger(idle=30.0), then=(Ending("rst"),)),
        ErrorEvent(at=Trigger(match="2"), format="openai_responses"),
        ErrorEvent(at=Trigger(moment=Moment.END)),
        ErrorEvent(at=Trigger(event=1), way=Way.REQUEST),
    ],
    ids=lambda spec: spec.at.place,
)
def test_it_stands_every_script(spec):
    check_fault(spec)


def test_one_that_is_never_reached_or_cannot_stand_there_is_neutral():
    check_fault(ErrorEvent(at=Trigger(event=100)), neutral=True)
    check_fault(ErrorEvent(at=Trigger(event=2), format="ndjson"), neutral=True)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("error_event: openai", 3, 18, "`at` is required"),
        ("error_event: {format: openai}", 3, 5, "`at`"),
        ("error_event: {at: request}", 3, 23, "no body"),
        ("error_event: {at: after_end}", 3, 23, "no body"),
        ("error_event: {at: {event: 3}, format: openapi}", 3, 43, "openai"),
        ("error_event: {at: {event: 3}, code: [1]}", 3, 41, "a list"),
        ("error_event: {at: {event: 3}, message: 5}", 3, 44, "string"),
        ("error_event: {at: {event: 3}, then: cleanly}", 3, 41, "clean"),
        ("error_event: {at: {event: 3}, mesage: x}", 3, 35, "message"),
    ],
)
def test_what_cannot_be_has_its_place(refused, text, line, column, words):
    refused(text, column, words, line)


@pytest.mark.parametrize(
    "text",
    [
        "{at: headers}",
        "{at: end, format: sse, code: 5, message: m, type: t, then: [clean, {stream: CANCEL}]}",
        "{at: {json: {done: true}}, code: '5', way: request, if: {status: 200}}",
    ],
)
def test_what_can_be_is_read_and_written(text):
    scenario = load(f"version: 1\nfaults:\n  - error_event: {text}\n")
    assert load(dump(scenario)) == scenario


def test_it_reads_records_wherever_it_acts():
    assert ErrorEvent(at=Trigger(bytes=1)).reads_records
