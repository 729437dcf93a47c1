"""TLS contexts: a throw-away CA or given certificates for clients, verification for upstreams.

Must not know: connections. Keys are written with mode 0600 and only where a library insists on a file.
"""

import os
import ssl
import tempfile
from collections.abc import Sequence
from pathlib import Path

from chaosproxy.errors import UsageError

PROTOCOLS = ("h2", "http/1.1")
"""What is offered to clients by ALPN, the preferred first (RFC 7301)."""


def server_context(setting: str, hosts: Sequence[str], ca_out: Path | None) -> tuple[ssl.SSLContext, Path | None]:
    """`auto` or `CERT:KEY`: the context, and with `auto` the file of the CA certificate. UsageError names what is wrong."""
    if setting == "auto":
        return _throw_away(hosts, ca_out)
    certificate, colon, key = setting.rpartition(":")
    if not colon or not certificate or not key:
        raise UsageError(f"--tls {setting!r}: write auto, or CERT:KEY (two PEM files)")
    context = _server()
    for path in (certificate, key):
        if not Path(path).is_file():
            raise UsageError(f"--tls: no such file: {path}")
    try:
        context.load_cert_chain(certificate, key)
    except (ssl.SSLError, OSError) as error:
        raise UsageError(f"--tls: {certificate} and {key} are no certificate with its key: {_said(error)}") from error
    return context, None


def _server() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # RFC 9113 section 9.2
    context.set_alpn_protocols(list(PROTOCOLS))
    return context


def _throw_away(hosts: Sequence[str], ca_out: Path | None) -> tuple[ssl.SSLContext, Path]:
    import trustme  # noqa: PLC0415 - it and its cryptography are loaded only by whoever asks for a CA

    names = ["localhost", "127.0.0.1", "::1"]
    names += [host for host in hosts if host not in (*names, "0.0.0.0", "::")]  # noqa: S104 - these are no names
    authority = trustme.CA(organization_name="chaosproxy throw-away CA")
    context = _server()
    authority.issue_cert(*names).configure_cert(context)
    pem = authority.cert_pem.bytes()
    if ca_out is None:
        descriptor, name = tempfile.mkstemp(prefix="chaosproxy-ca-", suffix=".pem")
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        return context, Path(name)
    try:
        ca_out.write_bytes(pem)
    except OSError as error:
        raise UsageError(f"--ca-out: cannot write {ca_out}: {error.strerror}") from error
    return context, ca_out


def client_context(ca: Path | None, offers: Sequence[str], *, insecure: bool) -> ssl.SSLContext:
    """For https upstreams: verified by `ca` or the system's authorities, or with `insecure` not at all."""
    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (ssl.SSLError, OSError) as error:
        raise UsageError(f"--upstream-ca {ca}: {_said(error)}") from error
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(list(offers))
    return context


def _said(error: OSError) -> str:
    return str(error.strerror or getattr(error, "reason", None) or error)
