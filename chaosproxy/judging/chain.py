"""The check of the whole abort chain: from the client's leaving through the proxy to what the server itself says of its work.

Must not know: how the server is asked.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.journal.evidence import Question
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Check, Finding, found, register
from chaosproxy.judging.leaving import passed_on
from chaosproxy.judging.words import limit
from chaosproxy.model.json_values import at_path
from chaosproxy.model.mask import masked_target
from chaosproxy.model.units import Duration
from chaosproxy.model.validate import authority_problem, target_problem

LARGEST = 1e15
"""No count is beyond it."""
ORIGIN = (
    ("disconnect", "answering"),
    ("engine", "generating"),
    ("scheduler", "running"),
    ("blocks", "kv_blocks_used"),
)
"""The links of the embedded origin, by the number of `/stats` that each brings back to 0."""


def _no_place(stats: str) -> str | None:
    """Why nothing can be asked for there."""
    scheme, mark, rest = stats.partition("://")
    if mark and scheme in {"http", "https"}:
        host, _, path = rest.partition("/")
        return authority_problem(host.encode()) or target_problem(b"GET", f"/{path}".encode())
    if not stats.startswith("/"):
        return "expected a path such as /stats, or a URL"
    return target_problem(b"GET", stats.encode())


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class AbortChain(Check):
    """Where the client leaves before its answer is complete nothing is left of its request: the upstream is told, and the
    numbers of its own account are back at 0. The first that is not names the broken link. It is about clients that left
    while nobody else was being served."""

    name: ClassVar[str] = "abort_chain"
    main: ClassVar[str | None] = "within"
    nothing: ClassVar[str] = (
        "no client left, alone and early enough to be asked about, an upstream that was still answering"
    )

    within: Duration
    """At most so long after the client has left; the upstream is asked then, and a run that ends before has nothing to
    judge."""
    stats: str = "/stats"
    """Where the upstream says in JSON, over HTTP/1.1, what it is at: a path on it, or a URL. Default /stats, as the embedded origin has."""
    links: tuple[tuple[str, str], ...] = ORIGIN
    """From the client inwards: the name of each link, and the dotted path of the number that it brings back to 0. Default
    those of the embedded origin: disconnect, engine, scheduler, blocks."""

    @property
    def question(self) -> Question:
        return Question(self.stats, self.within)

    @property
    def expected(self) -> str:
        return f"nothing left of a request {limit(self.within)} after its client has left"

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found_wrong: list[tuple[tuple[str, ...], str]] = []
        if not self.links:
            found_wrong.append((("links",), "`abort_chain` needs a link to look at"))
        if wrong := _no_place(self.stats):
            found_wrong.append((("stats",), wrong))
        return found_wrong

    def see(self, record: ExchangeRecord) -> Finding | None:
        passed = passed_on(record, self.within)
        if passed is None:
            return None
        told, how = passed
        if not told:
            return found(record, False, f"broken at the proxy: {how}", "client_closed", "fault", "upstream_closed")
        account = record.evidence.accounts.get(self.question) if record.evidence is not None else None
        if account is None or account.others:
            return None  # the run ended before, or the numbers are those of others too
        good, seen = (False, account.problem) if account.problem else self._judged(account.document)
        return found(record, good, f"{how}; {seen}", "client_closed", "upstream_closed")

    def _judged(self, document: object) -> tuple[bool, str]:
        numbers = [(link, path, at_path(document, path)) for link, path in self.links]
        for _, path, number in numbers:
            if not isinstance(number, int | float) or not abs(number) < LARGEST:
                return False, f"no number `{path}` at {masked_target(self.stats)}"
        said = ", ".join(f"{path} {number:g}" for _, path, number in numbers)
        broken = next((link for link, _, number in numbers if number), None)
        after = f"{limit(self.within)} later {said}"
        return broken is None, after if broken is None else f"broken at {broken}: {after}"
