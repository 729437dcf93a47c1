"""Hostile text becomes a problem with a place, quickly, whatever it is."""

import errno
import io
import os
import threading
import time
import tracemalloc

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.errors import ScenarioError
from chaosproxy.scenario import source
from chaosproxy.scenario.load import examine, load
from chaosproxy.scenario.nodes import Items, Mapping, Scalar
from chaosproxy.scenario.source import compose
from chaosproxy.scenario.trouble import Trouble, Unreadable


@pytest.fixture(params=["CBaseLoader", "BaseLoader"])
def parser(request, monkeypatch):
    """Both parsers of PyYAML: wheels without libyaml exist."""
    loader = getattr(yaml, request.param, None)
    if loader is None:
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(source, "_PARSER", loader)
    return request.param


BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
)
HOSTILE = {
    "empty": b"",
    "blank": b"  \n\n",
    "a comment": b"# nothing\n",
    "a document mark": b"---\n",
    "null": b"~",
    "a scalar": b"hello",
    "a number": b"5",
    "a list": b"- a\n- b\n",
    "alias bomb": BOMB.encode(),
    "alias bomb in a list": ("x: [" + "&a [1,2,3], " + "*a, " * 9000 + "]").encode(),
    "recursive list": b"a: &a [*a]",
    "recursive mapping": b"a: &a {b: *a}",
    "recursive deeper": b"a: &a [[[{b: [*a]}]]]",
    "recursive key": b"&a {*a : 1}",
    "an alias without anchor": b"a: *b",
    "an alias before its anchor": b"a: *b\nb: &b 1",
    "deep by alias": b"a: &a " + b"[" * 40 + b"]" * 40 + b"\nb: " + b"[" * 40 + b"*a" + b"]" * 40,
    "a merge key": b"a: &a {version: 1}\n<<: *a\n",
    "a merge of a list": b"version: 1\n<<: [{a: 1}]\n",
    "deep flow lists": b"[" * 5000 + b"]" * 5000,
    "deep flow lists, open": b"[" * 5000,
    "deep flow mappings": b"{a: " * 5000,
    "deep block lists": b"- " * 5000 + b"a",
    "deep block mappings": "\n".join(" " * n + "a:" for n in range(500)).encode(),
    "deep question marks": b"? " * 3000 + b"a",
    "65 levels": b"version: 1\nrules: " + b"[" * 65 + b"]" * 65,
    "many keys": "\n".join(f"k{n}: {n}" for n in range(60_000)).encode(),
    "many values": b"[" + b"1," * 100_000 + b"]",
    "many anchors": "\n".join(f"- &a{n} x" for n in range(60_000)).encode(),
    "many comments": b"#\n" * 300_000,
    "many blank lines": b"\n" * 1_000_000,
    "many documents": b"---\na\n" * 1000,
    "two documents": b"version: 1\n---\nversion: 1\n",
    "too large": b"version: 1\n" + b"#" * 2**20,
    "far too large": b"a" * 10_000_000,
    "a huge scalar": b"name: " + b"a" * 1_000_000,
    "a huge quoted scalar": b'version: 1\nname: "' + b"a" * 1_000_000 + b'"x',
    "a huge key": b"a" * 1_000_000 + b": 1",
    "a key of 2000": b"version: 1\n" + b"a" * 2000 + b": 1",
    "a huge line of keys": b"{" + b"a: 1, " * 15_000 + b"}",
    "duplicate keys": b"version: 1\nseed: 1\nseed: 2\n",
    "duplicate version": b"version: 1\nversion: 1\n",
    "duplicate by spelling": b'version: 1\n"version": 1\n',
    "duplicate deep": b"version: 1\nrules:\n- match: {path: /a, path: /b}\n",
    "NUL": b"version: 1\nname: a\x00b\n",
    "NUL alone": b"\x00",
    "escape character": b"version: 1\nname: \x1b[2J\n",
    "bell": b"version: 1\n\x07",
    "DEL": b"version: 1\nname: \x7f\n",
    "C1 control": "version: 1\nname: \x9b\n".encode(),
    "a noncharacter": "version: 1\nname: \uffff\n".encode(),
    "UTF-16 with a mark": "version: 1\n".encode("utf-16"),
    "UTF-16 big endian": b"\xfe\xff" + "version: 1\n".encode("utf-16-be"),
    "UTF-16 without a mark": "version: 1\n".encode("utf-16-le"),
    "UTF-32": "version: 1\n".encode("utf-32"),
    "latin-1": "version: 1\nname: caf\xe9\n".encode("latin-1"),
    "overlong UTF-8": b"version: 1\nname: \xc0\xaf\n",
    "surrogate in UTF-8": b"version: 1\nname: \xed\xa0\x80\n",
    "cut UTF-8": b"version: 1\nname: \xe2\x82",
    "a mark in the middle": "version: 1\n\ufeffname: a\n".encode(),
    "surrogate escape": b'version: 1\nname: "\\ud800"\n',
    "huge escape": b'version: 1\nname: "\\UFFFFFFFF"\n',
    "beyond unicode": b'version: 1\nname: "\\U00110000"\n',
    "bad escape": b'version: 1\nname: "\\q"\n',
    "short escape": b'version: 1\nname: "\\x1"\n',
    "python object": b"!!python/object/apply:os.system ['true']",
    "python name": b"version: 1\nname: !!python/name:os.system\n",
    "python tuple": b"version: 1\nrules: !!python/tuple []\n",
    "local tag": b"version: 1\nname: !mine x\n",
    "own tag handle": b"%TAG !e! tag:example.com,2000:\n---\nversion: !e!x 1\n",
    "undefined tag handle": b"version: !e!x 1\n",
    "verbatim tag": b"version: !<tag:yaml.org,2002:python/none> 1\n",
    "timestamp tag": b"version: 1\nname: !!timestamp 2026-99-99\n",
    "binary tag": b"version: 1\nname: !!binary aGk=\n",
    "set tag": b"version: 1\nmatch: !!set {a}\n",
    "omap tag": b"version: 1\nrules: !!omap []\n",
    "map tag on a list": b"version: 1\nrules: !!map []\n",
    "seq tag on a mapping": b"version: 1\nmatch: !!seq {}\n",
    "int tag on a word": b"version: !!int one\n",
    "bool tag on no": b"version: 1\nname: !!bool no\n",
    "5000 digits": b"version: 1\nseed: " + b"9" * 5000,
    "5000 hexadecimal digits": b"version: 1\nseed: 0x" + b"f" * 5000,
    "beyond 2^53": b"version: 1\nseed: 9007199254740993\n",
    "infinite": b"version: 1\nseed: .inf\n",
    "not a number": b"version: 1\nprobability: .nan\nfaults: []\n",
    "overflow": b"version: 1\nprobability: 1e999\nfaults: []\n",
    "a tab as indentation": b"version: 1\nmatch:\n\tpath: /a\n",
    "a colon too many": b"version: 1\nname: a: b\n",
    "an open quote": b'version: 1\nname: "a\n',
    "an open quote 2": b"version: 1\nname: 'a\n",
    "an open list": b"version: 1\nrules: [1, 2\n",
    "an open mapping": b"version: 1\nmatch: {a: 1\n",
    "a stray bracket": b"version: 1\nname: ]\n",
    "a stray brace": b"version: 1\n}\n",
    "wrong indentation": b"version: 1\n  name: a\n",
    "wrong indentation 2": b"version: 1\nmatch:\n    path: /a\n  method: b\n",
    "a reserved character": b"version: 1\nname: @x\n",
    "a backquote": b"version: 1\nname: `x`\n",
    "a percent": b"version: 1\nname: %x\n",
    "a list in a mapping": b"version: 1\n- a\n",
    "a directive": b"%FOO\nversion: 1\n",
    "a wrong version directive": b"%YAML 9.9\n---\nversion: 1\n",
    "two version directives": b"%YAML 1.1\n%YAML 1.1\n---\nversion: 1\n",
    "huge version directive": b"%YAML 1." + b"9" * 5000 + b"\n---\nversion: 1\n",
    "a block scalar with a wrong indicator": b"version: 1\nname: |0\n  a\n",
    "a block scalar with rubbish": b"version: 1\nname: |x\n  a\n",
    "two anchors": b"version: 1\nname: &a &b x\n",
    "an empty anchor": b"version: 1\nname: & x\n",
    "an empty alias": b"version: 1\nname: * x\n",
    "a list as a key": b"version: 1\n[a]: 1\n",
    "a mapping as a key": b"version: 1\n{a: 1}: 1\n",
    "a complex key": b"version: 1\n? - a\n: 1\n",
    "an alias to a list as a key": b"version: 1\nrules: &a []\n*a : 1\n",
    "a key without value": b"version: 1\nmatch: {path}\nfaults: []\n",
    "a null key": b"version: 1\n~: 1\n",
    "an empty key": b"version: 1\n: 1\n",
    "no version": b"name: a\n",
    "version 2": b"version: 2\n",
    "version true": b"version: true\n",
    "version in a list": b"version: [1]\n",
    "rules a mapping": b"version: 1\nrules: {a: 1}\n",
    "rules of scalars": b"version: 1\nrules: [1, a, null, [1]]\n",
    "hops of scalars": b"version: 1\nhops: [1, a, null, [1]]\n",
    "faults of scalars": b"version: 1\nfaults: [1, a, null, [1], {}]\n",
    "many wrong faults": b"version: 1\nfaults: [" + b"bufer: 1, " * 9000 + b"]",
    "many unknown keys": b"version: 1\n" + "".join(f"k{n}: 1\n" for n in range(9000)).encode(),
    "variables without end": b"version: 1\nname: ${A\n",
    "a variable in a variable": b"version: 1\nname: ${A:-${B}}\n",
    "a variable without name": b"version: 1\nname: ${}\n",
    "a variable with a hyphen": b"version: 1\nname: ${a-b}\n",
    "an unset variable": b"version: 1\nname: ${NOT_SET_ANYWHERE}\n",
    "many variables": b"version: 1\nabout: " + b"${LONG}" * 100_000,
    "a control by variable": b"version: 1\nname: ${CONTROL}\n",
    "rubbish": bytes(range(256)) * 100,
}


def examine_file(tmp_path, content):
    file = tmp_path / "hostile.yaml"
    file.write_bytes(content)
    return examine(file, env={"LONG": "x" * 10_000, "CONTROL": "a\x1bb"})


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused_with_a_place(content, tmp_path, parser):
    began = time.process_time()
    scenario, problems = examine_file(tmp_path, content)
    # The pure parser is ten times slower; what it is given is limited all the same.
    assert time.process_time() - began < (5 if parser == "CBaseLoader" else 40)
    assert scenario is None
    assert 0 < len(problems) <= 101
    for problem in problems:
        assert "hostile.yaml" in str(problem)
        assert problem.message.isprintable()
        assert len(problem.message) < 1000
        assert problem.source.isprintable()
    assert problems[0].line > 0 or "1 MiB" in problems[0].message


@pytest.mark.parametrize(
    "name", ["alias bomb", "many keys", "deep flow lists", "5000 digits", "far too large", "many variables"]
)
def test_hostile_files_take_little_memory(name, tmp_path):
    tracemalloc.start()
    try:
        examine_file(tmp_path, HOSTILE[name])
        assert tracemalloc.get_traced_memory()[1] < 64 * 2**20
    finally:
        tracemalloc.stop()


PLEASANT = {
    "byte order mark": "\ufeffversion: 1\n".encode(),
    "CRLF": b"version: 1\r\nname: a\r\n",
    "CR": b"version: 1\rname: a\r",
    "no line end": b"version: 1",
    "JSON": b'{"version": 1, "name": "a"}',
    "a version directive": b"%YAML 1.2\n---\nversion: 1\n...\n",
    "core tags": b"version: !!int 1\nname: !!str 5\n",
    "comments": b"# a\nversion: 1 # b\n",
    "anchors": b"version: 1\nrules:\n- &a {match: {path: /a}}\n- *a\n",
    "unicode": "version: 1\nabout: caf\xe9 \U0001f600\n".encode(),
    "64 levels": b"version: 1\nmatch: {json: {a: " + b"[" * 61 + b"]" * 61 + b"}}\nfaults: []\n",
}


@pytest.mark.parametrize("content", PLEASANT.values(), ids=PLEASANT)
def test_pleasant_files_are_read(content, tmp_path, parser):
    scenario, problems = examine_file(tmp_path, content)
    assert problems == ()
    assert scenario is not None


@settings(max_examples=200)
@given(st.text(max_size=200) | st.text("[]{}:,-?&*!|>'\"%@` \n\tab01~#$", max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        compose(text, trouble := Trouble("x", text))
    except Unreadable:
        assert trouble.refused


@settings(max_examples=150)
@given(st.binary(max_size=100))
def test_any_file_is_read_or_refused(tmp_path_factory, content):
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(content)
    scenario, problems = examine(file, env={})
    assert (scenario is None) == bool(problems)


def test_places_count_from_one(parser):
    root = compose("a:\n  - b\n  - {c: d}\n", Trouble("x"))
    assert isinstance(root, Mapping)
    entry = root.entries["a"]
    assert (entry.place.line, entry.place.column) == (1, 1)
    items = entry.value
    assert isinstance(items, Items)
    assert (items.items[0].place.line, items.items[0].place.column) == (2, 5)
    inner = items.items[1]
    assert isinstance(inner, Mapping)
    value = inner.entries["c"].value
    assert isinstance(value, Scalar)
    assert (value.place.line, value.place.column) == (3, 9)


def test_keys_are_their_text(parser):
    root = compose("no: 1\n5: 2\n1.50: 3\n.inf: 4\n99999999999999999999: 5\n", trouble := Trouble("x"))
    assert list(root.entries) == ["no", "5", "1.50", ".inf", "99999999999999999999"]
    assert not trouble.refused


def test_a_duplicate_key_names_both_lines():
    _, problems = examine("version: 1\nseed: 1\nname: a\nseed: 2\n")
    assert [(one.line, one.column) for one in problems] == [(4, 1)]
    assert "line 2" in problems[0].message
    assert "line 4" in problems[0].message


def test_the_limit_counts_aliases_as_often_as_they_are_used():
    text = "version: 1\nmatch: {json: {a: &a [" + "1, " * 150 + "], b: [" + "*a, " * 131 + "]}}\nfaults: []\n"
    assert examine(text)[1] == ()
    _, problems = examine(text.replace("*a, ", "*a, *a, "))
    assert "20000 values" in problems[0].message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    seen = []
    thread = threading.Thread(target=lambda: seen.extend(examine(tmp_path / "pipe.yaml")[1]), daemon=True)
    thread.start()
    thread.join(5)
    assert "not a regular file" in seen[0].message


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/dev/zero", "regular file"),
        ("/dev/null", "regular file"),
        (".", "a directory"),
        ("/does/not/exist.yaml", "No such"),
    ],
)
def test_what_is_no_file(path, words):
    _, problems = examine(path)
    assert words in problems[0].message
    assert problems[0].unreadable
    assert problems[0].file == path


def test_a_disk_that_fails_while_it_is_read_is_a_problem(tmp_path, monkeypatch):
    class Broken(io.BytesIO):
        def read(self, size):
            raise OSError(errno.EIO, "Input/output error")

    (tmp_path / "a.yaml").write_text("version: 1\n")
    monkeypatch.setattr("chaosproxy.files.os.fdopen", lambda descriptor, mode, closefd: Broken())
    _, (problem,) = examine(tmp_path / "a.yaml")
    assert (problem.message, problem.unreadable) == ("cannot be read: Input/output error", True)


def test_a_name_with_a_nul_is_refused():
    _, problems = examine("a\0b.yaml")
    assert problems[0].unreadable


def test_a_python_text_beyond_the_limit_is_refused():
    _, (problem,) = examine("version: 1\n" + "#" * 2**20)
    assert problem.message == "larger than 1 MiB"


def test_a_text_with_a_surrogate_is_refused():
    _, (problem,) = examine("version: 1\nname: \ud800\n")
    assert (problem.line, problem.column) == (2, 7)


def test_a_refused_source_raises_with_everything_in_its_text():
    with pytest.raises(ScenarioError) as caught:
        load("version: 1\nsed: 1\nnmae: a\n")
    assert str(caught.value).count("^") == 2


@pytest.mark.parametrize("content", [b"version: 1\nfaults:\n\t- cut\n", "# ü\r\nfaults:\r\n\t- cut\n".encode()])
def test_a_tab_is_called_one(content, tmp_path, parser):
    _, (problem,) = examine_file(tmp_path, content)
    assert problem.message == "not YAML: found a tab, which indents nothing in YAML; write blanks"
    assert (problem.line, problem.column) == (3, 1)
