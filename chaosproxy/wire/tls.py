"""TLS contexts: a throw-away CA or given certificates towards clients, verification towards upstreams.

Rules: whatever is wrong with a file or an option is a UsageError in one line that names the file, and the option as its
caller spells it (`spelt`): `upstream_ca` is `--upstream-ca` on the command line. Nothing ever asks the terminal for a
passphrase. Keys are never ours on disk: the throw-away ones touch it only for the moment that OpenSSL insists on a file,
with mode 0600 (trustme sees to it). Must not know: connections.
"""

import os
import ssl
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from chaosproxy.errors import UsageError

if TYPE_CHECKING:
    import trustme

PROTOCOLS = ("h2", "http/1.1")
"""What is offered to clients by ALPN, the preferred first (RFC 7301)."""
NAMES = ("localhost", "127.0.0.1", "::1")
"""What a throw-away certificate names beside the listen hosts."""
LARGEST = 16 * 1024 * 1024
"""Bytes of a file of certificates: those of all the world's authorities are a quarter of one MiB."""

Spelling = Callable[[str], str]

_WILDCARDS = ("0.0.0.0", "::", "*")  # noqa: S104 - recognised here as no names, not bound


class _Greeted(ssl.SSLObject):
    """A server's side of a connection that remembers which name its client asked for (SNI, RFC 6066 section 3)."""

    server_name: str | None = None


def _remember(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
    if isinstance(connection, _Greeted):
        connection.server_name = name


def as_option(name: str) -> str:
    """As the command line spells it."""
    return f"--{name.replace('_', '-')}"


def server_context(
    setting: str, hosts: Sequence[str], ca_out: Path | None, *, spelt: Spelling = as_option
) -> tuple[ssl.SSLContext, Path | None]:
    """`auto` or `CERT:KEY`: the context, and with `auto` the file of the CA certificate, which is the caller's to
    remove when it is a temporary one (no `ca_out`). UsageError names what is wrong."""
    if setting == "auto":
        return _throw_away(hosts, ca_out, spelt)
    option = spelt("tls")
    certificate, key = _files(setting, option)
    context = ServerContext.make()
    context.certify = partial(_load, certificate, key)
    try:
        context.certify(context)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise UsageError(f"{option}: {_wrong_pair(certificate, key, error)}") from error
    return context, None


def _files(setting: str, option: str) -> tuple[Path, Path]:
    """Both halves of CERT:KEY. A path may hold a colon itself (C:\\...), so each colon is tried."""
    cuts = [at for at, letter in enumerate(setting) if letter == ":" and setting[:at] and setting[at + 1 :]]
    if not cuts:
        raise UsageError(f"{option} {setting!r}: write auto, or CERT:KEY (two PEM files)")
    pairs = [(Path(setting[:at]), Path(setting[at + 1 :])) for at in cuts]
    for pair in pairs:
        if all(path.is_file() for path in pair):
            for path in pair:
                _check_size(path, option)
            return pair
    missing = next(path for path in pairs[-1] if not path.is_file())
    raise UsageError(f"{option}: {'not a regular file' if missing.exists() else 'no such file'}: {missing}")


def _check_size(path: Path, option: str) -> None:
    """OpenSSL would read on for ever; what is a certificate is short."""
    if path.stat().st_size > LARGEST:
        raise UsageError(f"{option}: larger than {LARGEST >> 20} MiB: {path}")


def _load(certificate: Path, key: Path, context: ssl.SSLContext) -> None:
    context.load_cert_chain(certificate, key, password=_no_passphrase)


def _no_passphrase() -> str:
    # OpenSSL would ask the terminal. It asks us instead, for an encrypted key only, and swallows what is raised here.
    return ""


def _wrong_pair(certificate: Path, key: Path, error: Exception) -> str:
    """Which of the two files is wrong, and how: OpenSSL only says PEM_lib."""
    for path in (certificate, key):
        try:
            content = path.read_bytes()
        except OSError as unreadable:
            return f"cannot read {path}: {unreadable.strerror}"
        if b"-----BEGIN " not in content:
            return f"{path} is no PEM file"
        if path == key and b"PRIVATE KEY-----" not in content:
            return f"{path} holds no private key"
        if path == key and b"ENCRYPTED" in content:
            return f"the key in {path} is encrypted; a key without a passphrase is needed"
    if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
        return f"the key in {key} does not belong to the certificate in {certificate}"
    return f"{certificate} and {key} are no certificate with its key: {_said(error)}"


class ServerContext(ssl.SSLContext):
    """A listener's, with what it takes to make another certificate like its own."""

    authority: "trustme.CA | None" = None
    """Who has signed it, if that is ours."""
    names: tuple[str, ...] = ()
    certify: Callable[[ssl.SSLContext], None] | None = None
    """Gives another context the same certificate."""

    @classmethod
    def make(cls, *, alpn: bool = True) -> Self:
        """Without a certificate. No `alpn`: whatever a client offers, no protocol is chosen."""
        context = cls(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2  # RFC 9113 section 9.2
        if alpn:
            context.set_alpn_protocols(list(PROTOCOLS))
        context.sslobject_class = _Greeted
        context.sni_callback = _remember
        return context


def fresh_authority() -> "trustme.CA":
    """One that nobody knows yet."""
    import trustme  # noqa: PLC0415 - it and its cryptography are loaded only by whoever asks for a CA

    return trustme.CA(organization_name="chaosproxy throw-away CA")


def _throw_away(hosts: Sequence[str], ca_out: Path | None, spelt: Spelling) -> tuple[ssl.SSLContext, Path]:
    # A zone (fe80::1%eth0) is local to a machine and has no place in a certificate (RFC 6874 section 1).
    named = dict.fromkeys([*NAMES, *(host.partition("%")[0] for host in hosts if host not in _WILDCARDS)])
    authority = fresh_authority()
    context = ServerContext.make()
    try:
        context.certify = authority.issue_cert(*named).configure_cert
        context.certify(context)
    except ValueError as error:
        raise UsageError(f"{spelt('tls')} auto: no certificate can name {', '.join(hosts)}: {error}") from error
    context.authority, context.names = authority, tuple(named)
    return context, _write_ca(authority.cert_pem.bytes(), ca_out, spelt)


def _write_ca(pem: bytes, ca_out: Path | None, spelt: Spelling) -> Path:
    """Write it beside its place and move it there: whoever waits for the file never reads half of it, and a link that
    somebody planted under its name is replaced, not followed."""
    place = None if ca_out is None else ca_out.parent
    try:
        descriptor, name = tempfile.mkstemp(prefix="chaosproxy-ca-", suffix=".pem", dir=place)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        if ca_out is None:
            return Path(name)
        try:
            Path(name).chmod(0o644)  # the CA's certificate is public; mkstemp makes files private
            return Path(name).replace(ca_out)
        except OSError:
            Path(name).unlink()
            raise
    except OSError as error:
        option, what = ("tls", "a temporary file") if ca_out is None else ("ca_out", ca_out)
        raise UsageError(f"{spelt(option)}: cannot write {what}: {error.strerror}") from error


def client_context(
    ca: Path | None, offers: Sequence[str], *, insecure: bool, spelt: Spelling = as_option
) -> ssl.SSLContext:
    """For https upstreams: verified by `ca` or the system's authorities, or with `insecure` not at all. `offers` are
    the protocols named by ALPN."""
    if ca is not None:
        if not ca.is_file():
            raise UsageError(f"{spelt('upstream_ca')}: no such file: {ca}")
        _check_size(ca, spelt("upstream_ca"))
    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (ssl.SSLError, OSError) as error:
        raise UsageError(f"{spelt('upstream_ca')}: {ca} holds no PEM certificates: {_said(error)}") from error
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(list(offers))
    return context


def _said(error: Exception) -> str:
    return str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error).replace("_", " ").lower()
