"""Scenario files, parameters, journals: nearly right, and not."""

import json

from hypothesis import strategies as st

import chaosproxy.presets  # noqa: F401 - its import makes them known
from chaosproxy.journal.jsonl import line
from chaosproxy.presets.preset import PRESETS
from tests.fuzz import journal, loader
from tests.fuzz.draw import DrawnRandom
from tests.report.examples import examples
from tests.report.test_hostile import HOSTILE
from tests.security.mutating import asked, mutated
from tests.simulation import scenarios

ODD = [
    None,
    True,
    -1,
    0,
    2**53 + 1,
    1e300,
    "",
    "x",
    "${A}",
    "5s",
    "-5s",
    "1e9y",
    [],
    {},
    [[]],
    {"a": 1},
    "a\r\nb",
    "9" * 400,
    1.5,
]


def test_shipped_scenarios_edited(shown):
    tried = asked(loader.run, mutated(loader.seeds(), loader.TOKENS), 120)
    found = loader.TARGETS["loader"]
    shown(
        "fuzzing",
        "shipped scenarios, edited",
        tried=tried.runs,
        must=found.must,
        happens="that, each time",
        figure=tried.figure,
    )


def odd(random, given):
    """One value in it is another, or a key."""
    places = [(given, key) for key in given]
    for holder, key in places:
        value = holder[key]
        if isinstance(value, dict):
            places += [(value, inner) for inner in value]
        elif isinstance(value, list):
            places += [(value, number) for number in range(len(value))]
    holder, key = random.choice(places)
    if isinstance(holder, dict) and random.random() < 0.2:
        holder[str(random.choice(ODD))] = holder.pop(key)
    else:
        holder[key] = random.choice(ODD)
    return given


def any_document(data):
    """Of the types of each fault's parameters, perhaps with something odd in it."""
    random = DrawnRandom(data)
    document = {"version": 1, **(scenarios.scenario(random, random.randrange(1000)) or {})}
    document = json.loads(json.dumps(document, default=bytes.decode))
    loader.mapping(odd(random, document) if random.random() < 0.7 else document)
    loader.run(json.dumps(document).encode())


def any_preset(data):
    """A preset with any parameters of its own, perhaps with something odd among them."""
    random = DrawnRandom(data)
    name = sorted(PRESETS)[random.randrange(len(PRESETS))]
    hop = {"preset": name, **scenarios.parameters(random, PRESETS[name])}
    document = {"version": 1, "rules": [{"hops": [odd(random, hop) if random.random() < 0.5 else hop]}]}
    loader.mapping(document)
    loader.run(json.dumps(document).encode())


def test_documents_of_the_right_types(shown):
    tried = asked(any_document, st.binary(min_size=1, max_size=100), 60)
    found = loader.TARGETS["loader"]
    shown(
        "fuzzing",
        "scenarios made of the parameters' types",
        tried=2 * tried.runs,
        must=found.must,
        happens="that, each time",
        figure=tried.figure,
    )


def test_parameters_of_presets(shown):
    tried = asked(any_preset, st.binary(min_size=1, max_size=60), 60)
    found = loader.TARGETS["loader"]
    shown(
        "fuzzing",
        "presets with any parameters",
        tried=2 * tried.runs,
        must=found.must,
        happens="that, each time",
        figure=tried.figure,
    )


VALUES = [
    *(
        None,
        True,
        -1,
        0,
        1,
        2**31,
        2**63,
        10**400,
        -(10**4000),
        1e-300,
        1e308,
        1.5,
        1e9,
        "",
        "x",
        [],
        {},
        [[]],
        [[1, 1]],
        [["a", "b"]],
    ),
    *([[0.1, 2**32 - 1]] * 3, [[1e8, 0]], *HOSTILE[:-2], "clean", "rst", "h2", "proxy"),
]


def changed(base, edits):
    """A line of a journal, with other values in some places."""
    record = json.loads(json.dumps(base))
    for place, value in edits:
        places = [(record, key) for key in record]
        for holder, key in places:
            if isinstance(holder[key], dict):
                places += [(holder[key], inner) for inner in holder[key]]
            elif isinstance(holder[key], list):
                places += [(holder[key], number) for number in range(len(holder[key]))]
        holder, key = places[place % len(places)]
        holder[key] = json.loads(json.dumps(value))
    return json.dumps(record).encode() + b"\n"


records = st.builds(
    changed,
    st.sampled_from([one.as_json() for one in examples()]),
    st.lists(st.tuples(st.integers(0, 255), st.sampled_from(VALUES)), min_size=1, max_size=4),
)
LINES = [line(one).encode() + b"\n" for one in examples()]
journals = st.one_of(
    st.lists(records, min_size=1, max_size=3).map(b"".join),
    mutated([b"".join(LINES[:2]), *LINES], journal.TARGETS["journal"].tokens),
)


def test_journals(shown):
    tried = asked(journal.run, journals, 100)
    found = journal.TARGETS["journal"]
    shown(
        "fuzzing",
        "journals with other values in them, and edited; reports of four forms",
        tried=tried.runs,
        must=found.must,
        happens="that, each time",
        figure=tried.figure,
    )
