"""`mutate`: a record arrives otherwise than it was sent.

Imitates a converter between two interfaces that loses a field, a gateway that writes events without the blank behind the
colon, a model that answers in characters which are line ends to some readers, a stream that ends without its last blank
line, a bit that fell over.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaosproxy.chain.edited import Edited
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.mutating import Change, inserting, replacement_problem, replacing, rewriting
from chaosproxy.faults.octets import Octets, octets, octets_problem
from chaosproxy.faults.on_records import no_record_at
from chaosproxy.faults.overwriting import Overwriting
from chaosproxy.faults.putting import Putting
from chaosproxy.framing.seam import Seam
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Data, RequestHead, ResponseHead
from chaosproxy.model.units import Count
from chaosproxy.model.vocabulary import Way

_FORMS = ("replace", "insert", "bytes", "json", "delete", "strip_tail")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Mutate(FaultSpec):
    """Changes the record that `at` names; without it each. At `{bytes: N}` right behind that byte, in any body: `insert`
    puts bytes in there, `bytes` writes over those that follow. All others stay as they are."""

    name: ClassVar[str] = "mutate"
    has_at: ClassVar[bool] = True
    without_at: ClassVar[str] = "each record"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    edits_body: ClassVar[bool] = True
    rewrites_body: ClassVar[bool] = True

    replace: tuple[tuple[str, bytes], ...] = ()
    """A mapping of regular expressions to texts, in RE2's syntax: every match in the record's raw text, names of fields and
    line ends too, is replaced; `\\1` is the first group. Of a gRPC message in what it holds."""
    insert: Octets | None = None
    """Bytes put in as they stand, in the middle of the answer's text in the record's JSON, else of all it carries."""
    into: str | None = None
    """With `insert`: the dotted path of the JSON text in whose middle they stand."""
    bytes: Octets | None = None
    """Bytes that stand in the place of the whole record, its line ends too."""
    json: tuple[tuple[str, object], ...] = ()
    """A mapping of dotted paths to values: these members of the record's JSON are set, or added. All else stays, to the
    last blank."""
    delete: tuple[str, ...] = ()
    """Dotted paths: these members of the record's JSON are taken out."""
    strip_tail: Count | None = None
    """Takes so many bytes off the end of the record, its line ends among them: 1 is the LF of an event's blank line, 2 also
    that of its last one. Of a gRPC message the prefix stays."""

    @property
    def _raw(self) -> bool:
        """It acts at a byte, not on a record."""
        return self.at is not None and self.at.bytes is not None and (self.insert is not None or self.bytes is not None)

    @property
    def edits(self) -> bool:
        return not (self._raw and self.bytes is not None)

    @property
    def reads_records(self) -> bool:
        return not self._raw and (self.at is None or self.at.chunk is None)

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found = [*no_record_at(self.at), *octets_problem("insert", self.insert)]
        if self.bytes != b"":  # nothing in the place of a record is `drop`, but may be meant
            found += octets_problem("bytes", self.bytes)
        given = [key for key in _FORMS if getattr(self, key) not in (None, ())]
        if not given:
            found.append(((), f"nothing to change; expected one of {', '.join(_FORMS)}"))
        if len(given) > 1:
            found.append(((given[1],), f"beside `{given[0]}`; expected exactly one of {', '.join(_FORMS)}"))
        if self.into is not None and self.insert is None:
            found.append((("into",), "only `insert` has a place inside of the record"))
        for pattern, replacement in self.replace:
            if wrong := replacement_problem(pattern, replacement):
                found.append((("replace", pattern), wrong))
        paths = [("json", path) for path, _ in self.json] + [("delete", path) for path in self.delete]
        found += [((key,), f"the path {path!r} has an empty part") for key, path in paths if not all(path.split("."))]
        return found

    def start(self, context: Context) -> Fault:
        if self._raw and self.at is not None:
            if self.insert is not None:
                return Inserting(self, context)
            return Overwriting(self.at, octets(self.bytes or b""))
        return RunningMutate(self, context)

    def change(self, kind: RecordKind) -> Change:
        """What becomes of one record."""
        if self.replace:
            return replacing(self.replace, kind)
        if self.insert is not None:
            return inserting(octets(self.insert), self.into, kind)
        if self.bytes is not None:
            new = octets(self.bytes)
            return lambda _: new
        if self.strip_tail is not None:
            return partial(_without_tail, self.strip_tail)
        return rewriting(self.json, self.delete, kind)


def _without_tail(nbytes: int, raw: bytes) -> bytes:
    return raw[:-nbytes]


class RunningMutate(Edited):
    """Rests up to the record, and changes it when it has ended."""

    def __init__(self, spec: Mutate, context: Context) -> None:
        super().__init__(spec.at, context)
        self._spec = spec
        self._change: Change | None = None
        self._said_once = False

    def fits(self, head: ResponseHead | RequestHead) -> bool:
        kind = self.kind if self._at.chunk is None else "chunks"
        assert kind is not None
        if kind == "grpc" and (self._spec.json or self._spec.delete or self._spec.into is not None):
            self.unfired = "format"
            return False
        self._change = self._spec.change(kind)
        return True

    def edit(self, raw: bytes) -> bytes:
        if not self.means(raw):
            return raw
        assert self._change is not None
        new = self._change(raw)
        if new == raw:
            self.unfired = "nothing to change"
        elif self._spec.at is not None:
            self.say(f"changed {self.place}")
        elif not self._said_once:
            self._said_once = True
            self.say("changed records")
        return new


class Inserting(Putting):
    """Bytes at a byte."""

    what = "inserted bytes"

    def __init__(self, spec: Mutate, context: Context) -> None:
        super().__init__(spec.trigger, context)
        self._new = octets(spec.insert or b"")

    def suits(self, family: RecordKind | None) -> bool:
        return True

    def put(self, seam: Seam | None) -> Data:
        return Data(self._new) if seam is None else seam.put(self._new)
