"""`headers`: the machine rewrites header fields as the head passes.

Imitates a gateway that strips what it does not know, a balancer that adds its own, a proxy that says the wrong
Content-Type or sends a field twice. Fields that frame a body or belong to one connection are no business of this fault:
each side of the proxy has its own.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from chaosproxy.chain.actions import FOREVER, Actions, Note
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.header_names import HOST, LENGTH, field, kept, pattern, removal
from chaosproxy.model import headers as fields
from chaosproxy.model.globs import glob
from chaosproxy.model.headers import Headers as Fields
from chaosproxy.model.messages import Event, RequestHead, ResponseHead, without_length
from chaosproxy.model.vocabulary import Way


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Headers(FaultSpec):
    """Sets, adds, removes, repeats and spells fields of the head, in this order: remove, set, add, duplicate, case."""

    name: ClassVar[str] = "headers"
    main: ClassVar[str | None] = None
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    set: Fields = ()
    """Fields with their new values (a list: several lines); in the place of the first of that name, else at the end. The
    name is written as it stands here, in lower case over HTTP/2."""
    add: Fields = ()
    """Fields that are put at the end, whatever there is."""
    remove: tuple[str, ...] = ()
    """Names or globs of fields to take out. A body without its Content-Length is chunked."""
    duplicate: tuple[str, ...] = ()
    """Names or globs of fields to send twice, each line right behind itself."""
    case: Literal["lower", "title"] | None = None
    """How the names of all fields are written on HTTP/1: `content-type` (HAProxy, Envoy) or `Content-Type` (Go's servers)."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if not (self.set or self.add or self.remove or self.duplicate or self.case):
            return [((), "headers needs one of set, add, remove, duplicate, case")]
        found = [
            *((("set", name.decode()), field(name, value, self.way)) for name, value in self.set),
            *((("add", name.decode()), field(name, None, self.way)) for name, _ in self.add),
            *((("remove",), removal(one, self.way)) for one in self.remove),
            *((("duplicate",), pattern(one, self.way)) for one in self.duplicate),
        ]
        hosts = [name.decode() for name, _ in self.set if name.lower() == HOST]
        if len(hosts) > 1 and self.way is Way.REQUEST:
            found.append((("set", hosts[-1]), "a request has exactly one Host (RFC 9112 section 3.2)"))
        return [(path, problem) for path, problem in found if problem]

    def start(self, context: Context) -> Fault:
        return RunningHeaders(self)


class RunningHeaders(Fault):
    """Rests; only the head is shown to it."""

    rest = FOREVER
    sees = (RequestHead, ResponseHead)

    def __init__(self, spec: Headers) -> None:
        self._spec = spec
        self._kept = kept(spec.way)

    def control(self, event: Event, now: float) -> Actions:
        if not isinstance(event, RequestHead | ResponseHead):
            return (event,)
        head = self._rewritten(event)
        if head == event:
            self.unfired = "nothing to change"
            return (event,)
        return (Note("fired", self._detail(event, head)), head)

    def _rewritten(self, head: RequestHead | ResponseHead) -> RequestHead | ResponseHead:
        spec, new = self._spec, self._spec.set
        gone = {name for name, _ in head.headers if self._hit(spec.remove, name)}
        if any(name.lower() == LENGTH for name in gone):
            head = without_length(head)
        if isinstance(head, RequestHead) and head.authority and fields.first(head.headers, HOST) is None:
            # From HTTP/2 the host stands in `:authority` alone (RFC 9113 section 8.3.1), and stays there.
            head = replace(head, authority=fields.first(new, HOST) or head.authority)
            new = fields.without(new, (HOST,))
        headers = tuple(pair for pair in head.headers if pair[0] not in gone)
        for name in dict.fromkeys(name.lower() for name, _ in new):
            headers = _with(headers, name, tuple(pair for pair in new if pair[0].lower() == name))
        headers += spec.add
        twice = tuple(pair for pair in headers for _ in range(2 if self._hit(spec.duplicate, pair[0]) else 1))
        return replace(head, headers=tuple((self._spelt(name), value) for name, value in twice))

    def _spelt(self, name: bytes) -> bytes:
        match self._spec.case:
            case "lower":
                return name.lower()
            case "title":
                return b"-".join(part.capitalize() for part in name.split(b"-"))
            case _:
                return name

    def _hit(self, patterns: Collection[str], name: bytes) -> bool:
        lower = name.decode("latin-1").lower()
        by_name = name.lower() in self._kept  # globs leave it alone
        return any(lower == one.lower() if by_name else glob(one.lower(), lower) for one in patterns)

    def _detail(self, old: RequestHead | ResponseHead, new: RequestHead | ResponseHead) -> str:
        """What has been done, each name once with the number of its lines: `removed server, set via, added link (3)`."""
        spec = self._spec
        gone = sorted(name.lower() for name, _ in old.headers if self._hit(spec.remove, name))
        twice = sorted({name.lower() for name, _ in new.headers if self._hit(spec.duplicate, name)})
        sets, adds = [name for name, _ in spec.set], [name for name, _ in spec.add]
        done = (("removed", gone), ("set", sets), ("added", adds), ("repeated", twice))
        words = [f"{word} {_names(names)}" for word, names in done if names]
        return ", ".join([*words, f"names in {spec.case} case"] if spec.case else words)


def _names(names: Sequence[bytes]) -> str:
    counts = Counter(name.lower() for name in names)
    spelt = {name.lower(): name.decode("latin-1") for name in reversed(names)}  # as it stands first
    return " ".join(spelt[name] if count == 1 else f"{spelt[name]} ({count})" for name, count in counts.items())


def _with(headers: Fields, name: bytes, lines: Fields) -> Fields:
    """The list with `lines` in the place of the first field called `name` (in lower case), or at the end."""
    first = next((at for at, (key, _) in enumerate(headers) if key.lower() == name), len(headers))
    return (*headers[:first], *lines, *fields.without(headers[first:], (name,)))
