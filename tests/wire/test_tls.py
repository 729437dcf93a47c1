"""Certificates: what a client can verify, what is said about wrong files, what is left on disk."""

import ssl
import stat
from pathlib import Path

import pytest
import trio
import trustme
from cryptography.hazmat.primitives import serialization as form

from chaosproxy.errors import UsageError
from chaosproxy.wire import tls
from chaosproxy.wire.links import link
from chaosproxy.wire.memory import Memory, TlsError

CA = trustme.CA()


@pytest.fixture
def pems(tmp_path: Path) -> Path:
    """A folder with cert.pem and key.pem that belong together, and other.pem, a key that does not."""
    leaf = CA.issue_cert("localhost")
    leaf.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    leaf.private_key_pem.write_to_path(tmp_path / "key.pem")
    CA.issue_cert("localhost").private_key_pem.write_to_path(tmp_path / "other.pem")
    CA.cert_pem.write_to_path(tmp_path / "ca.pem")
    (tmp_path / "text.txt").write_text("no certificate\n")
    return tmp_path


async def verified(server: ssl.SSLContext, ca: Path | None, name: str, *, insecure: bool = False) -> str:
    """Which protocol a client that asks for `name` agrees with the server; TlsError if it refuses."""
    near, far = link()
    client = Memory(
        near, tls.client_context(ca, ["h2", "http/1.1"], insecure=insecure), server_side=False, server_hostname=name
    )

    async def serve() -> None:
        try:
            await Memory(far, server, server_side=True).handshake()
        except ConnectionError:
            far.close()

    refusal = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        try:
            await client.handshake()
        except TlsError as error:
            refusal = error
    if refusal is not None:
        raise refusal
    return client.alpn or ""


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "chaos.test", "10.1.2.3", "fe80::1"])
async def test_a_throw_away_certificate_names_localhost_and_every_listen_host(name, tmp_path):
    hosts = ["chaos.test", "10.1.2.3", "fe80::1%eth0", "0.0.0.0", "::"]
    server, ca = tls.server_context("auto", hosts, tmp_path / "ca.pem")
    assert await verified(server, ca, name) == "h2"


async def test_it_names_nobody_else(tmp_path):
    server, ca = tls.server_context("auto", ["127.0.0.1"], tmp_path / "ca.pem")
    with pytest.raises(TlsError, match="elsewhere"):
        await verified(server, ca, "elsewhere.test")


async def test_without_ca_out_the_ca_lies_in_a_temporary_file_and_no_key_beside_it():
    server, ca = tls.server_context("auto", [], None)
    assert ca is not None
    try:
        assert await verified(server, ca, "localhost") == "h2"
        assert "PRIVATE" not in ca.read_text()
        assert stat.S_IMODE(ca.stat().st_mode) == 0o600
    finally:
        ca.unlink()


def test_ca_out_replaces_a_link_instead_of_following_it(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "ca.pem").symlink_to(precious)
    tls.server_context("auto", [], tmp_path / "ca.pem")
    assert precious.read_text() == "mine"
    assert "BEGIN CERTIFICATE" in (tmp_path / "ca.pem").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ca.pem", "precious"]


def test_ca_out_where_nothing_can_be_written_is_said_and_leaves_nothing(tmp_path):
    with pytest.raises(UsageError, match=r"--ca-out: cannot write .*absent/ca.pem: No such file or directory"):
        tls.server_context("auto", [], tmp_path / "absent" / "ca.pem")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").touch()
    with pytest.raises(UsageError, match="--ca-out"):
        tls.server_context("auto", [], tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_host_that_no_certificate_can_name_is_said():
    with pytest.raises(UsageError, match="--tls auto"):
        tls.server_context("auto", ["a..b"], None)


async def test_given_files_are_served(pems):
    server, ca = tls.server_context(f"{pems}/cert.pem:{pems}/key.pem", [], None)
    assert ca is None
    assert await verified(server, pems / "ca.pem", "localhost") == "h2"


async def test_a_path_may_hold_a_colon(pems):
    folder = pems / "a:b"
    folder.mkdir()
    for name in ("cert.pem", "key.pem"):
        (pems / name).rename(folder / name)
    server, _ = tls.server_context(f"{folder}/cert.pem:{folder}/key.pem", [], None)
    assert await verified(server, pems / "ca.pem", "localhost") == "h2"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("cert.pem", "write auto, or CERT:KEY"),
        (":key.pem", "write auto, or CERT:KEY"),
        ("cert.pem:", "write auto, or CERT:KEY"),
        ("absent.pem:key.pem", "no such file: absent.pem"),
        ("cert.pem:absent.pem", "no such file: absent.pem"),
        ("cert.pem:.", "not a regular file: ."),
        ("text.txt:key.pem", "text.txt is no PEM file"),
        ("cert.pem:text.txt", "text.txt is no PEM file"),
        ("cert.pem:cert.pem", "cert.pem holds no private key"),
        ("key.pem:key.pem", "key.pem and key.pem are no certificate with its key"),
        ("cert.pem:other.pem", "the key in other.pem does not belong to the certificate in cert.pem"),
    ],
)
def test_what_is_wrong_with_the_files_is_said_in_one_line(setting, said, pems, monkeypatch):
    monkeypatch.chdir(pems)
    with pytest.raises(UsageError) as caught:
        tls.server_context(setting, [], None)
    assert str(caught.value).startswith("--tls")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_encrypted_key_is_refused_and_the_terminal_is_not_asked(pems):
    key = form.load_pem_private_key((pems / "key.pem").read_bytes(), None)
    locked = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.BestAvailableEncryption(b"secret"))
    (pems / "key.pem").write_bytes(locked)
    with pytest.raises(UsageError, match="is encrypted; a key without a passphrase is needed"):
        tls.server_context(f"{pems}/cert.pem:{pems}/key.pem", [], None)


def test_no_passphrase_is_ever_asked_for_at_a_terminal(pems, monkeypatch):
    asked = []

    class Context:
        def load_cert_chain(self, certificate, key, password=None):
            asked.append(password)  # None would have OpenSSL ask the terminal

    monkeypatch.setattr(tls.ServerContext, "make", Context)
    tls.server_context(f"{pems}/cert.pem:{pems}/key.pem", [], None)
    assert asked[0]() == ""


async def test_an_upstream_is_verified_unless_told_otherwise(pems):
    server, _ = tls.server_context(f"{pems}/cert.pem:{pems}/key.pem", [], None)
    with pytest.raises(TlsError, match="certificate refused"):
        await verified(server, None, "localhost")
    with pytest.raises(TlsError, match="certificate refused"):
        await verified(server, pems / "ca.pem", "elsewhere.test")
    assert await verified(server, None, "elsewhere.test", insecure=True) == "h2"


@pytest.mark.parametrize(("name", "said"), [("absent.pem", "no such file"), ("text.txt", "holds no PEM certificates")])
def test_a_wrong_upstream_ca_is_said(name, said, pems):
    with pytest.raises(UsageError, match=f"--upstream-ca: .*{said}"):
        tls.client_context(pems / name, ["h2"], insecure=False)


def test_old_versions_of_tls_are_not_spoken(pems):
    server, _ = tls.server_context(f"{pems}/cert.pem:{pems}/key.pem", [], None)
    assert server.minimum_version >= ssl.TLSVersion.TLSv1_2
