"""A card shows hostile text and does nothing with it, in HTML, JUnit XML and Markdown, as a report does; and in a browser
none of many payloads runs, nor tries to."""

import subprocess
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from chaosproxy.check import junit, markdown, page
from chaosproxy.report.exchange_html import exchange
from chaosproxy.report.markup import as_html
from chaosproxy.report.pages import write
from tests.interop.conftest import find
from tests.report.examples import cut, left, verdicts
from tests.report.test_hostile import HOSTILE, UNSEEN, Tree, filled
from tests.security.hostile import card, orders
from tests.security.payloads import PAYLOADS

BENIGN = "benign"
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-dev-shm-usage"
BROKEN = """<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-a'">
<script nonce="a">console.log("RAN")</script><script>console.log("TAKEN")</script>"""
"""A page whose own policy is broken: the browser tells of that, and of what runs."""
REFUSED = "Content Security Policy"
ALL = """<!DOCTYPE html><iframe src=report.html></iframe><iframe src=card.html></iframe><iframe src=broken.html></iframe>
<script>onload = () => {
  const [report, card] = [frames[0].document, frames[1].document];
  console.log(`SEEN ${report.getElementById("count").value}, ${card.querySelectorAll("article,details.verdict").length} drawn`);
}</script>"""
"""All of them side by side; it tells that they are there."""


def nodes(text):
    """Of a card's page, without what tells of the client's requests in attributes."""
    tree = Tree("".join(page.pieces(card(text))))
    assert not UNSEEN.search(tree.text)
    return tree.nodes, tree.code


def cases(text):
    return [(node.tag, sorted(node.attrib)) for node in ET.fromstring("".join(junit.pieces(card(text)))).iter()]


def marks(text):
    said = "".join(markdown.pieces(card(text)))
    assert orders(said) == []
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(said):
        found.append((token.type, token.content if token.type == "html_block" else token.info))
        found += [(child.type, child.info) for child in token.children or []]
    return found


FORMS = {"HTML": nodes, "JUnit XML": cases, "Markdown": marks}


@pytest.mark.parametrize("form", FORMS)
def test_a_card_is_the_same_around_it(form, shown):
    plain = FORMS[form](BENIGN)
    texts = (*HOSTILE, *PAYLOADS) if form == "HTML" else HOSTILE
    wrong = [f"{text[:60]!a}" for text in texts if FORMS[form](text) != plain]
    shown(
        "secrets",
        f"hostile text in a card as {form}",
        tried=len(texts),
        must="the same document around it as around a plain word",
        happens="the same" if not wrong else f"{len(wrong)} others",
    )
    assert wrong == []


def pictures(text):
    """What a report has of two exchanges."""
    tree = Tree("".join(as_html(exchange(filled(made(), text))) for made in (cut, left)))
    assert not UNSEEN.search(tree.text)
    return tree.nodes, tree.code


def test_an_exchange_is_the_same_around_it(shown):
    plain = pictures(BENIGN)
    wrong = [f"{text!a}" for text in PAYLOADS if pictures(text) != plain]
    shown(
        "secrets",
        "markup that would run, in every field of an exchange on a report's page",
        tried=len(PAYLOADS),
        must="the same document around it as around a plain word",
        happens="the same" if not wrong else f"{len(wrong)} others",
    )
    assert wrong == []


@pytest.mark.timeout(120)
def test_in_a_browser_nothing_runs(tmp_path, shown):
    """The report and the card, each with every payload in every field; and a page that breaks its policy, to see that the
    browser tells."""
    records = [filled(cut(number), text) for number, text in enumerate(PAYLOADS, 10)]
    records += [filled(left(number), text) for number, text in enumerate(PAYLOADS, 100)]
    pages = {
        "report.html": write(records, verdicts(), "html", title=PAYLOADS[0]),
        "card.html": "".join(page.pieces(card(*PAYLOADS))),
        "broken.html": BROKEN,
        "all.html": ALL,
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [find("chromium"), *FLAGS.split(), "--enable-logging=stderr", f"--user-data-dir={tmp_path}/profile"]
    command += ["--allow-file-access-from-files", "--dump-dom", (tmp_path / "all.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100, errors="replace")
    said = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    control = "\n".join(line for line in said if "broken.html" in line)
    assert "RAN" in control
    assert "TAKEN" not in control
    assert REFUSED in control
    assert f"SEEN {len(records)} of {len(records)}, {len(PAYLOADS) * 5} drawn" in "".join(said), "the pages are there"
    ours = [line for line in said if "broken.html" not in line and "SEEN" not in line]
    ran, refused = (sum(word in line for line in ours) for word in ("TAKEN", REFUSED))
    shown(
        "secrets",
        "markup that would run, in pages opened by Chromium",
        tried=len(PAYLOADS),
        must="nothing runs, and the policy has nothing to refuse",
        happens=f"{ran} ran, {refused} refused",
    )
    assert ours == []
