"""Journals of any bytes, and what is made of them: each report is a document in which nothing of a peer's is markup.

Must not know: who draws the bytes.
"""

import io
import json
import re
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from markdown_it import MarkdownIt

from chaosproxy.journal.jsonl import line
from chaosproxy.journal.reader import JournalLines
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.report.pages import WRITERS, write
from tests.fuzz.targets import Target
from tests.report.examples import examples

UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Controls and turns of direction; not the line feeds of our own."""
ORDER = re.compile(r"##[a-z]*\[|^\s*::", re.MULTILINE)
"""What the logs of CI services take for an order."""


class Page(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.nodes: set[str] = set()
        self.links: set[str | None] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.nodes |= {tag, *(f"{tag} {name}" for name, _ in attrs)}
        self.links |= {value for name, value in attrs if name in {"href", "src", "action"}}

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.nodes.add("a comment")

    def unknown_decl(self, data: str) -> None:
        self.nodes.add("a section")


def html_is_ours(page: str) -> None:
    read = Page(page)
    assert read.nodes <= Page(KNOWN["html"]).nodes | OPTIONAL, read.nodes
    assert all(re.fullmatch(r"#exchange-\d+", link or "") for link in read.links), read.links
    assert not UNSEEN.search(read.text)


def junit_is_ours(page: str) -> None:
    known = {(node.tag, *sorted(node.attrib)) for node in ET.fromstring(KNOWN["junit"]).iter()}
    for node in ET.fromstring(page).iter():
        assert (node.tag, *sorted(node.attrib)) in known, node
        assert not UNSEEN.search("".join([node.text or "", *node.attrib.values()]))


def markdown_is_ours(page: str) -> None:
    for token in MarkdownIt("commonmark").enable("table").parse(page):
        kinds = {token.type, *(child.type for child in token.children or [])}
        assert not kinds & {"link_open", "image", "html_inline", "em_open", "strong_open"} - OURS, (kinds, page)
    _text(page)


def text_is_ours(page: str) -> None:
    assert all(columns(line) <= 80 for line in page.split("\n"))
    _text(page)


def columns(line: str) -> int:
    """Of a terminal."""
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in line)
    return len(line) + wide - sum(bool(unicodedata.combining(one)) for one in line)


def _text(page: str) -> None:
    assert not UNSEEN.search(page)
    assert not ORDER.search(page)


KNOWN = {form: write(examples(), (), form, title="x") for form in WRITERS}
OPTIONAL = {"details", "summary"}
OURS = {
    child.type
    for token in MarkdownIt("commonmark").enable("table").parse(KNOWN["markdown"])
    for child in token.children or []
}
JUDGES = {"html": html_is_ours, "junit": junit_is_ours, "markdown": markdown_is_ours, "text": text_is_ours}


def records_in(data: bytes) -> list[ExchangeRecord]:
    """What is read, the same each time; what is no record says why, in a line."""
    problems = list[tuple[int, str]]()
    lines = JournalLines(io.BytesIO(data), lambda number, why: problems.append((number, why)))
    found = list(lines)
    assert [one.as_json() for one in lines] == [one.as_json() for one in found]
    assert len(problems) + len(found) <= data.count(b"\n") + 1
    assert all(0 < number <= data.count(b"\n") + 1 and why.isprintable() for number, why in problems)
    return found


def run(data: bytes) -> None:
    found = records_in(data)
    for record in found:
        again = records_in(line(record).encode() + b"\n")
        assert [one.as_json() for one in again] == [record.as_json()], "written again, it is another"
    for form, judge in JUDGES.items():
        judge(write(found, (), form, title=repr(data[:20])))


TARGETS = {
    "journal": Target(
        "journals and their reports",
        "every line a record or a problem; each report well formed, and nothing in it that a peer could have put there",
        run,
        lambda: [
            b"".join(line(one).encode() + b"\n" for one in examples()),
            *(line(one).encode() for one in examples()),
            json.dumps({"id": 1, "scenario": None, "rule": None, "seed": 1, "started_at": "x", "client": {}}).encode(),
        ],
        (
            b"\n",
            b"{",
            b"}",
            b'"',
            b",",
            b"[",
            b"]",
            b"\\u0000",
            b"\\ud800",
            b"1e400",
            b"NaN",
            b"-",
            b"9" * 30,
            b"null",
            b"<b>",
            b"&",
            b"\\u202e",
        ),
    )
}
