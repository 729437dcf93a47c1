"""Whatever a peer, a journal or a scenario says, a report shows it and does nothing with it: the same page, document,
lines and cells stand around it as around a plain word."""

import re
import unicodedata
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chaosproxy.judging.check import Finding, Verdict
from chaosproxy.report.pages import write
from tests.report.examples import cut, left

BENIGN = "benign"
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</style><svg onload=alert(1)>",
    "\"><svg onload='alert(1)'>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "]]><x/>&lt;&#x3c;&amp;{{7*7}}",
    "<!-- --><!DOCTYPE x><?php ?>",
    "a|b\\|c\\\\|d| --- |",
    "`code` ``more`` ```fence```",
    "```\n```text\n</details>",
    "[x](http://y) ![x](y) <http://y> http://y www.y.z @all #1 :tada: ~~x~~ **x** $x$",
    "::error::boom",
    "\n::error file=a::boom",
    "\r\n::set-output name=a::b",
    "word " * 17 + "::error::boom",
    "word " * 60 + "::error::boom",
    "##[error]boom ##vso[task.setvariable variable=a]b ##teamcity[buildStatus]",
    "\x1b[2J\x1b]8;;http://y\x07x\x1b]52;c;eA==\x07",
    "\x9b31m\x85\x00\x01\x7f\x0b\x0c",
    "\u202eevil\u2066\u2028\u2029\u200f",
    "\ud800\udfff\ufffe\uffff",
    "漢字" * 40,
    "x" * 100_000,
]
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Controls and turns of direction; not the line feeds of our own."""


def filled(view, text):
    """Every text of a record is `text`."""
    for name in (one.name for one in fields(view)):
        value = getattr(view, name)
        if is_dataclass(value):
            filled(value, text)
        elif isinstance(value, list):
            for item in value:
                if is_dataclass(item):
                    filled(item, text)
            if name == "headers":
                setattr(view, name, [[text, text]])
            if name == "removed":
                setattr(view, name, [text])
        elif isinstance(value, str) or name in {"hop_name", "cause"}:
            setattr(view, name, text)
    return view


def report(text, form):
    records = [filled(cut(), text), filled(left(), text)]
    records[0].detail = text
    bad = Finding((2, 3), False, text, ("first_event_out", "end"))
    verdicts = [
        Verdict(text, text, (bad,), text),
        Verdict(text, text, (), text),
        Verdict(text, text, (Finding((2,), True, text),), text),
    ]
    return write(records, verdicts, form, title=text) + write(records, (), form, title=text)


@pytest.fixture(params=HOSTILE, ids=range(len(HOSTILE)))
def hostile(request):
    return request.param


class Tree(HTMLParser):
    """The tags of a page with their attributes, but for the values that tell of an exchange; and its text."""

    def __init__(self, page):
        super().__init__()
        self.nodes = []
        self.code = []
        self.text = ""
        self._in_code = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        told = {"data-status", "data-ending", "value"}
        self.nodes.append((tag, [(name, None if name in told else value) for name, value in attrs]))
        self._in_code = tag in {"script", "style"}

    def handle_endtag(self, tag):
        self.nodes.append(("/" + tag, []))
        self._in_code = False

    def handle_data(self, data):
        if self._in_code:
            self.code.append(data)
        else:
            self.text += data

    def handle_comment(self, data):
        self.nodes.append(("comment", data))

    def handle_decl(self, decl):
        self.nodes.append(("declaration", decl))

    def handle_pi(self, data):
        self.nodes.append(("instruction", data))

    def unknown_decl(self, data):
        self.nodes.append(("section", data))


def test_html_has_the_same_nodes(hostile):
    plain, page = Tree(report(BENIGN, "html")), Tree(report(hostile, "html"))
    assert page.nodes == plain.nodes
    assert page.code == plain.code
    assert not UNSEEN.search(page.text)
    links = {
        value for _, attrs in page.nodes if isinstance(attrs, list) for name, value in attrs if name in {"href", "src"}
    }
    assert links == {"#exchange-2", "#exchange-3"}


def xml_nodes(documents):
    nodes, texts = [], []
    for document in documents.split("<?xml")[1:]:
        for node in ET.fromstring("<?xml" + document).iter():
            nodes.append((node.tag, sorted(node.attrib)))
            texts += [node.text or "", *node.attrib.values()]
    return nodes, "".join(texts)


def test_junit_has_the_same_nodes(hostile):
    nodes, texts = xml_nodes(report(hostile, "junit"))
    assert nodes == xml_nodes(report(BENIGN, "junit"))[0]
    assert not UNSEEN.search(texts)
    report(hostile, "junit").encode()


def tokens(page):
    """What a reader of Markdown finds: kinds, and whatever is neither text nor code."""
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(page):
        found.append((token.type, token.content if token.type == "html_block" else token.info))
        found += [(child.type, child.info) for child in token.children or []]
    return found


def test_markdown_has_the_same_marks(hostile):
    page = report(hostile, "markdown")
    assert tokens(page) == tokens(report(BENIGN, "markdown"))
    assert not UNSEEN.search(page)
    assert not re.search(r"##[a-z]*\[", page)
    assert not any(line.lstrip().startswith("::") for line in page.splitlines())


def test_text_has_no_orders_and_fits(hostile):
    page = report(hostile, "text")
    assert not UNSEEN.search(page)
    assert not re.search(r"##[a-z]*\[", page)
    for line in page.splitlines():
        assert not line.lstrip().startswith("::")
        assert sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in line) <= 80, line
    headings = [line.split()[0] for line in page.splitlines() if line.startswith("#")]
    assert headings == ["#2", "#3", "#2", "#3"]


ANYTHING = st.lists(st.sampled_from(HOSTILE[:-2]) | st.text("<>&'\"`|\\:#[]()*_~!-/ \r\n\t") | st.text(), max_size=6)


@settings(max_examples=10)
@given(ANYTHING.map("".join).filter(bool))
def test_of_any_text_the_same_is_true(text):
    test_html_has_the_same_nodes(text)
    test_junit_has_the_same_nodes(text)
    test_markdown_has_the_same_marks(text)
    test_text_has_no_orders_and_fits(text)


def test_what_is_shown_can_still_be_read():
    for form in ("html", "text", "junit", "markdown"):
        assert "\\x1b[2J" in report("\x1b[2J", form)
    assert "<script>alert(1)</script>" in Tree(report("<script>alert(1)</script>", "html")).text
    assert "`a\\x7cb`" in report("a|b", "markdown")
