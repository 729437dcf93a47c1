"""A suite of a user's, in a pytest of its own: warnings are errors, unknown markers too."""

import os

import pytest

import chaosproxy

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
def suite(pytester, monkeypatch):
    """Runs the tests given as text."""
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_", "OLLAMA_", "PYTEST_"))]:
        monkeypatch.delenv(name)
    pytester.makefile(".yaml", three="version: 1\nfaults:\n  - cut: {at: {event: 3}, then: rst}\n")

    def run(text, *options):
        pytester.makepyfile(text)
        done = pytester.runpytest_subprocess("-W", "error", "--strict-markers", "-p", "no:cacheprovider", *options)
        assert "INTERNALERROR" not in done.stdout.str() + done.stderr.str()
        return done

    return run
