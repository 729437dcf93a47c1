"""Which rule takes an exchange: the rules of a scenario with their counters.

Rules: one object per process and reload, used from one thread. `decide` at the request's head; where the answer needs
the body's JSON, `decide_with_json` once it is complete. A rule's counter counts every exchange whose match holds,
whether or not an earlier rule took it, in the order decided; nothing else changes it.
Must not know: sockets, the chain, how faults are run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from chaosproxy.model.globs import glob
from chaosproxy.model.headers import values
from chaosproxy.model.json_values import NOT_JSON, holds
from chaosproxy.model.messages import RequestHead
from chaosproxy.scenario.schema import Expectation, Match, Rule
from chaosproxy.scenario.target import path_of, query_of, strip_mount


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided for one exchange."""

    index: int | None = None
    """The rule's place in the scenario; None: no rule applies, the exchange passes untouched."""
    nth: int = 0
    """How many exchanges, this one included, have matched that rule."""
    rule: Rule | None = None
    mount: str = ""
    """The path prefix to strip; also set where a mounted rule matched the path but does not apply."""
    needs_json: bool = False
    """Nothing is decided or counted yet: hold the request until its body is complete."""
    judged: tuple[int, ...] = ()
    """Which expectations of the scenario are about this exchange, counted from 0."""
    pending: tuple[bool, ...] = ()
    """With `needs_json`: for each rule, then each expectation, whether its match holds as far as the head can tell."""


class Rules:
    """The rules of one scenario, counting; and its expectations, which count for themselves and take nothing."""

    def __init__(self, rules: Sequence[Rule], seed: int, expect: Sequence[Expectation] = ()) -> None:
        self.seed = seed
        self._rules = (*rules, *(Rule(match=one.match, nth=one.nth) for one in expect))
        self._taking = len(rules)
        self.counts = [0] * len(self._rules)
        self._mounts = [rule.mount for rule in rules if rule.mount]

    def decide(self, head: RequestHead, protocol: str) -> Decision:
        """Decide at the head; `protocol` is the client's, `http/1.1` or `h2`."""
        if not self._rules:
            return Decision()
        path = path_of(head.target)
        mount = next((mount for mount in self._mounts if strip_mount(path, mount) is not None), "")
        below = path if not mount else strip_mount(path, mount) or path
        matches = tuple(
            head_matches(rule, head, path if index < self._taking else below, protocol)
            for index, rule in enumerate(self._rules)
        )
        if any(map(self._must_read, range(len(matches)), matches)):
            return Decision(mount=mount, needs_json=True, pending=matches)
        return self._settle(matches, NOT_JSON, mount)

    def decide_with_json(self, decision: Decision, document: object) -> Decision:
        """Finish a decision that `needs_json`; `document` is the body's, or NOT_JSON (longer than 1 MiB, not JSON)."""
        return self._settle(decision.pending, document, decision.mount)

    def _must_read(self, index: int, matches: bool) -> bool:
        # A later rule's counter counts even what an earlier rule takes, so every json rule must be known, except one
        # that can never apply again.
        rule = self._rules[index]
        return matches and bool(rule.match.json) and not rule.nth.over(self.counts[index])

    def _settle(self, matches: Sequence[bool], document: object, mount: str) -> Decision:
        decision: Decision | None = None
        judged: list[int] = []
        for index, rule in enumerate(self._rules):
            if not matches[index] or (rule.match.json and not holds(document, rule.match.json)):
                continue
            self.counts[index] += 1
            nth = self.counts[index]
            if index >= self._taking:
                if rule.nth.holds(nth):
                    judged.append(index - self._taking)
            elif decision is None and rule.nth.holds(nth) and self._drawn(rule, index, nth):
                decision = Decision(index, nth, rule, rule.mount)
        decision = decision or Decision(mount=mount)
        return replace(decision, judged=tuple(judged)) if judged else decision

    def _drawn(self, rule: Rule, index: int, nth: int) -> bool:
        if rule.probability >= 1:
            return True
        # Its own random source, so that no other draw can shift it.
        random = Random(f"{self.seed}:{index}:{nth}:probability")  # noqa: S311 -- repeatable on purpose
        return random.random() < rule.probability


def head_matches(rule: Rule, head: RequestHead, path: str, protocol: str) -> bool:
    """Whether the rule's match holds but for its `json`."""
    match = rule.match
    if rule.mount:
        stripped = strip_mount(path, rule.mount)
        if stripped is None:
            return False
        path = stripped
    return (
        (match.protocol is None or match.protocol == protocol)
        and (match.method is None or glob(match.method, head.method.decode("latin-1")))
        and (match.path is None or glob(match.path, path))
        and (not match.query or _query_matches(match, head))
        and all(_header_matches(name, pattern, head) for name, pattern in match.headers)
    )


def _query_matches(match: Match, head: RequestHead) -> bool:
    query = query_of(head.target)
    return all(any(key == name and glob(pattern, value) for key, value in query) for name, pattern in match.query)


def _header_matches(name: str, pattern: str, head: RequestHead) -> bool:
    found = values(head.headers, name.encode())
    if not found and name == "host" and head.authority:
        found = [head.authority]  # HTTP/2 says it in :authority (RFC 9113 section 8.3.1)
    if len(found) > 1:
        # Several lines are one list (RFC 9110 section 5.2), crumbs of a cookie one cookie (RFC 9113 section 8.2.3).
        found = [*found, (b"; " if name == "cookie" else b", ").join(found)]
    return any(glob(pattern, value.decode("utf-8", "replace")) for value in found)
