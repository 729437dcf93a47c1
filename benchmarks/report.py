"""From rounds to a result: medians, and ratios to whom each scene is held against; as a table and as JSON.

Rules: pure. Must not know: how anything was measured, or what is wanted.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

Seen = Mapping[str, float]
Rounds = Mapping[str, Mapping[str, Sequence[Seen]]]
"""scene -> row -> one dictionary a round."""
Summary = Mapping[str, Mapping[str, Seen]]

_RATIOS = (
    ("events", "splice", "cpu_us_per_event", "cpu_to_base"),
    ("saturation", "splice", "events_per_second", "rate_to_base"),
    ("saturation", "splice", "cpu_us_per_event", "cpu_to_base"),
    ("bulk", "splice", "mb_per_cpu_second", "bulk_to_base"),
    ("short", "splice", "requests_per_cpu_second", "requests_to_base"),
    ("faults", "none", "cpu_us_per_event", "cpu_to_base"),
    ("endings", "none", "cpu_us_per_request", "cpu_to_base"),
    ("tls", "chaosproxy", "cpu_us_per_event", "cpu_to_base"),
    ("growth", "chaosproxy, 10", "cpu_us_per_event", "cpu_to_base"),
    ("exact", "trio.sleep", "late_p50_ms", "p50_to_base"),
    ("exact", "trio.sleep", "late_p99_ms", "p99_to_base"),
    ("further", "empty run", "ms", "ms_to_base"),
    ("start", "import of trio, h11, h2, yaml", "ms", "ms_to_base"),
)
"""Scenes of this kind are held against this row, by this key; the ratio's name."""
_BASELINE = "direct"
_SPREAD = ("cpu_us_per_event", "mb_per_cpu_second", "p99_us", "events_per_second", "ms")
_WORST = {"early": max, "first_ms": min, "own_first_ms": min}


def kind(scene: str) -> str:
    """What sort of scene it is, whatever the protocols or the load."""
    return scene.partition(" ")[0]


def summary(rounds: Rounds) -> dict[str, dict[str, dict[str, float]]]:
    """By scene and row: medians, smallest and largest, and what follows from comparing."""
    result = {scene: {name: _medians(seen) for name, seen in rows.items() if seen} for scene, rows in rounds.items()}
    for scene, rows in result.items():
        for numbers in rows.values():
            _compare(scene, numbers, result)
    return result


def _medians(seen: Sequence[Seen]) -> dict[str, float]:
    numbers = {key: _WORST.get(key, median)(one[key] for one in seen) for key in seen[0]}
    for key in set(_SPREAD) & set(numbers):
        numbers[f"{key}_min"] = min(one.get(f"{key}_min", one[key]) for one in seen)
        numbers[f"{key}_max"] = max(one[key] for one in seen)
    return numbers


def _compare(scene: str, numbers: dict[str, float], result: Summary) -> None:
    for of, row, key, name in _RATIOS:
        # What HTTP/2 costs is held against HTTP/1 too, what a load does to precision only against the same load.
        base = result.get(scene if of == "exact" else of, {}).get(row, {})
        if of == kind(scene) and numbers.get(key) and base.get(key):
            numbers[name] = numbers[key] / base[key]
    if kind(scene) == "events":
        baseline = result.get("events", {}).get(_BASELINE, {})
        for key in ("p50_us", "p99_us", "p999_us"):
            if key in numbers and key in baseline:
                numbers[f"added_{key}"] = numbers[key] - baseline[key]


_CPU = (
    ("CPU us/event", "cpu_us_per_event", "{:.1f}"),
    ("min", "cpu_us_per_event_min", "{:.1f}"),
    ("max", "cpu_us_per_event_max", "{:.1f}"),
)
_COLUMNS = {
    "events": (
        *_CPU,
        ("/splice", "cpu_to_base", "{:.2f}"),
        ("p50 us", "p50_us", "{:.0f}"),
        ("added", "added_p50_us", "{:+.0f}"),
        ("p99 us", "p99_us", "{:.0f}"),
        ("added", "added_p99_us", "{:+.0f}"),
        ("p99.9 us", "p999_us", "{:.0f}"),
        ("delivered", "delivered", "{:.0%}"),
        ("of a CPU", "cpu_share", "{:.0%}"),
    ),
    "saturation": (
        ("events/s", "events_per_second", "{:.0f}"),
        ("min", "events_per_second_min", "{:.0f}"),
        ("/splice", "rate_to_base", "{:.2f}"),
        ("CPU us/event", "cpu_us_per_event", "{:.1f}"),
        ("/splice", "cpu_to_base", "{:.2f}"),
        ("of a CPU", "cpu_share", "{:.0%}"),
    ),
    "bulk": (
        ("MB/CPU-s", "mb_per_cpu_second", "{:.0f}"),
        ("min", "mb_per_cpu_second_min", "{:.0f}"),
        ("max", "mb_per_cpu_second_max", "{:.0f}"),
        ("/splice", "bulk_to_base", "{:.2f}"),
        ("MB/s", "mb_per_second", "{:.0f}"),
    ),
    "short": (
        ("requests/CPU-s", "requests_per_cpu_second", "{:.0f}"),
        ("/splice", "requests_to_base", "{:.2f}"),
        ("CPU us each", "cpu_us_per_request", "{:.1f}"),
        ("requests/s", "requests_per_second", "{:.0f}"),
    ),
    "faults": (*_CPU, ("/none", "cpu_to_base", "{:.2f}"), ("p50 us", "p50_us", "{:.0f}")),
    "endings": (
        ("CPU us each", "cpu_us_per_request", "{:.0f}"),
        ("/none", "cpu_to_base", "{:.2f}"),
        ("requests/s", "requests_per_second", "{:.0f}"),
    ),
    "tls": (*_CPU, ("/plain", "cpu_to_base", "{:.2f}"), ("p50 us", "p50_us", "{:.0f}")),
    "growth": (*_CPU, ("/10", "cpu_to_base", "{:.2f}"), ("delivered", "delivered", "{:.0%}")),
    "idle": (
        ("base MiB", "base_mib", "{:.1f}"),
        *((f"KiB each at {n:,}", f"kib_each_at_{n}", "{:.1f}") for n in (100, 1000, 5000)),
    ),
    "length": (
        ("CPU us/event early", "cpu_us_early", "{:.2f}"),
        ("late", "cpu_us_late", "{:.2f}"),
        ("late/early", "late_to_early", "{:.2f}"),
        ("grown KiB", "grown_kib", "{:.0f}"),
    ),
    "exact": (
        ("late p50 ms", "late_p50_ms", "{:.2f}"),
        ("p99 ms", "late_p99_ms", "{:.2f}"),
        ("p50/sleep", "p50_to_base", "{:.2f}"),
        ("p99/sleep", "p99_to_base", "{:.2f}"),
        ("own p50 ms", "own_p50_ms", "{:.2f}"),
        ("own p99 ms", "own_p99_ms", "{:.2f}"),
        ("least ms", "first_ms", "{:.2f}"),
        ("early", "early", "{:.0f}"),
        ("samples", "samples", "{:.0f}"),
    ),
    "further": (
        ("ms", "ms", "{:.2f}"),
        ("min", "ms_min", "{:.2f}"),
        ("/empty run", "ms_to_base", "{:.1f}"),
    ),
    "start": (
        ("ms", "ms", "{:.0f}"),
        ("min", "ms_min", "{:.0f}"),
        ("/import", "ms_to_base", "{:.2f}"),
        ("CPU ms", "cpu_ms", "{:.0f}"),
    ),
}


def shown(scene: str) -> list[str]:
    """The numbers that the table of a scene shows, by their keys."""
    return [key for _, key, _ in _COLUMNS[kind(scene)]]


def cells(title: str, scene: str, rows: Mapping[str, Seen]) -> list[list[str]]:
    """One scene, a line a row, its head first; `-` where there is nothing to say. A column that says nothing is none."""
    columns = [
        column for column in _COLUMNS[kind(scene)] if any(_said(column[1], numbers) for numbers in rows.values())
    ]
    lines = [[title, *(head for head, _, _ in columns)]]
    for name, numbers in rows.items():
        lines.append([name, *(form.format(numbers[key]) if _said(key, numbers) else "-" for _, key, form in columns)])
    return lines


def table(title: str, scene: str, rows: Mapping[str, Seen], absent: Mapping[str, str]) -> str:
    """One scene as text."""
    lines = aligned(cells(title, scene, rows))
    return "\n".join([*lines, *(f"{name}: {reason}" for name, reason in absent.items())])


def _said(key: str, numbers: Seen) -> bool:
    return key in numbers and (bool(numbers[key]) or key == "early")


def aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Lines with the first column to the left and the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
