"""Every way of writing something leads to the one object that it means."""

import pytest

from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import REGISTRY, Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.errors import ScenarioError
from chaosproxy.model.vocabulary import Moment, Way
from chaosproxy.scenario.load import load
from chaosproxy.scenario.nth import Nth, Span
from chaosproxy.scenario.schema import ConnectionMatch, Hop, Match, UpstreamOptions

INFINITY = float("inf")


def fault(value, env=None):
    """The one fault written as `value`."""
    scenario = load({"version": 1, "faults": [value]}, env=env or {})
    return scenario.rules[0].hops[0].faults[0]


def rule(text, env=None):
    (found,) = load(f"version: 1\n{text}", env=env or {}).rules
    return found


def problems(value):
    with pytest.raises(ScenarioError) as caught:
        load(value, env={})
    return [problem.message for problem in caught.value.problems]


def at(value):
    return fault({"x_cut": {"at": value}}).at


def endings(value):
    return fault({"x_cut": {"at": "end", "then": value}}).then


# Faults


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ({"x_hold": "4KiB"}, {"bytes": (4096,)}),
        ({"x_hold": 512}, {"bytes": (512,)}),
        ({"x_hold": ["1KiB", 7]}, {"bytes": (1024, 7)}),
        ({"x_hold": {"bytes": "64k"}}, {"bytes": (65536,)}),
        (
            {"x_hold": {"bytes": ["1MiB"], "every": "250ms", "hint": True}},
            {"bytes": (2**20,), "every": 0.25, "hint": True},
        ),
        ({"x_hold": {}}, {}),
        ({"x_hold": {"way": "request", "on_abort": "drop"}}, {"way": Way.REQUEST, "on_abort": "drop"}),
        ({"x_stall": "5s"}, {"for_": 5.0}),
        ({"x_stall": {"for": "forever"}}, {"for_": INFINITY}),
        ({"x_respond": {"rate": "32KiB/s", "body": "é"}}, {"rate": 32768.0, "body": "é".encode()}),
        ({"x_respond": {"until": "first_byte"}}, {"until": "first_byte"}),
        ({"x_respond": {"until": "1.5s"}}, {"until": 1.5}),
        (
            {"x_respond": {"headers": {"A": "b", "c": ["d", 1, True]}}},
            {"headers": ((b"A", b"b"), (b"c", b"d"), (b"c", b"1"), (b"c", b"true"))},
        ),
        ({"x_cut": {"at": "end", "side": "client"}}, {"at": Trigger(moment=Moment.END), "side": "client"}),
    ],
)
def test_a_fault_is_its_main_parameter_or_a_mapping(value, fields):
    (name,) = value
    assert fault(value) == REGISTRY[name](**fields)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"x_hold": None}, "found nothing; expected a size"),
        ({"x_hold": "4Kib/s"}, "expected a size"),
        ({"x_hold": -1}, "expected a size"),
        ({"x_hold": True}, "found true; expected a size"),
        ({"x_hold": {"bytes": {"a": 1}}}, "bytes: found a mapping; expected a size"),
        ({"x_hold": {"bytes": None}}, "bytes: found nothing; expected a size"),
        ({"x_hold": {"every": 5}}, "a number without a unit is no duration"),
        ({"x_hold": {"every": "11y"}}, "expected a duration"),
        ({"x_hold": {"every": "99999d"}}, "longer than ten years"),
        ({"x_hold": {"on_abort": "flash"}}, "did you mean 'flush'?"),
        ({"x_hold": {"hint": "yes"}}, "found 'yes'; expected true or false"),
        ({"x_hold": {"at": "end"}}, "unknown key 'at'"),
        ({"x_stall": {"for": "1s", "way": "request"}}, "expected response"),
        ({"x_stall": {}}, "`for` is required"),
        ({"x_stall": {"fro": "1s"}}, "unknown key 'fro'; did you mean 'for'?"),
        ({"x_stall": {"for_": "1s"}}, "unknown key 'for_'; did you mean 'for'?"),
        ({"x_stall": ["1s"]}, "found a list; expected a duration"),
        ({"x_cut": {"then": "rst"}}, "`at` is required"),
        ({"x_cut": "rst"}, "expected a mapping with"),
        ({"x_cut": ["rst"]}, "expected a mapping with"),
        ({"x_respond": {"status": "200 OK\r\nX: y"}}, "expected a whole number"),
        ({"x_respond": {"status": 1.5}}, "expected a whole number"),
        ({"x_respond": {"body": 5}}, "quote it if it is text"),
        ({"x_respond": {"rate": 5}}, "expected a rate"),
        ({"x_respond": {"rate": "5KiB"}}, "expected a rate"),
        ({"x_respond": {"until": 5}}, "expected one of first_byte, end or a duration"),
        ({"x_respond": {"headers": {"a": 1.50}}}, "quote it, so that no digit is lost"),
        ({"x_respond": {"headers": ["a"]}}, "headers: found a list; expected a mapping"),
        ({"x_respond": {"headers": {"a": {"b": 1}}}}, "a: found a mapping; expected a string"),
        ({"x_comprss": "gzip"}, "unknown fault 'x_comprss'; did you mean 'x_compress'? known: "),
        ({"x_hold": 1, "x_cut": 2}, "found a mapping with 2 keys; a fault is a mapping with one key"),
        ("x_hold", "write x_hold: ..."),
        ({}, "found a mapping with 0 keys"),
        (5, "found the number 5"),
    ],
)
def test_what_is_no_fault(value, words):
    (message,) = problems({"version": 1, "faults": [value]})
    assert words in message


@pytest.mark.parametrize(
    "headers",
    [
        {"x": "a\r\nset-cookie: b"},
        {"x": "a\nb"},
        {"x": "a\0b"},
        {"a b": "c"},
        {"": "c"},
        {"a:": "c"},
        {"a\r\n": "c"},
        {"x": ["fine", "a\rb"]},
        {"é": "c"},
    ],
)
def test_no_header_breaks_the_wire(headers):
    for value in (
        {"x_respond": {"headers": headers}},
        {"x_cut": {"at": "headers", "then": {"status": 503, "headers": headers}}},
    ):
        assert len(problems({"version": 1, "faults": [value]})) == 1


def test_no_header_breaks_the_wire_through_the_environment():
    with pytest.raises(ScenarioError) as caught:
        load("version: 1\nfaults:\n- x_respond:\n    headers: {x-a: fine, x-b: '${EVIL}'}\n", env={"EVIL": "a\r\nb: c"})
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (4, 31)


# at:


@pytest.mark.parametrize("moment", list(Moment))
def test_at_a_moment(moment):
    assert at(moment.value) == Trigger(moment=moment)


@pytest.mark.parametrize(
    ("value", "trigger"),
    [
        ({"event": 3}, Trigger(event=3)),
        ({"bytes": "4KiB"}, Trigger(bytes=4096)),
        ({"bytes": 10}, Trigger(bytes=10)),
        ({"chunk": 2}, Trigger(chunk=2)),
        ({"time": "250ms"}, Trigger(time=0.25)),
        ({"idle": "2m"}, Trigger(idle=120.0)),
        ({"match": "fo+"}, Trigger(match="fo+")),
        ({"json": {"a.0.b": "stop", "n": 1, "x": None}}, Trigger(json=(("a.0.b", "stop"), ("n", 1), ("x", None)))),
        ({"terminal": "inside"}, Trigger(terminal="inside")),
        ({"event": 3, "every": 5, "times": 2}, Trigger(event=3, every=5, times=2)),
        ({"bytes": 10, "every": "1KiB"}, Trigger(bytes=10, every=1024)),
        ({"time": "1s", "every": "500ms"}, Trigger(time=1.0, every=0.5)),
        ({"match": "a", "every": 2}, Trigger(match="a", every=2)),
    ],
)
def test_at_a_place(value, trigger):
    assert at(value) == trigger


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("ended", "did you mean 'end'?"),
        ("event", "write {event: ...}"),
        (3, "found the number 3; expected one of request"),
        (None, "found nothing"),
        (["end"], "found a list"),
        ({}, "found none; expected exactly one of event"),
        ({"event": 1, "bytes": 2}, "found event and bytes"),
        ({"event": 0}, "1 or more"),
        ({"event": -1}, "1 or more"),
        ({"event": 1.5}, "1 or more"),
        ({"event": "3"}, "1 or more"),
        ({"evnt": 3}, "did you mean 'event'?"),
        ({"bytes": 0}, "before the first byte is `body`"),
        ({"time": 5}, "a number without a unit"),
        ({"match": "("}, "regular expression"),
        ({"match": "(?=a)"}, "regular expression"),
        ({"match": "[ab]{0,1000}c"}, "more than 1000 instructions"),
        ({"match": ""}, "1 to 4096 characters"),
        ({"match": "a" * 5000}, "1 to 4096 characters"),
        ({"match": 5}, "expected a string"),
        ({"json": {}}, "found an empty mapping"),
        ({"json": {"a..b": 1}}, "has an empty part"),
        ({"json": "a"}, "expected a mapping"),
        ({"terminal": "behind"}, "expected one of before, inside, after"),
        ({"terminal": "after", "every": 2}, "comes once"),
        ({"event": 1, "every": 0}, "every: found the number 0"),
        ({"event": 1, "every": "1s"}, "every: found '1s'; expected a whole number"),
        ({"time": "1s", "every": 1}, "every: found the number 1; expected a duration"),
        ({"time": "1s", "every": "0s"}, "more than nothing"),
        ({"event": 1, "times": 2}, "`times` needs `every`"),
        ({"event": 1, "every": 1, "times": 0}, "1 or more"),
    ],
)
def test_what_is_no_trigger(value, words):
    (message,) = problems({"version": 1, "faults": [{"x_cut": {"at": value}}]})
    assert words in message


# then:


@pytest.mark.parametrize("word", ["abort", "clean", "fin", "rst", "fin_mid_chunk", "no_close_notify", "silence"])
def test_an_ending_is_a_word(word):
    assert endings(word) == (Ending(word),)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"status": 504, "body": "x"}, "abort"], (Ending("status", status=504, body=b"x"), ABORT)),
        ({"stream": "CANCEL"}, (Ending("stream", code=8),)),
        ({"stream": 8}, (Ending("stream", code=8),)),
        ({"stream": 2**32 - 1}, (Ending("stream", code=2**32 - 1),)),
        ({"goaway": "NO_ERROR", "last": "current"}, (Ending("goaway", code=0, last="current"),)),
        ({"goaway": 2}, (Ending("goaway", code=2),)),
        ({"goaway": 2, "last": 0}, (Ending("goaway", code=2, last="0"),)),
        (
            {"status": 503, "headers": {"Retry-After": 1}},
            (Ending("status", status=503, headers=((b"Retry-After", b"1"),)),),
        ),
        (["clean", {"stream": "CANCEL"}], (Ending("clean"), Ending("stream", code=8))),
    ],
)
def test_endings(value, expected):
    assert endings(value) == expected


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("reset", "expected abort, clean"),
        ("rts", "did you mean 'rst'?"),
        ("stream", "write {stream: ...}"),
        (None, "found nothing"),
        ([["rst"]], "found a list"),
        ({}, "found none; expected exactly one of stream, goaway, status"),
        ({"stream": "CANCLE"}, "did you mean 'CANCEL'?"),
        ({"stream": "cancel"}, "did you mean 'CANCEL'?"),
        ({"stream": -1}, "HTTP/2 error code"),
        ({"stream": 2**32}, "HTTP/2 error code"),
        ({"stream": 8, "goaway": 0}, "found stream and goaway"),
        ({"stream": 8, "last": "max"}, "`last` does not go with `stream`"),
        ({"goaway": 0, "last": 3}, "expected one of 0, first, current, max"),
        ({"goaway": 0, "body": "x"}, "`body` does not go with `goaway`"),
        ({"last": "max"}, "found none"),
        ({"status": 100}, "from 200 to 599"),
        ({"status": 600}, "from 200 to 599"),
        ({"status": 504, "reason": "x"}, "unknown key 'reason'"),
    ],
)
def test_what_is_no_ending(value, words):
    (message,) = problems({"version": 1, "faults": [{"x_cut": {"at": "end", "then": value}}]})
    assert words in message


# if:


@pytest.mark.parametrize(
    ("value", "condition"),
    [
        ({"status": 503}, Condition(status=503)),
        ({"status": "5??"}, Condition(status="5??")),
        ({"content_type": "*json*"}, Condition(content_type="*json*")),
        (
            {"headers": {"X-A": "b*"}, "client_headers": {"Y": 1}},
            Condition(headers=(("x-a", "b*"),), client_headers=(("y", "1"),)),
        ),
        ({"protocol": "h2"}, Condition(protocol="h2")),
        ({"framing": "chunked"}, Condition(framing="chunked")),
        (
            {"framing": ["close_delimited", "content_length"], "content_type": ["a/*", "b/c"]},
            Condition(framing=("close_delimited", "content_length"), content_type=("a/*", "b/c")),
        ),
        ({"without_headers": {"X-A": "no"}}, Condition(without_headers=(("x-a", "no"),))),
    ],
)
def test_conditions(value, condition):
    assert fault({"x_hold": {"if": value}}).if_ == condition


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "empty condition"),
        ({"status": 99}, "expected a status"),
        ({"status": "OK"}, "expected a status"),
        ({"protocol": "h3"}, "expected one of http/1.1, h2"),
        ({"framing": "chunks"}, "did you mean 'chunked'?"),
        ({"framing": ["chunked", "close"]}, "expected one of chunked, content_length, close_delimited"),
        ({"path": "/"}, "unknown key 'path'"),
        ("h2", "found 'h2'; expected a mapping with content_type"),
    ],
)
def test_what_is_no_condition(value, words):
    (message,) = problems({"version": 1, "faults": [{"x_hold": {"if": value}}]})
    assert words in message


# Rules, hops, the file


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("1", [(1, 1, 1)]),
        ("2-4", [(2, 4, 1)]),
        ("'3-'", [(3, INFINITY, 1)]),
        ("3-", [(3, INFINITY, 1)]),
        ("[1, 3-5]", [(1, 1, 1), (3, 5, 1)]),
        ("every 3", [(3, INFINITY, 3)]),
        ("[every 3, 1]", [(3, INFINITY, 3), (1, 1, 1)]),
    ],
)
def test_nth(text, spans):
    assert rule(f"nth: {text}\nfaults: []").nth == Nth(tuple(Span(*span) for span in spans))


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "true", "[]", "[[1]]", "{a: 1}", "every", "4-2", "", "1 - 2"])
def test_what_is_no_nth(text):
    (message,) = problems(f"version: 1\nnth: {text}\nfaults: []\n")
    assert '"every 3"' in message


def test_match():
    text = "match: {method: POST, path: /v1/*, query: {a: 1}, headers: {Accept: '*x*'}, json: {stream: true}, protocol: h2}\nfaults: []"
    assert rule(text).match == Match("POST", "/v1/*", (("a", "1"),), (("accept", "*x*"),), (("stream", True),), "h2")


def test_yaml_1_2_scalars_in_a_file():
    found = rule("match: {query: {a: no, b: on, c: 12:30, d: 2026-01-01, e: 010, f: true}}\nfaults: []")
    assert found.match.query == (
        ("a", "no"),
        ("b", "on"),
        ("c", "12:30"),
        ("d", "2026-01-01"),
        ("e", "10"),
        ("f", "true"),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("match: {path: v1}", "beginning with / or *"),
        ("match: {path: '/v1?a=b'}", "write the query under `query`"),
        ("match: {protocol: http2}", "expected one of http/1.1, h2"),
        ("match: {json: [a]}", "expected a mapping"),
        ("match: {side: client}", "unknown key 'side'"),
        ("match: /v1", "expected a mapping with method"),
        ("probability: 1.5", "a number from 0 to 1"),
        ("probability: 50%", "a number from 0 to 1"),
        ("records: xml", "expected one of sse, lines, grpc, chunks"),
        ("mount: name", "a path prefix such as /name"),
        ("mount: /", "a path prefix such as /name"),
        ("mount: '/a b'", "a path prefix such as /name"),
        ("mount: '/a?b'", "a path prefix such as /name"),
        ('mount: "/a\\r\\nb"', "a path prefix such as /name"),
    ],
)
def test_what_is_no_rule(text, words):
    (message,) = problems(f"version: 1\n{text}\nfaults: []\n")
    assert words in message


def test_the_short_forms_mean_the_same():
    faults = "[{x_hold: 4KiB}]"
    forms = [
        f"faults: {faults}\nnth: 2",
        f"hops: [{{faults: {faults}}}]\nnth: 2",
        f"rules: [{{faults: {faults}, nth: 2}}]",
        f"rules: [{{hops: [{{faults: {faults}}}], nth: 2}}]",
    ]
    assert len({repr(rule(form)) for form in forms}) == 1


def test_hops_have_names_and_an_order():
    found = rule(
        "hops:\n- name: nginx\n  faults:\n  - x_hold: 1\n- name: balancer\n  faults:\n  - x_stall: 1s\n  - x_hold: 2\n"
    )
    assert [(hop.name, [one.name for one in hop.faults]) for hop in found.hops] == [
        ("nginx", ["x_hold"]),
        ("balancer", ["x_stall", "x_hold"]),
    ]


def test_labels_count_by_kind():
    hold, stall = fault({"x_hold": 1}), fault({"x_stall": "1s"})
    assert Hop(None, (hold, stall, hold)).labels == ("x_hold:0", "x_stall:0", "x_hold:1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rules: []\nfaults: []\n", "`faults` at top level makes the file one rule"),
        ("rules: [{faults: []}]\nfaults: []", "`faults` at top level makes the file one rule"),
        ("faults: []\nhops: []", "cannot stand beside `hops`"),
        ("rules: [{faults: [], hops: []}]", "cannot stand beside `hops`"),
        ("nth: 1", "needs `faults`, `hops` or `preset`"),
        ("preset: nginx-1.31\nfaults: []", "`faults` is one unnamed hop; it cannot stand beside `preset`"),
        ("preset: nginx-1.31\nhops: []", "`preset` is one hop; it cannot stand beside `hops`"),
        ("hops: [{name: a}]", "`faults` is required"),
        ('hops: [{name: "a\\eb", faults: []}]', "without control characters"),
        ("hops: [{preset: nginx-1.220}]", "unknown preset 'nginx-1.220'; did you mean 'nginx-1.22'?"),
        ("hops: [{preset: nginx}]", "unknown preset 'nginx'; there are nginx-1.22, nginx-1.31, which differ"),
        ("hops: [{preset: 5}]", "found the number 5; expected the name of a preset"),
        ("hops: [{preset: alb}]", "unknown preset 'alb'; there are aws-alb, gcp-alb, which differ"),
        ("hops: [nginx-1.22]", "a hop that is a preset says so: write preset: nginx-1.22"),
        ("hops: [{aws-alb: {idle_timeout: 5s}}]", "a hop that is a preset says so: write preset: aws-alb"),
        ("faults: [{preset: aws-alb}]", "it stands under `hops:`, as - preset: aws-alb"),
        ("faults: [{preset: aws-alb, idle_timeout: 5s}]", "it stands under `hops:`, as - preset: aws-alb"),
        ("faults: [{preset: [a]}]", "it stands under `hops:`, as - preset: NAME"),
        ("faults: [fly]", "it stands under `hops:`, as - preset: fly"),
        ("faults: [{fly: {}}]", "it stands under `hops:`, as - preset: fly"),
        ("hops: [x]", "expected a mapping with name, faults"),
        ("rules: [x]", "expected a mapping with match"),
        ("rules: x", "rules: found 'x'; expected a list"),
        (
            "expect: [{first_event: {within: 500}}]",
            "within: found the number 500: a number without a unit is no duration",
        ),
        ("expect: [frist_event]", "unknown expectation 'frist_event'; did you mean 'first_event'?"),
        ("expect: [{head: 1s, gap: 1s}]", "found a mapping with 2 keys; an expectation is a word"),
        ("expect: 5", "expect: found the number 5; expected a list"),
        ("name: 5", "quote it if it is text"),
        ("seed: 1.5", "expected a whole number"),
        ("upstream: {protocol: h3}", "expected one of http/1.1, h2, auto"),
        ("upstream: {max_connections: 0}", "from 1 to 100000"),
        ("upstream: {host: 'a b'}", "a host name with an optional port"),
        ('upstream: {host: "a\\r\\nb"}', "a host name with an optional port"),
        ("upstream: {blance: request}", "did you mean 'balance'?"),
    ],
)
def test_what_is_no_file(text, words):
    (message,) = problems(f"version: 1\n{text}\n")
    assert words in message


def test_upstream():
    found = load(
        "version: 1\nupstream: {protocol: h2, max_connections: 1, balance: connection, host: keep, accept_encoding: keep}"
    )
    assert found.upstream == UpstreamOptions("h2", 1, "connection", "keep", "keep")


def test_no_rules_are_legal():
    scenario = load({"version": 1})
    assert (scenario.rules, scenario.connections, scenario.name) == ((), (), "scenario")


def test_connections():
    text = "version: 1\nconnections:\n- match: {side: client, number: 2-3, protocol: h2, sni: '*.x'}\n  faults:\n  - x_cut: {at: {bytes: 5}}\n"
    (connection,) = load(text).connections
    assert connection.match == ConnectionMatch("client", Nth((Span(2, 3),)), "h2", "*.x")
    assert connection.faults == (REGISTRY["x_cut"](at=Trigger(bytes=5)),)


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        ("{match: {path: /a}, faults: []}", "unknown key 'path'; allowed: side, number, protocol, sni"),
        ("{match: {side: server}, faults: []}", "expected one of client, upstream"),
        ("{faults: [x_hold: 1]}", "`x_hold` cannot act on a whole connection"),
        ("{faults: [x_cut: {at: {event: 3}}]}", "a connection has no records"),
        ("{match: {side: client}}", "`faults` is required"),
        ("{hops: [], faults: []}", "unknown key 'hops'"),
        ("x", "expected a mapping with match, faults"),
    ],
)
def test_what_is_no_connection(connection, words):
    (message,) = problems(f"version: 1\nconnections: [{connection}]\n")
    assert words in message
