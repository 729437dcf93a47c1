"""TLS as a transport over any other transport: an SSLObject between two memory buffers.

Rules: `send` takes all plain bytes or none, and none while cipher text of an earlier call still waits, because a
half-sent record cannot be retried with other bytes. `recv` empties the SSLObject (nothing will make the socket readable
again) and delivers what is decrypted before it acts on the end. No ssl.SSLError leaves this file: an end without
close_notify is TruncatedError, everything else that TLS dislikes is TlsError with a one-line reason.
Must not know: sockets, certificates, HTTP.
"""

import contextlib
import ssl
from collections.abc import Callable

import trio

from chaosproxy.wire.transport import Transport, TruncatedError

_RECORD = 16384
"""The longest plain text of one record (RFC 8446 section 5.1); an SSLObject never hands out more at once."""


class TlsError(ConnectionError):
    """The peer broke TLS, or refused us. The text is one line for a person."""


class Memory:
    """One TLS connection. `handshake` must have returned before anything else is called but `rst`, `cut` and `close`."""

    __slots__ = (
        "_after",
        "_below",
        "_cipher",
        "_end",
        "_incoming",
        "_more",
        "_object",
        "_outgoing",
        "_plain",
        "alpn",
        "backlog",
        "tls",
    )

    def __init__(
        self, below: Transport, context: ssl.SSLContext, *, server_side: bool, server_hostname: str | None = None
    ) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(
            self._incoming, self._outgoing, server_side=server_side, server_hostname=server_hostname
        )
        self._below = below
        self._cipher = b""
        """Cipher text that `below` has not taken yet."""
        self.backlog = 0
        """How much that is."""
        self._plain: list[bytes] = []
        """What was decrypted while shutting down, still to be delivered."""
        self._more = False
        """The SSLObject may hold more plain text, or an end: do not wait for the socket."""
        self._end: ConnectionError | bytes | None = None
        """How the peer's way ended: b"" by close_notify, or the error to raise."""
        self._after: Callable[[], None] | None = None
        """What to do to `below` once all cipher text has gone: its FIN."""
        self.tls = True
        self.alpn: str | None = None

    @property
    def server_name(self) -> str | None:
        """Server side: the name that the client asked for (SNI), if the context came from `tls.py`."""
        return getattr(self._object, "server_name", None)

    async def handshake(self) -> None:
        """Shake hands; the deadline is the caller's. TlsError or ConnectionError if it fails; close the transport then."""
        while True:
            try:
                self._object.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush_all()
                await self._feed()
            except (ssl.SSLError, ssl.CertificateError) as error:
                self._flush_quietly()  # the alert that tells the peer why
                raise TlsError(_reason(error)) from None
            else:
                break
        await self._flush_all()
        self.alpn = self._object.selected_alpn_protocol()
        # Application data may have come in one flight with the peer's last handshake message.
        self._more = True

    @property
    def descriptor(self) -> int | None:
        return self._below.descriptor

    def recv(self, nbytes: int) -> bytes | None:
        while True:
            if self._plain:
                return self._kept(nbytes)
            if self._more and (data := self._decrypt(nbytes)):
                return data
            if self._end is not None:
                if isinstance(self._end, bytes):
                    return self._end
                raise self._end
            cipher = self._below.recv(max(nbytes, _RECORD))
            if cipher is None:
                return None
            if cipher:
                self._incoming.write(cipher)
                self._more = True
            else:
                # RFC 8446 section 6.1: without close_notify the data may have been truncated by anybody.
                self._end = TruncatedError("TLS ended without close_notify")

    def send(self, data: bytes) -> int:
        if self._after is not None:
            raise BrokenPipeError("shut down for writing")
        if self._cipher and not self._flush():
            return 0
        try:
            written = self._object.write(data)
            while written < len(data):
                written += self._object.write(memoryview(data)[written:])
        except ssl.SSLError as error:
            raise TlsError(_reason(error)) from None
        cipher = self._outgoing.read()
        taken = self._below.send(cipher)
        if taken < len(cipher):
            self._cipher = cipher[taken:]
            self._flush()
        return len(data)

    async def readable(self) -> None:
        if self._plain or self._more or self._end is not None:
            await trio.lowlevel.checkpoint()
        else:
            await self._below.readable()

    def interrupt(self) -> None:
        self._below.interrupt()

    async def writable(self) -> None:
        await self._below.writable()
        await self._flush_all()

    @property
    def holds(self) -> bool:
        return self._below.holds

    async def emptied(self) -> None:
        await self._below.emptied()  # which makes room for our last words
        if self._flush() and self._after is not None:
            self._after()
        await self._below.emptied()

    def fin(self) -> None:
        if self._after is not None:
            return
        # SSL_shutdown reads too, and loses application data that it meets: take that out first.
        while data := self._decrypt(_RECORD):
            self._plain.append(data)
        # It then wants the peer's close_notify, which is for recv to see; or there is no TLS that could be ended.
        with contextlib.suppress(ssl.SSLError):
            self._object.unwrap()
        self._shut_down(self._below.fin)

    def cut(self) -> None:
        self._shut_down(self._below.cut)

    def rst(self) -> None:
        self._below.rst()

    def unacknowledged(self) -> int:
        return self.backlog + self._below.unacknowledged()

    def close(self) -> None:
        self._below.close()

    def _kept(self, nbytes: int) -> bytes:
        """The first of what `fin` has decrypted, up to `nbytes` of it."""
        part = self._plain.pop(0)
        if len(part) > nbytes:
            self._plain.insert(0, part[nbytes:])
        return part[:nbytes]

    def _decrypt(self, nbytes: int) -> bytes:
        """Up to `nbytes` of what is here already; notes an end that stands behind it."""
        parts: list[bytes] = []
        missing = nbytes
        self._more = False
        try:
            while missing and self._end is None:
                wanted = min(missing, _RECORD)
                part = self._object.read(wanted)
                if not part:
                    self._end = b""
                    break
                parts.append(part)
                missing -= len(part)
                if len(part) < wanted and not self._incoming.pending:
                    break  # a record that has ended, and none behind it: an exception would say the same
            self._more = not missing
        except ssl.SSLWantReadError:
            pass  # that was all
        except ssl.SSLZeroReturnError:
            self._end = b""
        except ssl.SSLError as error:
            self._end = TlsError(_reason(error))
        if self._outgoing.pending:
            self._flush_quietly()  # an answer of OpenSSL's own: a key update, an alert
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _flush(self) -> bool:
        """Hand cipher text to `below`; True when none is left."""
        if self._outgoing.pending:
            self._cipher = self._cipher + self._outgoing.read() if self._cipher else self._outgoing.read()
        self.backlog = len(self._cipher)
        while self._cipher:
            taken = self._below.send(self._cipher)
            if not taken:
                return False
            self._cipher = self._cipher[taken:]
            self.backlog -= taken
        return True

    def _flush_quietly(self) -> None:
        try:
            self._flush()
        except ConnectionError:
            # Seen while reading: what is decrypted goes first, and the next recv or send meets the error by itself.
            self._cipher, self.backlog = b"", 0

    async def _flush_all(self) -> None:
        while not self._flush():
            await self._below.writable()
        if self._after is not None:
            self._after()

    async def _feed(self) -> None:
        while (cipher := self._below.recv(65536)) is None:
            await self._below.readable()
        if not cipher:
            raise TruncatedError("the peer closed the connection during the TLS handshake")
        self._incoming.write(cipher)

    def _shut_down(self, after: Callable[[], None]) -> None:
        self._after = after
        try:
            if self._flush():
                after()
        except ConnectionError:
            self._cipher, self.backlog = b"", 0  # the peer has gone: there is nobody to tell


def _reason(error: ssl.SSLError | ssl.CertificateError) -> str:
    """One line, in words: OpenSSL's own reason without its file and line."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS certificate refused: {error.verify_message}"
    reason = getattr(error, "reason", None)
    if reason in _WORDS:
        return _WORDS[reason]
    return f"TLS failed: {(reason or str(error)).replace('_', ' ').lower()}"


_WORDS = {
    "HTTP_REQUEST": "TLS failed: the peer speaks plain HTTP",
    "WRONG_VERSION_NUMBER": "TLS failed: what the peer sent is not TLS",
    "TLSV1_ALERT_UNKNOWN_CA": "TLS failed: the peer does not trust our certificate (unknown CA)",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "TLS failed: the peer refused our certificate as expired",
}
