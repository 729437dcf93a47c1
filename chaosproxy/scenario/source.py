"""YAML text into nodes with their places, or problems; hostile text included.

Rules: at most 1 MiB of UTF-8, one document, 64 levels, 20,000 nodes with every alias counted as often as it is used;
no recursive alias, no key twice, only core tags. PyYAML is used for its events alone, so that a limit is noticed when
it is passed and nothing here recurses. Must not know: what a scenario is.
"""

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Protocol

import yaml

from chaosproxy import files
from chaosproxy.scenario.nodes import DEEPEST, MOST_NODES, Entry, Items, Mapping, Node, Place, Scalar
from chaosproxy.scenario.scalars import CORE, resolve, shown, shown_tag, tagged
from chaosproxy.scenario.trouble import Trouble

LARGEST_FILE = 1024 * 1024

# YAML 1.2 section 5.1: what a stream may hold.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_PARSER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""libyaml's where it is built in: the same events, ten times as fast."""


_USUALLY = {
    "mapping values are not allowed": "a line is indented too far, or a value with `: ` in it needs quotes",
    "cannot start any token": "a value that begins so needs quotes",
    "while scanning an alias": "a value that begins with `*` needs quotes",
    "while scanning an anchor": "a value that begins with `&` needs quotes",
    "while scanning a quoted scalar": "a quote is not closed",
    "while parsing a flow": "a bracket is not closed, or a value between brackets needs quotes",
    "while parsing a block": "a line is not indented as its neighbours are",
}
"""What a parser says, libyaml's and the pure one alike, and which mistake of a person that is."""


class _Mark(Protocol):
    """What both parsers' marks have; counted from 0."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


def read(path: FilePath, trouble: Trouble) -> str:
    """The text of a regular file; Unreadable with its problem noted otherwise."""
    try:
        content = files.read(path, LARGEST_FILE)
    except OSError as error:
        too_large = "" if error.errno == errno.EFBIG else "cannot be read: "
        raise trouble.nowhere(f"{too_large}{error.strerror or error}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = Place(before.count(b"\n") + 1, len(before) - before.rfind(b"\n"))
        hint = ", it looks like UTF-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
        raise trouble.fatal(f"not UTF-8{hint}; save it as UTF-8", place) from error


def compose(text: str, trouble: Trouble) -> Node:
    """The one document in `text`. Raises Unreadable when reading on makes no sense; lesser problems are noted."""
    text = text.removeprefix("\ufeff")
    if len(text) > LARGEST_FILE or len(text.encode("utf-8", "surrogatepass")) > LARGEST_FILE:
        raise trouble.fatal("larger than 1 MiB", Place())
    bad = _FORBIDDEN.search(text)
    if bad is not None:
        before = text[: bad.start()]
        place = Place(before.count("\n") + 1, bad.start() - before.rfind("\n"))
        raise trouble.fatal(f"the character {bad[0]!a} may not stand in YAML", place)
    composer = _Composer(trouble)
    for event in _events(text, trouble):
        composer.feed(event)
    if composer.root is None:
        raise trouble.fatal("empty; a scenario needs `version: 1` at least", Place(1, 1))
    return composer.root


def _events(text: str, trouble: Trouble) -> Iterator[yaml.Event]:
    parser = _PARSER(text)
    reached = Place(1, 1)
    try:
        while parser.check_event():
            event = parser.get_event()
            reached = _place(event.end_mark)
            yield event
    except yaml.MarkedYAMLError as error:
        raise trouble.fatal(*_not_yaml(error, text)) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The pure parser calls int() and chr() on what is written, unchecked.
        raise trouble.fatal(f"not YAML: {shown(str(error))}", reached) from error
    finally:
        parser.dispose()


def _not_yaml(error: yaml.MarkedYAMLError, text: str) -> tuple[str, Place]:
    """The parser's own words with what is usually behind them; of what has no end the place where it begins."""
    mark = error.problem_mark
    assert mark is not None  # both parsers say where they are
    said = " ".join(part for part in (error.context, error.problem) if part)
    if text[mark.index : mark.index + 1] == "\t" and "cannot start any token" in said:
        return "not YAML: found a tab, which indents nothing in YAML; write blanks", _place(mark)
    if error.context_mark is not None and not text[mark.index :].strip():
        mark = error.context_mark
    hint = next((f"; {hint}" for words, hint in _USUALLY.items() if words in said), "")
    return f"not YAML: {said}{hint}", _place(mark)


def _place(mark: _Mark | None) -> Place:
    return Place() if mark is None else Place(mark.line + 1, mark.column + 1)


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    node: Items | Mapping
    anchor: str | None
    key: Scalar | None = None


class _Composer:
    """Events into one tree."""

    def __init__(self, trouble: Trouble) -> None:
        self.root: Node | None = None
        self._trouble = trouble
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        """None while the anchored node is still open."""
        self._nodes = 0

    def feed(self, event: yaml.Event) -> None:
        match event:
            case yaml.DocumentStartEvent() if self.root is not None:
                raise self._trouble.fatal("a second document; a file holds one scenario", _place(event.start_mark))
            case yaml.ScalarEvent():
                node = self._scalar(event)
                if event.anchor is not None:
                    self._anchors[event.anchor] = node
                self._count(1, node.place)
                self._attach(node, node.place)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.CollectionStartEvent():
                self._begin(event)
            case yaml.CollectionEndEvent():
                done = self._open.pop()
                if done.anchor is not None:
                    self._anchors[done.anchor] = done.node
                self._attach(done.node, done.node.place)
            case _:
                pass

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        place = _place(event.start_mark)
        text: str = event.value
        value: object = text
        if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            self._trouble.add("a surrogate is no character", place)
            text = value = "\ufffd"
        try:
            if event.tag is not None:
                value = tagged(text, event.tag)
            elif event.implicit[0]:
                value = resolve(text)
        except ValueError as error:
            # A key is its text whatever it looks like; what is refused here is a value.
            if self._at_key and event.tag is None:
                return Scalar(place, text, text)
            self._trouble.add(str(error), place)
        return Scalar(place, value, text)

    @property
    def _at_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].node, Mapping) and self._open[-1].key is None

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        place = _place(event.start_mark)
        mapping = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in {None, f"{CORE}map" if mapping else f"{CORE}seq"}:
            self._trouble.add(f"the tag {shown_tag(event.tag)} is not allowed here", place)
        if len(self._open) >= DEEPEST:
            raise self._trouble.fatal(f"nested deeper than {DEEPEST} levels", place)
        if self._at_key:
            raise self._trouble.fatal("a key must be a plain word, not a list or a mapping", place)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._open.append(_Open(Mapping(place) if mapping else Items(place), event.anchor))
        self._count(1, place)

    def _alias(self, event: yaml.AliasEvent) -> None:
        place = _place(event.start_mark)
        if event.anchor not in self._anchors:
            raise self._trouble.fatal(f"the alias *{event.anchor} has no anchor before it", place)
        node = self._anchors[event.anchor]
        if node is None:
            raise self._trouble.fatal(f"the alias *{event.anchor} stands inside its own anchor", place)
        if len(self._open) + node.height > DEEPEST:
            raise self._trouble.fatal(f"nested deeper than {DEEPEST} levels by the alias *{event.anchor}", place)
        self._count(node.size, place)
        self._attach(node, place)

    def _count(self, nodes: int, place: Place) -> None:
        self._nodes += nodes
        if self._nodes > MOST_NODES:
            raise self._trouble.fatal(
                f"more than {MOST_NODES} values, aliases counted as often as they are used", place
            )

    def _attach(self, node: Node, place: Place) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if isinstance(parent.node, Items):
            parent.node.items.append(node)
        elif parent.key is None:
            if not isinstance(node, Scalar):
                raise self._trouble.fatal("a key must be a plain word, not a list or a mapping", place)
            parent.key = Scalar(place, node.value, node.text)
            return
        else:
            self._enter(parent.node, parent.key, node)
            parent.key = None
        parent.node.size += node.size
        parent.node.height = max(parent.node.height, node.height + 1)

    def _enter(self, mapping: Mapping, key: Scalar, node: Node) -> None:
        before = mapping.entries.get(key.text)
        if before is not None:
            lines = f"in line {before.place.line} and in line {key.place.line}"
            message = f"the key {shown(key.text)} stands twice, {lines}"
            self._trouble.add(message, key.place)
            return
        mapping.entries[key.text] = Entry(key.place, node)
