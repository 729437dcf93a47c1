"""The JSON Schema accepts what the loader accepts, and refuses what an editor can know to be wrong."""

import functools
import json

import jsonschema
import pytest
import yaml

from chaosproxy.scenario import describe
from chaosproxy.scenario.load import examine

GOOD = {
    "the least": "version: 1",
    "everything": """
version: 1
name: a
about: b
seed: 7
upstream: {protocol: h2, max_connections: 1, balance: connection, host: example.com, accept_encoding: keep}
rules:
  - match: {method: POST, path: /v1/*, query: {a: b}, headers: {accept: "*x*"}, json: {stream: true, a.0: null}, protocol: h2}
    nth: [1, 3-5, "7-", every 3]
    probability: 0.5
    records: sse
    mount: /slow
    hops:
      - name: nginx
        faults:
          - x_hold: 4KiB
          - x_hold: 512
          - x_hold: [1KiB, 5]
          - x_hold: {bytes: 4KiB, every: 1s, limit: 1MiB, on_abort: drop, hint: true, way: request}
          - x_stall: 5s
          - x_stall: {for: forever, at: {bytes: 10, every: 1KiB, times: 3}}
      - faults:
          - x_cut: {at: end}
          - x_cut: {at: {event: 3}, then: rst, if: {status: 503}}
          - x_cut: {at: {match: a}, then: [{status: 504, body: x, headers: {a: b, c: [d, 1]}}, abort]}
          - x_cut: {at: {json: {a: 1}}, then: {goaway: NO_ERROR, last: 0}, side: client}
          - x_cut: {at: {terminal: inside}, then: {stream: 8}, if: {status: "5??", headers: {a: "*"}}}
          - x_respond: {status: 503, rate: 32KiB/s, until: first_byte, headers: {retry-after: 1}}
          - x_respond: {until: 5s}
          - timeout: {idle: 60s}
connections:
  - match: {side: client, number: 2, protocol: h2, sni: "*"}
    faults: [x_cut: {at: {time: 5s}}]
""",
    "short": "version: 1\nfaults: [x_hold: 1]\nnth: 2",
    "short hops": "version: 1\nhops: [{faults: []}]\nmatch: {path: /a}",
    "variables": "version: 1\nseed: ${S:-1}\nfaults: [x_hold: '${A:-4}KiB', x_stall: '${B:-5s}', x_respond: '${C:-200}']",
}
BAD = {
    "no version": "name: a",
    "version 2": "version: 2",
    "unknown key": "version: 1\nsed: 7",
    "rules and faults": "version: 1\nrules: []\nfaults: [x_hold: 1]\n",
    "faults and hops": "version: 1\nhops: []\nfaults: []\n",
    "an expectation that is none": "version: 1\nexpect: [{first_event: {within: 5}}]",
    "unknown fault": "version: 1\nfaults: [bufer: 1]",
    "two faults in one": "version: 1\nfaults: [{x_hold: 1, x_stall: 1s}]",
    "no fault in one": "version: 1\nfaults: [{}]",
    "a bare number as a duration": "version: 1\nfaults: [x_stall: 5]",
    "a wrong unit": "version: 1\nfaults: [x_hold: 5parsec]",
    "a wrong rate": "version: 1\nfaults: [x_respond: {rate: 5}]",
    "a missing at": "version: 1\nfaults: [x_cut: {then: rst}]",
    "a mapping needed": "version: 1\nfaults: [x_cut: rst]",
    "at where none is": "version: 1\nfaults: [x_hold: {at: end}]",
    "an unknown moment": "version: 1\nfaults: [x_cut: {at: ended}]",
    "an unknown ending": "version: 1\nfaults: [x_cut: {at: end, then: reset}]",
    "an unknown code": "version: 1\nfaults: [x_cut: {at: end, then: {stream: CANCLE}}]",
    "event 0": "version: 1\nfaults: [x_cut: {at: {event: 0}}]",
    "an unknown choice": "version: 1\nfaults: [x_hold: {on_abort: flash}]",
    "probability": "version: 1\nprobability: 2\nfaults: []",
    "nth": "version: 1\nnth: 0\nfaults: []",
    "match of a connection": "version: 1\nconnections: [{match: {path: /a}, faults: []}]",
    "deep in rules": "version: 1\nrules: [{hops: [{faults: [x_hold: {byts: 1}]}]}]",
}


@functools.cache
def described():
    """Of the faults that every test here has."""
    schema = describe.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture
def validator():
    return described()


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_what_loads_is_accepted(text, validator):
    assert examine(text)[1] == ()
    validator.validate(yaml.safe_load(text))


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_is_wrong_is_refused(text, validator):
    assert examine(text)[0] is None
    assert not validator.is_valid(yaml.safe_load(text))


def test_faults_and_their_fields_are_described_in_their_own_words():
    fault = describe.schema()["$defs"]["fault"]["properties"]["x_hold"]
    assert fault["description"] == "Holds until enough has come."
    mapping = describe.schema()["$defs"]["x_hold"]["properties"]
    assert mapping["bytes"]["description"] == "How much."


def test_every_reference_leads_somewhere():
    schema = describe.schema()
    text = json.dumps(schema)
    names = {part.split('"')[0] for part in text.split('"#/$defs/')[1:]}
    assert names <= schema["$defs"].keys()
