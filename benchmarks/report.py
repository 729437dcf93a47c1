"""From rounds to a result: medians, ratios to the splice, latency added to `direct`; as a table and as JSON.

Rules: pure. Must not know: how anything was measured.
"""

from collections.abc import Mapping, Sequence
from statistics import median

Seen = Mapping[str, float]
Rounds = Mapping[str, Mapping[str, Sequence[Seen]]]
"""load -> peer -> one dictionary a round."""

YARDSTICK = "splice"
BASELINE = "direct"


def summary(rounds: Rounds) -> dict[str, dict[str, dict[str, float]]]:
    """By load and peer: medians, smallest and largest CPU cost, and what follows from comparing."""
    result: dict[str, dict[str, dict[str, float]]] = {}
    for load, peers in rounds.items():
        medians = {name: _medians(seen) for name, seen in peers.items() if seen}
        # Only HTTP/1 can be spliced or go direct: the other loads are held against it too.
        yardstick = medians.get(YARDSTICK) or result.get(load.partition(" ")[0], {}).get(YARDSTICK, {})
        baseline = medians.get(BASELINE) or result.get(load.partition(" ")[0], {}).get(BASELINE, {})
        for numbers in medians.values():
            _compare(numbers, yardstick, baseline)
        result[load] = medians
    return result


def _medians(seen: Sequence[Seen]) -> dict[str, float]:
    numbers = {key: median(one[key] for one in seen) for key in seen[0]}
    for key in ("cpu_us_per_event", "mb_per_cpu_second"):
        if key in numbers:
            numbers[f"{key}_min"] = min(one[key] for one in seen)
            numbers[f"{key}_max"] = max(one[key] for one in seen)
    if "p99_us" in numbers:
        numbers["p99_us_min"] = min(one["p99_us"] for one in seen)
    return numbers


def _compare(numbers: dict[str, float], yardstick: Seen, baseline: Seen) -> None:
    if numbers.get("cpu_us_per_event") and yardstick.get("cpu_us_per_event"):
        numbers["cpu_to_splice"] = numbers["cpu_us_per_event"] / yardstick["cpu_us_per_event"]
    if numbers.get("mb_per_cpu_second") and yardstick.get("mb_per_cpu_second"):
        numbers["bulk_to_splice"] = numbers["mb_per_cpu_second"] / yardstick["mb_per_cpu_second"]
    for key in ("p50_us", "p99_us"):
        if key in numbers and key in baseline:
            numbers[f"added_{key}"] = numbers[key] - baseline[key]


_COLUMNS = {
    "events": (
        ("CPU us/event", "cpu_us_per_event", "{:.1f}"),
        ("min", "cpu_us_per_event_min", "{:.1f}"),
        ("max", "cpu_us_per_event_max", "{:.1f}"),
        ("/splice", "cpu_to_splice", "{:.2f}"),
        ("p50 us", "p50_us", "{:.0f}"),
        ("added", "added_p50_us", "{:+.0f}"),
        ("p99 us", "p99_us", "{:.0f}"),
        ("added", "added_p99_us", "{:+.0f}"),
        ("delivered", "delivered", "{:.0%}"),
    ),
    "bulk": (
        ("MB/CPU-s", "mb_per_cpu_second", "{:.0f}"),
        ("min", "mb_per_cpu_second_min", "{:.0f}"),
        ("max", "mb_per_cpu_second_max", "{:.0f}"),
        ("/splice", "bulk_to_splice", "{:.2f}"),
        ("MB/s", "mb_per_second", "{:.0f}"),
    ),
}


def table(title: str, load: str, peers: Mapping[str, Seen], absent: Mapping[str, str]) -> str:
    """One load as text, a line a peer; `-` where there is nothing to say."""
    columns = _COLUMNS[load.partition(" ")[0]]
    rows = [[title, *(head for head, _, _ in columns)]]
    for name, numbers in peers.items():
        cells = [form.format(numbers[key]) if numbers.get(key) else "-" for _, key, form in columns]
        rows.append([name, *cells])
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    lines += [f"{name}: {reason}" for name, reason in absent.items()]
    return "\n".join(lines)
