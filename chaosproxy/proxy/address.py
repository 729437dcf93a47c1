"""Upstream URLs and listen addresses, parsed once.

Must not know: sockets.
"""

from dataclasses import dataclass
from sys import intern
from urllib.parse import urlsplit

from chaosproxy.errors import UsageError
from chaosproxy.model.mask import masked_address
from chaosproxy.model.validate import target_problem

PORTS = {"http": 80, "h2c": 80, "https": 443}
DIGITS = 5
"""Of a port."""
_FORM = "write http://HOST:PORT, https://HOST:PORT or h2c://HOST:PORT; a port is 1 to 65535"


@dataclass(frozen=True, slots=True)
class UpstreamAddress:
    """Where requests go: `http://`, `https://` or `h2c://` (HTTP/2 with prior knowledge), its path a prefix."""

    scheme: str
    host: str
    port: int
    prefix: bytes = b""

    @property
    def tls(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> bytes:
        """Host and port as a Host field would have them: the port left out where it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (host if self.port == PORTS[self.scheme] else f"{host}:{self.port}").encode("ascii")

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return intern(f"{self.scheme}://{host}:{self.port}{self.prefix.decode('ascii')}")  # one for all records


def parse_upstream(text: str, what: str = "upstream") -> UpstreamAddress:
    """An `--upstream` value. UsageError says what is wrong with it, and calls it `what`."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{what} {masked_address(text)!r}: {_FORM}") from error
    if parts.scheme not in PORTS or not parts.netloc or port == 0:
        raise UsageError(f"{what} {masked_address(text)!r}: {_FORM}")
    if not parts.hostname or parts.query or parts.fragment or parts.username is not None:
        raise UsageError(
            f"{what} {masked_address(text)!r}: only a host, a port and a path prefix can stand here, as in http://HOST:PORT/PREFIX"
        )
    try:
        host = parts.hostname.encode("idna").decode("ascii") if not parts.hostname.isascii() else parts.hostname
        prefix = parts.path.rstrip("/").encode("ascii")
    except UnicodeError as error:
        raise UsageError(f"{what} {masked_address(text)!r}: not a host name or path that can be sent") from error
    if " " in host or not host.isprintable() or (prefix and target_problem(b"GET", prefix)):
        raise UsageError(f"{what} {masked_address(text)!r}: not a host name or path that can be sent")
    return UpstreamAddress(parts.scheme, host, PORTS[parts.scheme] if port is None else port, prefix)


def parse_listen(text: str) -> tuple[str, int]:
    """`HOST:PORT`, IPv6 in brackets. UsageError says what is wrong with it."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise UsageError(f"listen address {text!r}: write an IPv6 address in brackets, [::1]:8666")
    if not colon or not host or not port.isascii() or not port.isdigit() or len(port) > DIGITS or int(port) > 65535:
        raise UsageError(f"listen address {text!r}: write HOST:PORT, 127.0.0.1:8666; port 0 is any free one")
    return host, int(port)
