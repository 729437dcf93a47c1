"""One stream of a million events: what the benchmark has last measured of it, for the page. That no stream makes anything grow is
for `tests/virtual/test_growth.py` to say, block by block."""

import json
from pathlib import Path

MEASURED = Path(__file__).parents[2] / "docs" / "performance.json"
DEARER = 1.2
GROWN = 1024.0


def test_a_million_events(shown):
    found = json.loads(MEASURED.read_text("utf-8"))
    seen = found["summary"]["length"]["chaosproxy"]
    events = int(found["titles"]["length"].split()[1].replace(",", ""))
    assert events >= 1_000_000
    assert seen["late_to_early"] <= DEARER
    assert seen["grown_kib"] <= GROWN
    shown(
        "held",
        "one stream of a million events (`make bench`, scene `length`)",
        tried=events,
        must=f"its last events cost at most {DEARER} x its first; at most {GROWN / 1024:g} MiB more in between",
        happens="as it must",
        figure=f"{seen['late_to_early']:.2f} x, {seen['grown_kib']:+.0f} KiB",
    )
