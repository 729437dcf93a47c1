"""Mistakes in a scenario, each with the whole of what is said of it: what was found, where, and what to write instead.

Only the first line: the line of the file and the caret below it are tested where they are made.
"""

import os
from pathlib import Path

import pytest
import yaml

from chaosproxy.chain.fault import REGISTRY
from chaosproxy.embedded.setup import read
from chaosproxy.errors import ScenarioError
from chaosproxy.scenario import source
from chaosproxy.scenario.load import examine

FILE = {
    "nothing in it": ("", "1:1: empty; a scenario needs `version: 1` at least"),
    "only a comment": ("# nothing\n", "1:1: empty; a scenario needs `version: 1` at least"),
    "no version": ("faults: []\n", "1:1: `version` is required; write version: 1"),
    "another version": ("version: 2\n", "1:10: version: found the number 2; expected 1"),
    "a list": (
        "- version: 1\n",
        "1:1: found a list; expected a mapping with version, name, about, seed, upstream, rules, connections, expect, match, nth, probability, records, mount, hops, faults, preset",
    ),
    "prose": (
        "hello\n",
        "1:1: found 'hello'; expected a mapping with version, name, about, seed, upstream, rules, connections, expect, match, nth, probability, records, mount, hops, faults, preset",
    ),
    "a colon too many": (
        "version: 1\nname: a: b\n",
        "2:8: not YAML: mapping values are not allowed in this context; a line is indented too far, or a value with `: ` in it needs quotes",
    ),
    "an open quote": (
        'version: 1\nname: "a\nfaults: []\n',
        "2:7: not YAML: while scanning a quoted scalar found unexpected end of stream; a quote is not closed",
    ),
    "an open bracket": (
        "version: 1\nfaults: [cut: {at: {event: 3}}\nseed: 1\n",
        "3:1: not YAML: while parsing a flow sequence did not find expected ',' or ']'; a bracket is not closed, or a value between brackets needs quotes",
    ),
    "an open brace": (
        "version: 1\nmatch: {path: /a\n",
        "2:8: not YAML: while parsing a flow mapping did not find expected ',' or '}'; a bracket is not closed, or a value between brackets needs quotes",
    ),
    "a variable in braces": (
        "version: 1\nfaults:\n  - latency: {delay: ${DELAY}}\n",
        "3:23: not YAML: while parsing a flow mapping did not find expected ',' or '}'; a bracket is not closed, or a value between brackets needs quotes",
    ),
    "a glob without quotes": (
        "version: 1\nmatch: {path: *}\nfaults: []\n",
        "2:16: not YAML: while scanning an alias did not find expected alphabetic or numeric character; a value that begins with `*` needs quotes",
    ),
    "a glob without quotes, a line of its own": (
        "version: 1\nmatch:\n  path: */v1\nfaults: []\n",
        "3:10: not YAML: while scanning an alias did not find expected alphabetic or numeric character; a value that begins with `*` needs quotes",
    ),
    "a tab": (
        "version: 1\nmatch:\n\tpath: /a\n",
        "3:1: not YAML: found a tab, which indents nothing in YAML; write blanks",
    ),
    "indented too far": (
        "version: 1\n  seed: 1\n",
        "2:7: not YAML: mapping values are not allowed in this context; a line is indented too far, or a value with `: ` in it needs quotes",
    ),
    "indented unlike its neighbours": (
        "version: 1\nmatch:\n    path: /a\n  method: GET\nfaults: []\n",
        "4:3: not YAML: while parsing a block mapping did not find expected key; a line is not indented as its neighbours are",
    ),
    "a value that begins with a sign": (
        "version: 1\nname: @home\n",
        "2:7: not YAML: while scanning for the next token found character that cannot start any token; a value that begins so needs quotes",
    ),
    "a list where keys stand": (
        "version: 1\n- cut\n",
        "2:1: not YAML: while parsing a block mapping did not find expected key; a line is not indented as its neighbours are",
    ),
    "two documents": ("version: 1\n---\nversion: 1\n", "2:1: a second document; a file holds one scenario"),
    "a key twice": ("version: 1\nseed: 1\nseed: 2\n", "3:1: the key 'seed' stands twice, in line 2 and in line 3"),
    "an alias without its anchor": ("version: 1\nname: *other\n", "2:7: the alias *other has no anchor before it"),
    "an alias in its own anchor": (
        "version: 1\nrules: &all [*all]\n",
        "2:14: the alias *all stands inside its own anchor",
    ),
    "a merge key": (
        "version: 1\nmatch: &m {path: /a}\nfaults: []\n<<: *m\n",
        "4:1: merge keys (<<) are not part of YAML 1.2; use an alias for a whole value",
    ),
    "a foreign tag": (
        "version: 1\nname: !!python/name:os.system x\n",
        "2:7: the tag '!!python/name:os.system' is not allowed; only !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are",
    ),
    "too deep": ("version: 1\nrules: " + "[" * 65 + "]" * 65, "2:71: nested deeper than 64 levels"),
    "too much": (
        "version: 1\nrules: [" + "1," * 20_000 + "]",
        "2:39999: more than 20000 values, aliases counted as often as they are used",
    ),
    "not UTF-8": ("version: 1\nname: café\n".encode("latin-1"), "2:10: not UTF-8; save it as UTF-8"),
    "UTF-16": ("version: 1\n".encode("utf-16"), "1:1: not UTF-8, it looks like UTF-16; save it as UTF-8"),
    "a binary": (b"\x7fELF\x02\x01\x01\x00\x00", "1:1: the character '\\x7f' may not stand in YAML"),
    "a control character": ("version: 1\nname: \x1b[2J\n", "2:7: the character '\\x1b' may not stand in YAML"),
    "a misspelt key": (
        "verison: 1\nfaults: []\n",
        "1:1: unknown key 'verison'; did you mean 'version'? allowed: version, name, about, seed, upstream, rules, connections, expect, match, nth, probability, records, mount, hops, faults, preset",
    ),
    "a misspelt key inside": (
        "version: 1\nrules:\n- match: {pth: /a}\n",
        "3:11: unknown key 'pth'; did you mean 'path'? allowed: method, path, query, headers, json, protocol",
    ),
    "a misspelt fault": (
        "version: 1\nfaults:\n  - bufer: 4KiB\n",
        "3:5: unknown fault 'bufer'; did you mean 'buffer'? known: " + ", ".join(sorted(REGISTRY)),
    ),
    "a fault without its parameters": (
        "version: 1\nfaults:\n  - cut\n",
        "3:5: found 'cut'; a fault is a mapping with one key, its name; write cut: ...",
    ),
    "parameters not indented": (
        "version: 1\nfaults:\n  - cut:\n    at: {event: 3}\n",
        "3:5: found a mapping with 2 keys; a fault is a mapping with one key, its name; are the parameters indented below the name?",
    ),
    "a fault that is no list": (
        "version: 1\nfaults:\n  cut: {at: {event: 3}}\n",
        "3:3: faults: found a mapping; expected a list, with `- ` before each item",
    ),
    "a duration without unit": (
        "version: 1\nfaults:\n  - latency: {delay: 5}\n",
        "3:22: delay: found the number 5: a number without a unit is no duration; expected a duration: 250ms, 1.5s, 2m, 1h or forever",
    ),
    "a size for a duration": (
        "version: 1\nfaults:\n  - latency: {delay: 5KiB}\n",
        "3:22: delay: found '5KiB'; expected a duration: 250ms, 1.5s, 2m, 1h or forever",
    ),
    "a duration for a size": (
        "version: 1\nfaults:\n  - buffer: 5s\n",
        "3:13: buffer: found '5s'; expected a size: 512, 4KiB, 64k or 1MiB",
    ),
    "a size for a rate": (
        "version: 1\nfaults:\n  - bandwidth: 32KiB\n",
        "3:16: bandwidth: found '32KiB'; expected a rate: 32KiB/s",
    ),
    "a negative duration": (
        "version: 1\nfaults:\n  - latency: {delay: -5ms}\n",
        "3:22: delay: found '-5ms'; expected a duration: 250ms, 1.5s, 2m, 1h or forever",
    ),
    "a hundred years": (
        "version: 1\nfaults:\n  - stall: {for: 40000d}\n",
        "3:18: for: found '40000d': longer than ten years; expected a duration: 250ms, 1.5s, 2m, 1h or forever",
    ),
    "half an event": (
        "version: 1\nfaults:\n  - cut: {at: {event: 1.5}}\n",
        "3:23: event: found the number 1.5; expected a whole number, 1 or more",
    ),
    "event 0": (
        "version: 1\nfaults:\n  - cut: {at: {event: 0}}\n",
        "3:23: event: found the number 0; expected a whole number, 1 or more",
    ),
    "two places": (
        "version: 1\nfaults:\n  - cut: {at: {event: 3, bytes: 2}}\n",
        "3:15: at: found event and bytes; expected exactly one of event, bytes, chunk, time, idle, match, json, terminal",
    ),
    "a place as a word": (
        "version: 1\nfaults:\n  - cut: {at: event}\n",
        "3:15: at: found 'event': write {event: ...}; expected one of request, request_end, headers, body, end, after_end, or a mapping with one of event, bytes, chunk, time, idle, match, json, terminal",
    ),
    "times without every": (
        "version: 1\nfaults:\n  - stall: {for: 1s, at: {event: 1, times: 3}}\n",
        "3:44: times: `times` needs `every`, which says how far apart",
    ),
    "a wrong regular expression": (
        "version: 1\nfaults:\n  - cut: {at: {match: '('}}\n",
        "3:23: match: found '(': missing ): (; expected a regular expression in RE2's syntax",
    ),
    "no place": (
        "version: 1\nfaults:\n  - cut: {then: rst}\n",
        "3:5: `at` is required; write at: {event: 3}, or another place",
    ),
    "no such ending": (
        "version: 1\nfaults:\n  - cut: {at: body, then: reset}\n",
        "3:27: then: found 'reset'; did you mean 'rst'? expected abort, clean, end_stream, fin, rst, fin_mid_chunk, no_close_notify, silence, {stream: CODE}, {goaway: CODE} or {status: NUMBER}",
    ),
    "no such code": (
        "version: 1\nfaults:\n  - cut: {at: body, then: {stream: CANCELED}}\n",
        "3:36: stream: found 'CANCELED'; did you mean 'CANCEL'? expected an HTTP/2 error code: a number, or one of NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM, INADEQUATE_SECURITY, HTTP_1_1_REQUIRED",
    ),
    "probability 2": (
        "version: 1\nprobability: 2\nfaults: []\n",
        "2:14: probability: found the number 2; expected a number from 0 to 1",
    ),
    "the 0th request": (
        "version: 1\nnth: 0\nfaults: []\n",
        '2:6: nth: found the number 0: counting starts at 1; expected a number from 1, a range 2-4 or "3-", "every 3", or a list of these',
    ),
    "an empty range": (
        "version: 1\nnth: 4-2\nfaults: []\n",
        '2:6: nth: found \'4-2\': the range 4-2 is empty; expected a number from 1, a range 2-4 or "3-", "every 3", or a list of these',
    ),
    "a path without its slash": (
        "version: 1\nmatch: {path: v1}\nfaults: []\n",
        "2:15: path: found 'v1'; expected a glob over the path, beginning with / or *",
    ),
    "a path with a query": (
        "version: 1\nmatch: {path: /v1?stream=true}\nfaults: []\n",
        "2:15: path: found '/v1?stream=true': write the query under `query`; expected a glob over the path alone",
    ),
    "a rule without faults": (
        "version: 1\nmatch: {path: /a}\n",
        "2:1: a rule in the short form needs `faults`, `hops` or `preset`",
    ),
    "faults beside hops": (
        "version: 1\nfaults: []\nhops: []\n",
        "2:1: `faults` is one unnamed hop; it cannot stand beside `hops`",
    ),
    "faults beside rules": (
        "version: 1\nfaults: []\nrules: []\n",
        "2:1: `faults` at top level makes the file one rule; it cannot stand beside `rules`",
    ),
    "a buffer of nothing": (
        "version: 1\nfaults:\n  - buffer: {}\n",
        "3:13: buffer needs one of bytes, events, every, until_end",
    ),
    "a threshold above the room": (
        "version: 1\nfaults:\n  - buffer: {bytes: 8KiB, limit: 4KiB}\n",
        "3:34: a threshold of 8KiB can never be reached with a limit of 4KiB",
    ),
    "a timeout of nothing": (
        "version: 1\nfaults:\n  - timeout: {}\n",
        "3:14: timeout needs one of first_byte, first_event, between_bytes, response, idle, total, blocked",
    ),
    "records behind a coding": (
        "version: 1\nfaults:\n  - compress: gzip\n  - cut: {at: {event: 3}}\n",
        "4:5: `cut` reads records, but `compress` before it codes the body; put it before `compress`",
    ),
    "a header that breaks the wire": (
        'version: 1\nfaults:\n  - headers: {set: {x-a: "1\\r\\nx-b: 2"}}\n',
        "3:26: x-a: field 'x-a' has NUL, CR or LF in its value",
    ),
    "a path for a connection": (
        "version: 1\nconnections:\n  - match: {path: /a}\n    faults: []\n",
        "3:13: unknown key 'path'; allowed: side, number, protocol, sni",
    ),
    "a hop's fault for a connection": (
        "version: 1\nconnections:\n  - faults: [buffer: 4KiB]\n",
        "3:14: `buffer` cannot act on a whole connection; it stands in a hop",
    ),
    "records for a connection": (
        "version: 1\nconnections:\n  - faults: [cut: {at: {event: 3}}]\n",
        "3:24: a connection has no records; use bytes or time",
    ),
    "a preset": (
        "version: 1\nhops:\n  - preset: nginx-2\n",
        "3:13: unknown preset 'nginx-2'; did you mean 'nginx-1.22'? `chaosproxy scenarios presets` lists them",
    ),
    "the value of a preset's parameter": (
        "version: 1\nhops:\n  - {preset: nginx-1.22, proxy_read_timeout: 60}\n",
        "3:46: proxy_read_timeout: found the number 60: a number without a unit is no duration; expected a duration: 250ms, 1.5s, 2m, 1h or forever",
    ),
    "an expectation without its limit": (
        "version: 1\nexpect: [head]\n",
        "2:10: `within` is required",
    ),
    "an expectation of a fault that is not there": (
        "version: 1\nfaults: [cut: {at: end}]\nexpect:\n  - fired: ct\n",
        "4:12: no fault of this scenario is called 'ct'; did you mean 'cut'? there are: cut",
    ),
    "an expectation of a fault elsewhere": (
        "version: 1\nhops: [{name: a, faults: [cut: {at: end}]}]\nexpect:\n  - fired: {fault: cut, hop: nginx}\n",
        "4:12: no 'cut' of this scenario is in a hop called 'nginx'; there are: a, cut",
    ),
    "65 faults": (
        "version: 1\nfaults: [" + "buffer: 1KiB, " * 65 + "]",
        "2:906: a rule has at most 64 faults; here are 65",
    ),
    "an unset variable": (
        "version: 1\nfaults:\n  - buffer: ${CHAOS_SIZE}\n",
        "3:13: the environment variable CHAOS_SIZE is not set, and ${CHAOS_SIZE} has no default (${CHAOS_SIZE:-default})",
    ),
    "a variable without a name": (
        "version: 1\nname: ${}\n",
        "2:7: write ${NAME} or ${NAME:-default}, or $${ for the two characters themselves",
    ),
    "a variable that is no size": (
        "version: 1\nfaults:\n  - buffer: ${HOME}\n",
        "3:13: buffer: found what '${HOME}' stands for; expected a size: 512, 4KiB, 64k or 1MiB",
    ),
    "an outer hop that waits longer": (
        "version: 1\nhops:\n- faults: [timeout: {idle: 30s}]\n- faults: [timeout: {idle: 60s}]\n",
        "4:28: idle: this outer hop waits 1m, longer than the 30s of an inner hop (line 3), which will always be first",
    ),
}
"""What a file holds, and what is said of it, from the line's number on."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*sources, **env):
    """The first line of each problem."""
    return [str(problem).splitlines()[0] for problem in examine(*sources, env=env)[1]]


@pytest.mark.skipif(source._PARSER is yaml.BaseLoader, reason="libyaml has words of its own, and is not there")
@pytest.mark.parametrize(("text", "expected"), FILE.values(), ids=FILE)
def test_one_mistake_in_a_file(text, expected):
    Path("s.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert said(Path("s.yaml"), HOME="/home/x") == [f"s.yaml:{expected}"]


def test_what_is_no_file(folder):
    (folder / "folder.yaml").mkdir()
    assert said("absent.yaml") == ["absent.yaml: cannot be read: No such file or directory"]
    assert said("folder.yaml") == ["folder.yaml: cannot be read: a directory; name a file in it"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_is_not_ours_to_read(folder):
    Path("secret.yaml").touch(0o000)
    assert said("secret.yaml") == ["secret.yaml: cannot be read: Permission denied"]


def test_a_name_that_nothing_is_called():
    listed = "`chaosproxy scenarios` lists them"
    assert said("idle-dorp") == [
        f"idle-dorp: no file and no shipped scenario is called 'idle-dorp'; did you mean 'idle-drop'? {listed}"
    ]
    assert said("zzz") == [f"zzz: no file and no shipped scenario is called 'zzz'; {listed}"]


def test_files_that_disagree():
    Path("a.yaml").write_text("version: 1\nseed: 1\nupstream: {host: keep}\n")
    Path("b.yaml").write_text("version: 1\nupstream: {host: upstream}\nseed: 2\n")
    assert said("a.yaml", "b.yaml") == [
        "b.yaml:2:18: host: two different values, 'keep' in a.yaml and 'upstream' here; leave one out",
        "b.yaml:3:7: seed: two different values, 1 in a.yaml and 2 here; leave one out",
    ]


def test_expectations_alone_may_be_about_any_fault():
    Path("a.yaml").write_text("version: 1\nexpect: [{fired: c*}]\n")
    Path("b.yaml").write_text("version: 1\nfaults: [cut: {at: end}]\n")
    Path("c.yaml").write_text("version: 1\nfaults: [stall: {for: 1s}]\n")
    assert said("a.yaml") == said("a.yaml", "b.yaml") == said("b.yaml", "a.yaml") == []
    assert said("a.yaml", "c.yaml") == ["a.yaml:2:18: no fault of this scenario is called 'c*'; there are: stall"]


STRUCTURE = {
    "a number": (7, "a scenario is a name, a path, YAML text or a mapping; found int"),
    "a mistake inside": (
        {"version": 1, "faults": [{"stall": {"at": "body", "for": 5}}]},
        "faults[0].stall.for: found the number 5: a number without a unit is no duration; expected a duration: 250ms, 1.5s, 2m, 1h or forever",
    ),
    "no version": ({"faults": []}, "`version` is required; write version: 1"),
    "an object": (
        {"version": 1, "name": Path("x")},
        "name: a scenario holds no PosixPath; only strings, numbers, true, false, null, lists and mappings",
    ),
    "not a number": (
        {"version": 1, "probability": float("nan"), "faults": []},
        "probability: a number that is not finite or beyond 2^53",
    ),
    "a key that is no word": (
        {"version": 1, "rules": [{"match": {"a b": "c"}, "faults": []}]},
        "rules[0].match['a b']: unknown key 'a b'; allowed: method, path, query, headers, json, protocol",
    ),
}
"""What a Python structure holds, and what is said of it."""


@pytest.mark.parametrize(("given", "expected"), STRUCTURE.values(), ids=STRUCTURE)
def test_one_mistake_in_a_structure(given, expected):
    with pytest.raises(ScenarioError) as caught:
        read(given)
    assert str(caught.value) == expected
