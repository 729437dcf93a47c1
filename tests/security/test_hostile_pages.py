"""A card shows hostile text and does nothing with it, in HTML, JUnit XML and Markdown, as a report does; and in a browser
none of many payloads runs, nor tries to."""

import subprocess
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from chaosproxy.check import junit, markdown, page
from chaosproxy.report.pages import write
from tests.interop.conftest import find
from tests.report.examples import cut, left, verdicts
from tests.report.test_hostile import HOSTILE, UNSEEN, Tree, filled, report
from tests.security.hostile import card, orders
from tests.security.payloads import PAYLOADS

BENIGN = "benign"
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-dev-shm-usage"
TEXTS = (*HOSTILE, *PAYLOADS)
BROKEN = """<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-a'">
<script nonce="a">console.log("RAN")</script><script>console.log("TAKEN")</script>"""
"""A page whose own policy is broken: the browser tells of that, and of what runs."""


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
    wrong = [f"{text[:60]!a}" for text in TEXTS if FORMS[form](text) != plain]
    shown(
        "secrets",
        f"hostile text in a card as {form}",
        tried=len(TEXTS),
        must="the same document around it as around a plain word",
        happens="the same" if not wrong else f"{len(wrong)} others",
    )
    assert wrong == []


def test_a_report_is_the_same_around_it(shown):
    plain = Tree(report(BENIGN, "html"))
    wrong = [
        text
        for text in PAYLOADS
        if (tree := Tree(report(text, "html"))).nodes != plain.nodes or tree.code != plain.code
    ]
    shown(
        "secrets",
        "markup that would run, in every field of a report's page",
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
    (tmp_path / "report.html").write_text(write(records, verdicts(), "html", title=PAYLOADS[0]), encoding="utf-8")
    (tmp_path / "card.html").write_text("".join(page.pieces(card(*PAYLOADS))), encoding="utf-8")
    (tmp_path / "broken.html").write_text(BROKEN, encoding="utf-8")
    said = console(tmp_path, ["report.html", "card.html"])
    taken, refused = said.count("TAKEN"), said.count("Content Security Policy")
    control = console(tmp_path, ["broken.html"])
    assert "RAN" in control
    assert "TAKEN" not in control
    assert "Content Security Policy" in control
    shown(
        "secrets",
        "markup that would run, in pages opened by Chromium",
        tried=len(PAYLOADS),
        must="nothing runs, and the policy has nothing to refuse",
        happens=f"{taken} ran, {refused} refused",
    )
    assert (taken, refused) == (0, 0), said


def console(folder, names):
    """What a browser says of these pages, side by side in one."""
    frames = "".join(f"<iframe src={name}></iframe>" for name in names)
    (folder / "all.html").write_text(f"<!DOCTYPE html>{frames}", encoding="utf-8")
    command = [find("chromium"), *FLAGS.split(), "--enable-logging=stderr", f"--user-data-dir={folder}/profile"]
    command += ["--allow-file-access-from-files", "--dump-dom", (folder / "all.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100, errors="replace")
    assert done.stdout.count("<iframe") == len(names)
    return done.stderr
