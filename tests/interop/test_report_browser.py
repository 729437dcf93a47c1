"""A browser opens a report: the page's own script runs under its policy, and nothing that a peer has sent does."""

import subprocess

import pytest

from chaosproxy.report.pages import write
from tests.interop.conftest import find
from tests.report.examples import cut, examples, verdicts

FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-dev-shm-usage"
EVIL = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


@pytest.mark.timeout(120)
def test_a_browser_filters_and_runs_nothing_else(tmp_path):
    evil = cut(7)
    evil.request.path = evil.detail = evil.faults[0].detail = evil.request.headers[0][1] = EVIL
    page = tmp_path / "report.html"
    page.write_text(write([*examples(), evil], verdicts(), "html", title=EVIL), encoding="utf-8")
    command = [find("chromium"), *FLAGS.split(), f"--user-data-dir={tmp_path}/profile", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    assert '<output id="count">7 of 7</output>' in done.stdout, "the script has run"
    assert '<form id="filter">' in done.stdout, "and shown its form"
    assert "<title>taken" not in done.stdout
    assert done.stdout.count("<script>") == 1
    assert "<img" not in done.stdout
    assert done.stdout.count("&lt;img src=x") >= 4
