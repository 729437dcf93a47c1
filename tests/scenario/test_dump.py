"""What is written out reads back as the same scenario."""

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import REGISTRY, Condition
from chaosproxy.chain.trigger import Trigger
from chaosproxy.model.vocabulary import Moment, Way
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import load
from chaosproxy.scenario.nth import Nth, Span
from chaosproxy.scenario.schema import Connection, ConnectionMatch, Hop, Match, Rule, Scenario, UpstreamOptions

INFINITY = float("inf")
texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cn", "Co", "Cf", "Zs"]) | st.sampled_from("${} "),
    max_size=12,
)
sizes = st.integers(0, 2**40)
counts = st.integers(1, 10**6)
durations = st.integers(0, 10**7).map(lambda ms: ms / 1000) | st.just(INFINITY)
lines = st.text("abc-é${}", max_size=8).map(str.encode)
names = st.text("abc-X", min_size=1, max_size=8)
headers = st.lists(st.tuples(names.map(str.encode), lines), max_size=3, unique_by=lambda pair: pair[0]).map(tuple)
globs = st.dictionaries(st.text("abc-", min_size=1, max_size=8), texts, max_size=2).map(
    lambda found: tuple(found.items())
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda v: st.lists(v, max_size=2) | st.dictionaries(texts, v, max_size=2),
    max_leaves=4,
)
pairs = st.dictionaries(st.from_regex(r"[a-z]+(\.[a-z0-9]+)?", fullmatch=True), values, min_size=1, max_size=2).map(
    lambda found: tuple(found.items())
)
triggers = st.one_of(
    st.sampled_from(list(Moment)).map(lambda moment: Trigger(moment=moment)),
    st.builds(Trigger, event=counts, every=st.none() | counts),
    st.builds(Trigger, bytes=st.integers(1, 2**40), every=counts, times=st.none() | counts),
    st.builds(Trigger, chunk=counts),
    st.builds(Trigger, time=durations, every=st.none() | st.just(0.25)),
    st.builds(Trigger, idle=durations),
    st.just(Trigger(match="a.*${b}")),
    st.builds(Trigger, json=pairs),
    st.builds(Trigger, terminal=st.sampled_from(["before", "inside", "after"])),
)
endings = st.one_of(
    st.sampled_from(["abort", "clean", "fin", "rst", "fin_mid_chunk", "no_close_notify", "silence"]).map(Ending),
    st.builds(Ending, st.just("stream"), code=st.integers(0, 2**32 - 1)),
    st.builds(
        Ending, st.just("goaway"), code=st.integers(0, 13), last=st.sampled_from(["0", "first", "current", "max"])
    ),
    st.builds(Ending, st.just("status"), status=st.integers(200, 599), body=texts.map(str.encode), headers=headers),
)
conditions = st.none() | st.builds(
    Condition, status=st.integers(100, 599) | st.just("5??"), headers=globs, protocol=st.none() | st.just("h2")
)
nths = st.lists(
    st.one_of(
        counts.map(lambda n: Span(n, n)),
        counts.map(lambda n: Span(n, n + 5)),
        counts.map(lambda n: Span(n, INFINITY)),
        st.integers(2, 99).map(lambda n: Span(n, INFINITY, n)),
    ),
    min_size=1,
    max_size=3,
).map(lambda spans: Nth(tuple(spans)))
matches = st.builds(
    Match,
    method=st.none() | texts,
    path=st.just("/a*"),
    query=globs,
    headers=globs,
    json=pairs | st.just(()),
    protocol=st.none() | st.just("h2"),
)


@st.composite
def scenarios(draw):
    hold, cut, stall, respond = (REGISTRY[name] for name in ("x_hold", "x_cut", "x_stall", "x_respond"))
    faults = st.one_of(
        st.builds(
            hold,
            bytes=st.none() | st.lists(sizes, min_size=1, max_size=3).map(tuple),
            every=st.none() | durations,
            hint=st.booleans(),
            way=st.sampled_from(list(Way)),
            if_=conditions,
        ),
        st.builds(cut, at=triggers, then=st.lists(endings, min_size=1, max_size=3).map(tuple)),
        st.builds(stall, for_=durations, at=st.none() | triggers),
        st.builds(
            respond,
            headers=headers,
            body=texts.map(str.encode),
            rate=st.none() | sizes.map(float),
            until=st.just("end") | durations,
        ),
    )
    hops = st.builds(Hop, st.none() | texts, st.lists(faults, max_size=3).map(tuple))
    rule = st.builds(
        Rule,
        matches,
        nths,
        st.sampled_from([0.0, 0.5, 1.0]),
        st.none() | st.just("lines"),
        st.sampled_from(["", "/m"]),
        st.lists(hops, max_size=2).map(tuple),
    )
    connection = st.builds(
        Connection,
        st.builds(ConnectionMatch, st.none() | st.just("client"), nths, st.none() | st.just("h2"), st.none() | texts),
        st.just((cut(at=Trigger(bytes=9)),)),
    )
    return draw(
        st.builds(
            Scenario,
            texts,
            texts,
            st.none() | st.integers(0, 2**53),
            st.builds(
                UpstreamOptions,
                st.sampled_from(["auto", "h2"]),
                st.none() | st.integers(1, 99),
                host=st.none() | st.just("keep"),
            ),
            st.lists(rule, max_size=2).map(tuple),
            st.lists(connection, max_size=1).map(tuple),
        )
    )


class Quoting(yaml.SafeDumper):
    """Quotes every string: PyYAML writes YAML 1.1, in which `0E0` is text that needs no quotes."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


@settings(max_examples=60)
@given(st.data())
def test_a_dump_loads_as_the_same(data):
    scenario = data.draw(scenarios())
    plain = dump(scenario)
    assert load(plain, env={}) == scenario
    assert load(yaml.dump(plain, Dumper=Quoting, allow_unicode=True, sort_keys=False), env={}) == scenario


def test_expectations_and_each_form_of_an_ending_are_written_as_they_were():
    written = {
        "version": 1,
        "name": "a",
        "rules": [
            {
                "hops": [
                    {
                        "faults": [
                            {"x_cut": {"at": "end", "then": [{"goaway": "ENHANCE_YOUR_CALM", "last": "first"}, "fin"]}},
                            {"x_respond": {"status": 503, "rate": "2KiB/s"}},
                        ]
                    }
                ]
            }
        ],
        "expect": [
            {"first_event": {"within": "500ms", "match": {"path": "/v1/*"}, "nth": "2-3"}},
            {"attempts": {"count": 2}},
            {"unchanged": {}},
        ],
    }
    assert dump(load(written)) == written


def test_a_dump_says_what_a_user_would_write():
    text = "version: 1\nname: a\nfaults:\n- x_hold: {bytes: 4KiB, every: 1500ms}\n- x_cut: {at: {bytes: 1KiB, every: 2KiB}, then: [{stream: CANCEL}, rst]}\n"
    assert dump(load(text)) == {
        "version": 1,
        "name": "a",
        "rules": [
            {
                "hops": [
                    {
                        "faults": [
                            {"x_hold": {"bytes": ["4KiB"], "every": "1.5s"}},
                            {"x_cut": {"at": {"bytes": "1KiB", "every": 2048}, "then": [{"stream": "CANCEL"}, "rst"]}},
                        ]
                    }
                ]
            }
        ],
    }
