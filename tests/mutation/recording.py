"""A pytest plugin for the run that is measured: tells coverage which test is running, and writes down how long each took.

It is loaded by name (`-p tests.mutation.recording`) under `coverage run`, and writes next to coverage's file.
"""

import json
import time
from pathlib import Path

import coverage
import pytest

SECONDS: dict[str, float] = {}


def name_of(item: pytest.Item) -> str:
    """A test with all its parameters is one test here."""
    return item.nodeid.partition("[")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    measured = coverage.Coverage.current()
    assert measured is not None
    measured.switch_context(name_of(item))
    began = time.process_time()
    try:
        return (yield)
    finally:
        SECONDS[name_of(item)] = SECONDS.get(name_of(item), 0) + time.process_time() - began


def pytest_sessionfinish():
    measured = coverage.Coverage.current()
    assert measured is not None
    file = Path(f"{measured.config.data_file}.json")
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}  # `coverage run --append`
    file.write_text(json.dumps({**before, **SECONDS}), encoding="utf-8")
