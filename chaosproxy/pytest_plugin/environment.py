"""The environment of a test whose clients are led to its proxy. Must not know: proxies."""

import os

import pytest

from chaosproxy.model.leading import leading


def lead_sdks(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """For this test."""
    for name, value in leading(url, os.environ).items():
        monkeypatch.setenv(name, value)
