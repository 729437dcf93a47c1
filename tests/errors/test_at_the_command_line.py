"""Every way to call the program wrong: the exit status and the line that says what to do. Never a traceback.

What `click` says is its own; of that only what we put in, and the status.
"""

import re
import socket
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization as form

from chaosproxy.cli.main import status_of

RUN = ("run", "--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0")
URL = "write http://HOST:PORT, https://HOST:PORT or h2c://HOST:PORT; a port is 1 to 65535"
LISTEN = "write HOST:PORT, 127.0.0.1:8666; port 0 is any free one"
LISTED = "`chaosproxy scenarios` lists them"
FAULTS = "known: abort_upstream, absorb, accept, age, auth, "
TAKEN = "cannot listen on 127.0.0.1:TAKEN: the port is taken; choose another, or 0 for any free one"

SAID = {
    "no such command": (
        ("rnu",),
        2,
        "no such command 'rnu'; there are: run, demo, diagnose, scenarios, faults, lint, schema, ",
    ),
    "no upstream": (
        ("run",),
        2,
        "run needs --upstream URL (or CHAOSPROXY_UPSTREAM), the server behind it: http://HOST:PORT\n",
    ),
    "an option misspelt": (("run", "--upstreem", "x"), 2, "--upstream"),
    "an upstream without scheme": (("run", "--upstream", "127.0.0.1:80"), 2, f"upstream '127.0.0.1:80': {URL}\n"),
    "a scheme that is none": (("run", "--upstream", "ftp://x"), 2, f"upstream 'ftp://x': {URL}\n"),
    "an upstream's port": (("run", "--upstream", "http://x:99999"), 2, f"upstream 'http://x:99999': {URL}\n"),
    "an upstream's port 0": (("run", "--upstream", "http://x:0"), 2, f"upstream 'http://x:0': {URL}\n"),
    "an upstream with a query": (
        ("run", "--upstream", "http://x/?a=b"),
        2,
        "upstream 'http://x/?***': only a host, a port and a path prefix can stand here, as in http://HOST:PORT/PREFIX\n",
    ),
    "a listen address": ((*RUN, "--listen", "nowhere"), 2, f"listen address 'nowhere': {LISTEN}\n"),
    "a listen port": ((*RUN, "--listen", "127.0.0.1:70000"), 2, f"listen address '127.0.0.1:70000': {LISTEN}\n"),
    "IPv6 without brackets": (
        (*RUN, "--listen", "::1:80"),
        2,
        "listen address '::1:80': write an IPv6 address in brackets, [::1]:8666\n",
    ),
    "a port that is taken": ((*RUN, "--listen", "127.0.0.1:TAKEN"), 3, f"{TAKEN}\n"),
    "an address of another machine": (
        (*RUN, "--listen", "192.0.2.1:0"),
        3,
        "cannot listen on 192.0.2.1:0: this machine has no such address\n",
    ),
    "a name that is none": ((*RUN, "--listen", "a..b:0"), 3, "cannot listen on a..b:0: no host name\n"),
    "a grace without unit": (
        (*RUN, "--grace", "5"),
        2,
        "'--grace': '5' is no duration; write 250ms, 1.5s, 2m, 1h or forever\n",
    ),
    "a speed of 0": ((*RUN, "--speed", "0"), 2, "'--speed': "),
    "no memory": ((*RUN, "--journal-limit", "0"), 2, "'--journal-limit': "),
    "a seed that is no number": ((*RUN, "--seed", "x"), 2, "'--seed': 'x' "),
    "half of a pair": (
        (*RUN, "--tls", "cert.pem"),
        2,
        "--tls 'cert.pem': write auto, or CERT:KEY (two PEM files)\n",
    ),
    "a key that is not there": ((*RUN, "--tls", "cert.pem:absent.pem"), 2, "--tls: no such file: absent.pem\n"),
    "a key that is a directory": ((*RUN, "--tls", "cert.pem:folder"), 2, "--tls: not a regular file: folder\n"),
    "a certificate that is a text": ((*RUN, "--tls", "text.txt:key.pem"), 2, "--tls: text.txt is no PEM file\n"),
    "a key in the place of the certificate": (
        (*RUN, "--tls", "key.pem:cert.pem"),
        2,
        "--tls: cert.pem holds no private key\n",
    ),
    "a key of another certificate": (
        (*RUN, "--tls", "cert.pem:other.pem"),
        2,
        "--tls: the key in other.pem does not belong to the certificate in cert.pem\n",
    ),
    "a locked key": (
        (*RUN, "--tls", "cert.pem:locked.pem"),
        2,
        "--tls: the key in locked.pem is encrypted; a key without a passphrase is needed\n",
    ),
    "ca-out alone": ((*RUN, "--ca-out", "ca.pem"), 2, "--ca-out goes with --tls auto\n"),
    "ca-out to nowhere": (
        (*RUN, "--tls", "auto", "--ca-out", "absent/ca.pem"),
        2,
        "--ca-out: cannot write absent/ca.pem: No such file or directory\n",
    ),
    "a CA that is not there": (
        ("run", "--upstream", "https://127.0.0.1:9", "--upstream-ca", "absent.pem"),
        2,
        "--upstream-ca: no such file: absent.pem\n",
    ),
    "a CA that is a text": (
        ("run", "--upstream", "https://127.0.0.1:9", "--upstream-ca", "text.txt"),
        2,
        "--upstream-ca: text.txt holds no PEM certificates: ",
    ),
    "a journal in a directory that is not there": (
        (*RUN, "--journal", "absent/j.jsonl"),
        2,
        "cannot write the journal absent/j.jsonl: No such file or directory\n",
    ),
    "a journal that is a directory": (
        (*RUN, "--journal", "folder"),
        2,
        "cannot write the journal folder: Is a directory\n",
    ),
    "a journal that is a link": (
        (*RUN, "--journal", "link.jsonl"),
        2,
        "cannot write the journal link.jsonl: a symbolic link is not followed; name the file itself\n",
    ),
    "a ready file in a directory that is not there": (
        (*RUN, "--ready-file", "absent/ready"),
        2,
        "cannot write the ready file absent/ready: no such directory, or not writable\n",
    ),
    "an upstream waited for in vain": (
        ("run", "--upstream", "http://127.0.0.1:FREE", "--wait-upstream", "100ms"),
        3,
        "upstream http://127.0.0.1:FREE does not accept connections within 100ms",
    ),
    "a scenario misspelt": (
        (*RUN, "idle-dorp"),
        2,
        f"no file and no shipped scenario is called 'idle-dorp'; did you mean 'idle-drop'? {LISTED}\n",
    ),
    "a scenario that is not there": (
        (*RUN, "absent.yaml"),
        2,
        "absent.yaml: cannot be read: No such file or directory\n",
    ),
    "a scenario that is a directory": (
        (*RUN, "folder"),
        2,
        "folder: cannot be read: a directory; name a file in it\n",
    ),
    "a scenario with a mistake": (
        (*RUN, "wrong.yaml"),
        2,
        f"wrong.yaml:3:5: unknown fault 'bufer'; did you mean 'buffer'? {FAULTS}",
    ),
    "a demo of a scenario misspelt": (
        ("demo", "bufer-4k"),
        2,
        f"no file and no shipped scenario is called 'bufer-4k'; did you mean 'buffer-4k'? {LISTED}\n",
    ),
    "a demo of a scenario with a mistake": (
        ("demo", "wrong.yaml"),
        2,
        f"wrong.yaml:3:5: unknown fault 'bufer'; did you mean 'buffer'? {FAULTS}",
    ),
    "a picture to nowhere": (
        ("demo", "--svg", "absent/x.svg"),
        2,
        "cannot write the picture absent/x.svg: no such directory, or not writable\n",
    ),
    "a shipped scenario misspelt": (
        ("scenarios", "idle-dorp"),
        2,
        f"no shipped scenario is called 'idle-dorp'; did you mean 'idle-drop'? {LISTED}\n",
    ),
    "a file where a name stands": (
        ("scenarios", "wrong.yaml"),
        2,
        f"no shipped scenario is called 'wrong.yaml'; {LISTED}\n",
    ),
    "nothing to lint": (("lint",), 2, "FILE ..."),
    "an origin's port that is taken": (("origin", "--listen", "127.0.0.1:TAKEN"), 3, f"{TAKEN}\n"),
    "an origin's address": (("origin", "--listen", "8000"), 2, f"listen address '8000': {LISTEN}\n"),
    "an origin without slots": (("origin", "--slots", "0"), 2, "'--slots': "),
    "a link that is none": (("origin", "--break", "x"), 2, "'disconnect', 'engine', 'scheduler', 'blocks'"),
    "nobody who is healthy": (
        ("healthcheck", "127.0.0.1:FREE"),
        1,
        "nothing accepts connections at 127.0.0.1:FREE: Connection refused\n",
    ),
    "a URL with a question": (
        ("healthcheck", "http://x/?a=b"),
        2,
        "URL 'http://x/?***': only a host, a port and a path prefix can stand here, as in http://HOST:PORT/PREFIX\n",
    ),
    "a hop without its scheme": (
        ("diagnose", "127.0.0.1:8000/sse"),
        2,
        f"URL '127.0.0.1:8000/sse': {URL}\n",
    ),
    "a vendor in place of its machine": (
        ("scenarios", "alb"),
        2,
        "no shipped scenario is called 'alb'; there are aws-alb, gcp-alb\n",
    ),
    "the health of something else": (("healthcheck", "ftp://x"), 2, f"URL 'ftp://x': {URL}\n"),
}


@pytest.fixture(scope="module")
def ports():
    """One that is taken, and one where nobody is."""
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # nobody accepts there, and nobody else can have it
        numbers = {"TAKEN": str(taken.getsockname()[1]), "FREE": str(free.getsockname()[1])}
        yield lambda text: re.sub("TAKEN|FREE", lambda name: numbers[name[0]], text)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    authority = trustme.CA()
    leaf = authority.issue_cert("localhost")
    leaf.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    leaf.private_key_pem.write_to_path(folder / "key.pem")
    authority.issue_cert("localhost").private_key_pem.write_to_path(folder / "other.pem")
    key = form.load_pem_private_key(leaf.private_key_pem.bytes(), None)
    (folder / "locked.pem").write_bytes(
        key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.BestAvailableEncryption(b"secret"))
    )
    (folder / "text.txt").write_text("no certificate\n")
    (folder / "folder").mkdir()
    (folder / "link.jsonl").symlink_to("elsewhere.jsonl")
    (folder / "wrong.yaml").write_text("version: 1\nfaults:\n  - bufer: 4KiB\n")
    return folder


@pytest.mark.parametrize(("words", "status", "expected"), SAID.values(), ids=SAID)
def test_what_is_said(words, status, expected, files, ports, monkeypatch, capsys):
    monkeypatch.chdir(files)
    before = sorted(Path().iterdir())
    assert status_of([ports(word) for word in words]) == status
    said, complained = capsys.readouterr()
    assert said == ""
    assert ports(expected) in complained
    if expected.endswith("\n"):  # all of it is ours
        assert complained.splitlines()[-1].removeprefix("Error: Invalid value for ").removeprefix(
            "chaosproxy: "
        ) == ports(expected).removesuffix("\n")
    assert "Traceback" not in complained
    assert sorted(Path().iterdir()) == before, "and nothing is left behind"
