"""What is wanted of the proxy, and whether a run has shown it: each a number from the summary, and its limit.

Rules: pure; ratios and memory only, for absolute times belong to a machine. What a run has not looked at is not measured,
never met.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from benchmarks.chained import EXACT, FAULTS
from benchmarks.report import Summary, aligned

Value = Callable[[Summary], float]
"""KeyError where something is missing."""


@dataclass(frozen=True, slots=True)
class Target:
    """One wish."""

    scene: str
    what: str
    value: Value
    limit: float
    at_least: bool = False

    def judged(self, summary: Summary) -> tuple[float | None, str]:
        """The number, and `met`, `not met` or `not measured`."""
        try:
            value = self.value(summary)
        except (KeyError, ZeroDivisionError):
            return None, "not measured"
        met = value >= self.limit if self.at_least else value <= self.limit
        return value, "met" if met else "not met"

    @property
    def wanted(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g}"


def of(scene: str, row: str, key: str) -> Value:
    """A number as it stands."""
    return lambda summary: summary[scene][row][key]


def ratio(scene: str, key: str, row: str, other: str, other_scene: str = "") -> Value:
    """`row` by `other`, which may be of another scene."""
    return lambda summary: summary[scene][row][key] / summary[other_scene or scene][other][key]


def at_rest(summary: Summary) -> float:
    """The median of all faults, each alone. The costliest of so many is the unluckiest: `tests/virtual/test_structure.py`
    counts instead."""
    return median(summary["faults"][f"{name} at rest"]["cpu_to_base"] for name in FAULTS)


def early(scene: str) -> Value:
    """How many came too early, of all kinds."""
    return lambda summary: sum(summary[scene][name]["early"] for name in EXACT)


def own_lateness(scene: str, row: str, key: str) -> Value:
    """How late, without the way through two sockets and the proxy, beside a bare sleep. A stream's end has it too: there
    with the request, back with the end."""

    def value(summary: Summary) -> float:
        rows = summary[scene]
        return (rows[row][key] - rows["no fault"]["late_p50_ms"]) / rows["trio.sleep"][key]

    return value


_CPU, _RATE, _BULK = "cpu_us_per_event", "events_per_second", "mb_per_cpu_second"
_P = "chaosproxy"

TARGETS = (
    Target("events", "CPU per event, h1 to h1, to the splice's", ratio("events", _CPU, _P, "splice"), 0.75),
    Target("events", "CPU per event, h1 to h1, to mitmproxy's", ratio("events", _CPU, _P, "mitmproxy"), 0.3),
    Target("events", "CPU per event, h1 to h1, to nginx's", ratio("events", _CPU, _P, "nginx"), 3),
    Target("events", "added latency p50 to nginx's", ratio("events", "added_p50_us", _P, "nginx"), 1.7),
    Target("events", "latency p99 to nginx's", ratio("events", "p99_us", _P, "nginx"), 2.5),
    Target("events h2-h1", "CPU per event, h2 to h1, to the splice's", of("events h2-h1", _P, "cpu_to_base"), 1.0),
    Target("events h2-h2", "CPU per event, h2 to h2, to the splice's", of("events h2-h2", _P, "cpu_to_base"), 0.9),
    Target("saturation", "rate, h1 to h1, to the splice's", ratio("saturation", _RATE, _P, "splice"), 0.9, True),
    Target("saturation", "rate, h1 to h1, to mitmproxy's", ratio("saturation", _RATE, _P, "mitmproxy"), 5, True),
    Target(
        "saturation h2-h1", "rate, h2 to h1, to h1's", ratio("saturation h2-h1", _RATE, _P, _P, "saturation"), 0.4, True
    ),
    Target(
        "saturation h2-h2", "rate, h2 to h2, to h1's", ratio("saturation h2-h2", _RATE, _P, _P, "saturation"), 0.4, True
    ),
    Target("bulk", "bytes per CPU-second to the splice's", ratio("bulk", _BULK, _P, "splice"), 1, True),
    Target("bulk", "bytes per CPU-second to nginx's", ratio("bulk", _BULK, _P, "nginx"), 1.5, True),
    Target("bulk", "bytes per CPU-second to mitmproxy's", ratio("bulk", _BULK, _P, "mitmproxy"), 3, True),
    Target(
        "short",
        "short requests per CPU-second to mitmproxy's",
        ratio("short", "requests_per_cpu_second", _P, "mitmproxy"),
        7,
        True,
    ),
    Target("faults", "one fault at rest to none, the median of all", at_rest, 1.1),
    Target("faults", "six faults at rest to none", of("faults", "six at rest", "cpu_to_base"), 1.15),
    Target("faults", "six faults, two latencies, to none", of("faults", "six, two latencies", "cpu_to_base"), 2.5),
    Target("tls", "TLS towards the client to plain", of("tls", "chaosproxy, TLS", "cpu_to_base"), 1.25),
    Target("idle", "KiB of each of 5,000 idle streams", of("idle", _P, "kib_each_at_5000"), 14),
    Target("growth", "CPU per event on 1,000 streams to 10", of("growth", "chaosproxy, 1000", "cpu_to_base"), 1.2),
    Target("length", "CPU of event 1,000,000 to event 1,000", of("length", _P, "million_to_early"), 1.2),
    *(
        Target("exact", f"{name} late by, {part}, to a bare sleep", own_lateness("exact", name, f"late_{part}_ms"), 1)
        for name in EXACT
        for part in ("p50", "p99")
    ),
    Target("exact", "how many came early, idle", early("exact"), 0),
    Target("exact loaded", "how many came early, under load", early("exact loaded"), 0),
    Target("further", "a further proxy to an empty Trio run", of("further", "proxy", "ms_to_base"), 10),
    Target("start", "start to the import of what it stands on", of("start", "run to accepted", "ms_to_base"), 1.6),
)


def judged(summary: Summary, scenes: set[str]) -> list[dict[str, str | float | None]]:
    """Every target of these scenes."""
    rows = []
    for target in TARGETS:
        if target.scene in scenes:
            value, verdict = target.judged(summary)
            rows.append({"what": target.what, "value": value, "wanted": target.wanted, "verdict": verdict})
    return rows


def cells(rows: list[dict[str, str | float | None]]) -> list[list[str]]:
    """The targets, a line each, their head first."""
    lines = [["target", "wanted", "measured", ""]]
    return lines + [
        [
            str(row["what"]),
            str(row["wanted"]),
            "-" if row["value"] is None else f"{row['value']:.2f}",
            str(row["verdict"]),
        ]
        for row in rows
    ]


def table(rows: list[dict[str, str | float | None]]) -> str:
    """The targets as text."""
    return "\n".join(aligned(cells(rows)))
