"""Secrets on the command line and in what programs say of it: refused options, `check`, `diagnose`, a test that fails."""

import sys

import pytest

import chaosproxy
import chaosproxy.embedded.again
import chaosproxy.embedded.served
import chaosproxy.report.pages
import chaosproxy.scenario.dump
import chaosproxy.scenario.load
from chaosproxy.cli.main import status_of
from chaosproxy.errors import UsageError
from tests.security.canaries import Canaries, summary

NOWHERE = "http://127.0.0.1:1"
ADDRESSES = (
    "http://me:{}@host:80",
    "https://{}@host",
    "h2c://me:{}@host:99999",
    "ftp://me:{}@host",
    "me:{}@host:80",
    "http://me:a/{}@host",
    "http://me:a?{}@host",
    "http://127.0.0.1:1/?key={}",
    "http://127.0.0.1:1/#access_token={}",
    "http://[host/?key={}",
    "http://h\udc80/?{}",
)
CLIENT = """
import os, sys, urllib.request

asked = os.environ["CHAOSPROXY_URL"] + "/sse?tokens=12&first=1ms&gap=1ms&key=" + os.environ["A_KEY"]
fields = {"Authorization": "Bearer " + os.environ["A_KEY"], "X-Api-Key": sys.argv[2]}
with urllib.request.urlopen(urllib.request.Request(asked, headers=fields)) as answer:
    print(answer.read().decode())
"""
SUITE = """
import os, urllib.request
import pytest

@pytest.mark.chaosproxy("keyed.yaml")
def test_it(chaosproxy):
    asked = urllib.request.Request(chaosproxy.url + "/x?key=" + os.environ["A_KEY"])
    asked.add_header("Authorization", "Bearer " + os.environ["A_KEY"])
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked).read()
    chaosproxy.wait(timeout=20)
    assert chaosproxy.last.end.how == "rst", (chaosproxy, chaosproxy.last, chaosproxy.verdict())

@pytest.mark.chaosproxy({"version": 1, "seed": "${A_KEY}"})
def test_wrong(chaosproxy):
    pass
"""
KEYED = """
version: 1
faults:
  - auth: {token: "${A_KEY}"}
  - respond: {headers: {set-cookie: "${A_KEY}"}, body: "${A_KEY}"}
expect:
  - ended: {how: rst}
  - header: {name: set-cookie}
"""


@pytest.fixture
def secret():
    return Canaries()


def test_options_that_are_refused(secret, tmp_path, capsys, monkeypatch, shown):
    broken = tmp_path / "key.pem"
    broken.write_text(f"-----BEGIN PRIVATE KEY-----\n{secret('a key file')}\n-----END PRIVATE KEY-----\n")
    commands = [["run", "--upstream", NOWHERE, "--tls", f"{broken}:{broken}"]]
    for words in (["run", "--upstream"], ["healthcheck"], ["diagnose"], ["check", "--gateway"]):
        commands += [[*words, one.format(secret(f"{words[0]} {one}"))] for one in ADDRESSES]
    commands += [
        ["diagnose", NOWHERE, "-H", f"Authorization {secret('-H without a colon')}"],
        ["diagnose", NOWHERE, "-H", f": {secret('-H without a name')}"],
        ["diagnose", NOWHERE, "-H", f"X-Api-Key {secret('-H with a blank')}: x"],
        ["diagnose", NOWHERE, "-H", f"X-Api-Key: a\r\n{secret('-H of two lines')}"],
        ["diagnose", NOWHERE, "-H", f"Host: me:{secret('-H Host')}@host"],
        ["diagnose", NOWHERE, "-X", f"GET /?{secret('-X')}"],
        ["diagnose", f"{NOWHERE}/?key={secret('a URL where nobody is')}", "--times", "1"],
        ["diagnose", NOWHERE, "--abort-probe", f"http://me:{secret('--abort-probe')}@host"],
        ["check", "--gateway", NOWHERE, "--path", f"x?key={secret('--path')}"],
    ]
    commands += [
        ["run", f"--upstreem=http://me:{secret('an option that there is not')}@host"],
        ["healthcheck", "x", f"http://me:{secret('an argument too much')}@host/?key={secret('its query')}"],
        ["diagnose", NOWHERE, "--times", f"http://me:{secret('a value of another kind')}@host"],
        ["run", "--tls", "auto", "--upstream", NOWHERE, "--speed", f"?token={secret('a query of another kind')}"],
    ]
    said = []
    for words in commands:
        assert status_of(words) in {1, 2, 3}, words
        said.append("".join(capsys.readouterr()))
    monkeypatch.setenv("CHAOSPROXY_UPSTREAM", f"http://me:{secret('CHAOSPROXY_UPSTREAM')}@host")
    assert status_of(["run"]) == 2
    said.append("".join(capsys.readouterr()))
    for given in (f"http://me:{secret('upstream')}@host", ["http://a", f"me:{secret('one of several')}@host", 5]):
        with pytest.raises(UsageError) as wrong:
            chaosproxy.serve(upstream=given)
        said.append(f"{wrong.value!r}{wrong.value}")
    assert all(said)
    leaks = secret.found({"messages": "\n".join(said)})
    shown(
        "secrets",
        "URLs with user information or a query, and fields, that are refused",
        tried=len(secret.places),
        must="the message masks them",
        happens=summary(leaks),
    )
    assert leaks == []


def test_a_card(secret, tmp_path, capsys, monkeypatch, shown):
    monkeypatch.setenv("A_KEY", secret("the client's environment"))
    client = tmp_path / "client.py"
    client.write_text(CLIENT)
    files = {kind: tmp_path / f"card.{kind}" for kind in ("html", "junit", "markdown")}
    written = [word for kind, file in files.items() for word in (f"--{kind}", str(file))]
    words = [
        "--api-key",
        secret("an option"),
        f"--token={secret('an option with ='):}",
        f"A_TOKEN={secret('a variable')}",
    ]
    words += [
        "-H",
        f"Authorization: Bearer {secret('a field')}",
        f"http://me:{secret('a user')}@host/?key={secret('a query')}",
    ]
    outputs = {}
    for case, form in (("fin", written), ("whole", ["--json"])):
        assert status_of(["check", "--only", case, *form, "--", sys.executable, str(client), *words]) in {0, 1}
        outputs["--json" if "--json" in form else "the table"] = "".join(capsys.readouterr())
    outputs |= {kind: file.read_text() for kind, file in files.items()}
    assert "--api-key '***'" in outputs["markdown"] or "--api-key ***" in outputs["markdown"]
    leaks = secret.found(outputs)
    shown(
        "secrets",
        "a card's client: its command, its environment, its requests",
        tried=len(secret.places),
        must="table, JSON, JUnit, HTML and Markdown have none",
        happens=summary(leaks),
    )
    assert leaks == []


def test_a_diagnosis(secret, capsys, shown):
    stream = {"status": 200, "headers": {"content-type": "text/event-stream"}, "body": "data: 1\n\n" * 20}
    there = f"https://me:{secret('Location: user')}@host/?token={secret('Location: query')}"
    lost = {"status": 302, "headers": {"location": there, "set-cookie": secret("Set-Cookie")}, "body": secret("a body")}
    answers = [{"version": 1, "faults": [{"respond": one}]} for one in (stream, lost)]
    query = f"?api_key={secret('the query')}&sig={secret('another parameter')}"
    asked = ["-H", f"Authorization: Bearer {secret('-H')}", "-d", f'{{"key": "{secret("-d")}"}}']
    outputs = {}
    with (
        chaosproxy.serve(answers[0], upstream=NOWHERE) as inner,
        chaosproxy.serve(answers[1], upstream=NOWHERE) as outer,
    ):
        for form in ([], ["--json"]):
            urls = [f"{one.url}/{query}" for one in (inner, outer)]
            options = ["--times", "1", "--jobs", "4", "--abort-probe", "none", *form]
            assert status_of(["diagnose", *urls, *asked, *options]) == 1
            outputs["".join(form) or "picture"] = "".join(capsys.readouterr())
    assert "302" in outputs["picture"]
    assert "Location: https://***@host/?token=***" in " ".join(outputs["picture"].split())
    assert "?api_key=***" in outputs["--json"]
    leaks = secret.found(outputs)
    shown(
        "secrets",
        "a diagnosis: URLs, fields and bodies of requests, Location, cookies and bodies of answers",
        tried=len(secret.places),
        must="picture and JSON have none",
        happens=summary(leaks),
    )
    assert leaks == []


def test_a_test_that_fails(secret, pytester, monkeypatch, shown):
    word = secret("a variable, a field, a query, a cookie and a body")
    monkeypatch.setenv("A_KEY", word)
    pytester.makefile(".yaml", keyed=KEYED)
    pytester.makepyfile(SUITE)
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "--chaosproxy-report=kept", "--junitxml=tests.xml")
    done = pytester.runpytest_inprocess("--chaosproxy-upstream", NOWHERE, *options)
    done.assert_outcomes(failed=1, errors=1)
    files = [*pytester.path.glob("kept/*"), pytester.path / "tests.xml"]
    assert len(files) == 3, "a page, a journal, and pytest's own"
    outputs = {"pytest": done.stdout.str() + done.stderr.str()} | {file.suffix: file.read_text() for file in files}
    assert "GET /x 200" in outputs["pytest"]
    leaks = secret.found(outputs)
    shown(
        "secrets",
        "a test that fails: its text, its report, its journal, pytest's JUnit XML",
        tried=len(outputs),
        must="none has a variable's value",
        happens=summary(leaks),
    )
    assert leaks == []
