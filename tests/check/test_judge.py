"""The verdict, as a table: what a client said, what was on the wire, and what that makes of it."""

import pytest

from chaosproxy.check.case import EITHER, SAYS_SO, TEXT, WHOLE, Case, Rule
from chaosproxy.check.facts import Facts, Wait
from chaosproxy.check.judge import Setting, judge
from chaosproxy.check.told import Told, read

RULE = Rule("rule", "It is so.", "Do it.")
SIX = "Twelve naïve words cross the wire:"
ONE = Facts(requests=1, kinds=frozenset({"chat"}), protocols=frozenset({"http/1.1"}), connections=1, events=13)
UNTOLD = Setting()
ASKED_AGAIN = Facts(requests=2, kinds=frozenset({"chat"}), protocols=frozenset({"http/1.1"}))


def case(good=SAYS_SO, **named) -> Case:
    return Case(id="case", title="it happens", rule=RULE, good=good, scenario="rules: []", **named)


def judged(told, facts=ONE, setting=UNTOLD, **named):
    found = judge(case(**named), told, facts, setting)
    return found.verdict, found.good, found.seen


@pytest.mark.parametrize(
    ("told", "verdict", "good", "seen"),
    [
        (Told(TEXT), "whole", False, "all tokens"),
        (Told(TEXT + "\n"), "whole", False, "all tokens"),
        (Told(TEXT.replace(" ", "\n ")), "whole", False, "all tokens"),
        (Told(SIX), "truncated", False, "6 of 12 tokens, taken for the whole"),
        (Told(SIX[:-3]), "truncated", False, "5 of 12 tokens, taken for the whole"),
        (Told(""), "truncated", False, "0 of 12 tokens, taken for the whole"),
        (Told(SIX + TEXT), "duplicated", False, "12 of 12 tokens, 6 of them twice"),
        (Told(SIX + " " + TEXT), "duplicated", False, "12 of 12 tokens, 6 of them twice"),
        (Told(TEXT + TEXT), "duplicated", False, "12 of 12 tokens, 12 of them twice"),
        (Told(SIX.replace("ï", "Ã¯")), "corrupted", False, "other text from character 10 on"),
        (Told(TEXT.replace(" words", "")), "corrupted", False, "other text from character 14 on"),
        (Told(TEXT + "<html>"), "corrupted", False, "'<html>' in place of ''"),
        (Told(SIX, "raised", error="IncompleteRead", status=1), "raised", True, "IncompleteRead, 6 of 12 tokens"),
        (Told(SIX, "raised", status=1), "raised", True, "exit status 1, 6 of 12 tokens"),
        (Told(SIX, "raised", error="curl: no", status=18), "raised", True, "curl: no, exit status 18, 6 of 12 tokens"),
        (Told(SIX + TEXT, "raised", error="Boom"), "raised", True, "Boom, 12 of 12 tokens, 6 of them twice"),
        (Told(SIX, "raised", status=-11), "raised", False, "it was ended by SIGSEGV"),
        (Told(SIX, "flagged"), "flagged", True, "flagged as incomplete"),
        (Told(SIX, finish="interrupted"), "flagged", True, "finish: interrupted"),
        (Told(SIX, finish="length"), "flagged", True, "finish: length"),
        (Told(SIX, finish="STOP"), "truncated", False, "taken for the whole"),
        (Told(SIX, finish=None), "truncated", False, "taken for the whole"),
        (Told(TEXT, finish="error"), "flagged", True, "all tokens, finish: error"),
        (Told(SIX, status=None, ended=7.25), "hangs", False, "still there 7.2s after it began, 6 of 12 tokens"),
    ],
)
def test_what_it_made_of_the_answer(told, verdict, good, seen):
    found = judged(told)
    assert found[:2] == (verdict, good)
    assert seen in found[2]


@pytest.mark.parametrize(
    ("facts", "text", "verdict"),
    [
        (Facts(requests=2, kinds=ONE.kinds), "", "hangs"),
        (Facts(requests=2, kinds=ONE.kinds), SIX + SIX, "loops"),
        (Facts(requests=3, kinds=ONE.kinds), "", "loops"),
    ],
)
def test_who_had_to_be_ended(facts, text, verdict):
    assert judged(Told(text, status=None), facts)[:2] == (verdict, False)


def test_an_event_source_that_asked_for_the_rest_has_the_whole():
    twice = Facts(requests=2, kinds=frozenset({"sse"}))
    assert judged(Told(TEXT.replace(" ", "")), twice)[:2] == ("whole", True)
    assert judged(Told(SIX.replace(" ", "")), twice)[:2] == ("truncated", False)


def test_the_interface_for_event_sources_has_no_blanks():
    facts = Facts(requests=1, kinds=frozenset({"sse"}))
    assert judged(Told(TEXT.replace(" ", "")), facts, good=WHOLE)[:2] == ("whole", True)
    assert judged(Told(TEXT.replace(" ", "")), ONE, good=WHOLE)[0] == "corrupted"


@pytest.mark.parametrize(
    ("named", "facts", "seen"),
    [
        ({"kinds": frozenset({"messages"})}, ONE, "it asks for chat: the case is about messages"),
        ({"protocol": "h2"}, ONE, "it speaks http/1.1 here"),
        ({}, Facts(requests=1, out_of_reach="it does not offer the coding"), "it does not offer the coding"),
    ],
)
def test_a_case_that_is_about_others(named, facts, seen):
    assert judged(Told(SIX), facts, **named) == ("not_applicable", None, seen)


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        (Told(TEXT), "corrupted"),
        (Told(""), "truncated"),
        (Told("", "raised", error="no key", status=1), "raised"),
        (Told("", status=None), "hangs"),
    ],
)
def test_who_never_asked_is_never_good(told, verdict):
    found = judged(told, Facts(), good=EITHER | {"truncated", "corrupted", "hangs"})
    assert found[:2] == (verdict, False)
    assert "no request came" in found[2]


@pytest.mark.parametrize(
    ("waited", "good", "seen"),
    [
        (1.012, True, "2 requests, told to wait 1s, asked again 12 ms behind it"),
        (0.99, True, "asked again 0.0 ms behind it"),
        (0.4, False, "told to wait 1s, asked again 600 ms too early"),
    ],
)
def test_retry_after(waited, good, seen):
    facts = Facts(requests=2, kinds=ONE.kinds, waits=(Wait(1.0, waited),))
    found = judged(Told(TEXT), facts, good=EITHER, waits=True)
    assert found[:2] == ("whole", good)
    assert seen in found[2]


def test_too_many_attempts_are_bad_whatever_came_of_them():
    told = Told("", "raised", error="401")
    assert judged(told, ONE, attempts=1) == ("raised", True, "401, 0 of 12 tokens")
    assert judged(told, ASKED_AGAIN, attempts=1) == ("raised", False, "401, 0 of 12 tokens; 2 requests, more than 1")


@pytest.mark.parametrize(
    ("first", "facts", "streams", "verdict"),
    [
        (100.5, {"spread": True}, True, "whole"),
        (102.1, {"spread": True}, True, "late"),
        (102.1, {"spread": True}, False, "whole"),
        (102.1, {"spread": False}, True, "whole"),
        (100.5, {"at_once": True}, False, "late"),
    ],
)
def test_late_is_who_held_what_had_come(first, facts, streams, verdict):
    seen = Facts(requests=1, kinds=ONE.kinds, began=100.0, last_byte=2.0, **facts)
    found = judged(Told(TEXT, first=first), seen, Setting(streams=streams), good=WHOLE, neutral=frozenset({"late"}))
    assert found[:2] == (verdict, True if verdict == "whole" else None)


@pytest.mark.parametrize(
    ("left", "good", "seen"),
    [(0.62, True, "within 20 ms"), (2.7, False, "2100 ms later"), (None, False, "never")],
)
def test_who_leaves_behind_the_third_token(left, good, seen):
    facts = Facts(requests=1, kinds=ONE.kinds, body_began=0.0, left=left)
    verdict, found, words = judged(
        Told("Twelve naïve words"), facts, leaves="by itself", gap="300ms", good=frozenset({"whole"})
    )
    assert (verdict, found) == ("whole" if good else "hangs", good)
    assert seen in words


def test_who_does_not_leave_is_not_judged_for_that():
    facts = Facts(requests=1, kinds=ONE.kinds, body_began=0.0)
    assert judged(Told(TEXT), facts, leaves="by itself")[:2] == ("not_applicable", None)


@pytest.mark.parametrize(
    ("out", "status", "told"),
    [
        (b"Twelve", 0, Told("Twelve")),
        (b"Twelve", 2, Told("Twelve", "raised", error="boom", status=2)),
        (b'{"text": "Twelve", "outcome": "ok"}\n', 0, Told("Twelve")),
        (
            b'noise\n{"text": "a", "finish": "stop", "outcome": "flagged", "error": null}',
            0,
            Told("a", "flagged", "stop"),
        ),
        (b'Twelve\n{"outcome": "raised", "error": ["A", "B"]}', 0, Told("Twelve", "raised", error='["A", "B"]')),
        (b'{"text": "a", "error": "A"}', 1, Told("a", "raised", error="A", status=1)),
        (b'{"text": "a"}', 1, Told("a", "raised", error="boom", status=1)),
        (b'{"choices": []}', 0, Told('{"choices": []}', raw=True)),
        (b'{"text": ', 0, Told('{"text": ', raw=True)),
        (b"\xff\xfe", 0, Told("��")),
    ],
)
def test_what_was_printed_is_read(out, status, told):
    assert read(out, b"warning\nboom\n\n", status) == told
