"""Certificates for the raw peers, made once."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaosproxy.wire import tls


@dataclass(frozen=True, slots=True)
class Certificates:
    server: ssl.SSLContext
    ca: Path

    def client(self, *offers: str) -> ssl.SSLContext:
        """For a client that offers these protocols."""
        return tls.client_context(self.ca, offers or ("http/1.1",), insecure=False)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory) -> Certificates:
    server, ca = tls.server_context("auto", ["127.0.0.1"], tmp_path_factory.mktemp("ca") / "ca.pem")
    assert ca is not None
    return Certificates(server, ca)
