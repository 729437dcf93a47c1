"""A suite of a user's, in a pytest of its own: warnings are errors, unknown markers too.

A pytest in this process forgets what it has imported, so what the plugin imports late is imported here.
"""

import os

import pytest

import chaosproxy
import chaosproxy.embedded.again
import chaosproxy.embedded.served
import chaosproxy.origin.serving
import chaosproxy.report.pages
import chaosproxy.scenario.dump
import chaosproxy.scenario.load

FOREIGN = ("OPENAI_", "ANTHROPIC_", "OLLAMA_", "GEMINI_", "GOOGLE_", "PYTEST_")
EVENTS = "".join(f"data: {number}\n\n" for number in range(8))
ANSWER = {
    "version": 1,
    "faults": [{"respond": {"status": 200, "headers": {"content-type": "text/event-stream"}, "body": EVENTS}}],
}


@pytest.fixture(scope="module")
def upstream():
    with chaosproxy.serve(ANSWER, upstream="http://127.0.0.1:1") as proxy:
        yield proxy.url


@pytest.fixture
def page(pytester, monkeypatch):
    """A clean environment; runs a pytest that is given the options, and is none of ours."""
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        monkeypatch.delenv(name)
    pytester.makefile(".yaml", three="version: 1\nfaults:\n  - cut: {at: {event: 3}, then: rst}\n")

    def run(runs, *options):
        done = runs("-W", "error", "--strict-markers", "-p", "no:cacheprovider", *options)
        assert "INTERNALERROR" not in done.stdout.str() + done.stderr.str()
        return done

    return run


@pytest.fixture
def suite(pytester, page):
    """Runs the tests given as text, in this process: what they use is loaded already."""

    def run(text, *options):
        pytester.makepyfile(text)
        return page(pytester.runpytest_inprocess, *options)

    return run


@pytest.fixture
def suite_apart(pytester, page):
    """The same in a process of its own, for what minds what is loaded, or runs an event loop."""

    def run(text, *options):
        pytester.makepyfile(text)
        return page(pytester.runpytest_subprocess, *options)

    return run
