"""The disagreements that are known, each with its reason, in `disagreements.yaml`."""

from collections.abc import Iterator
from pathlib import Path

import yaml

FILE = Path(__file__).with_name("disagreements.yaml")


def known() -> dict[str, str]:
    """The reason by the row, which is named as `rows.Row` says itself."""
    return dict(_entries())


def _entries() -> Iterator[tuple[str, str]]:
    for entry in yaml.safe_load(FILE.read_text(encoding="utf-8")) or ():
        for row in entry["rows"]:
            yield row, " ".join(entry["why"].split())
