"""The environment that leads the known SDKs to a proxy, as each of them reads it.

Must not know: proxies.
"""

import os

import pytest

BASE_URLS = {
    "OPENAI_BASE_URL": "/v1",
    "OPENAI_API_BASE": "/v1",  # LangChain, and OpenAI's own before 1.0
    "ANTHROPIC_BASE_URL": "",
    "OLLAMA_HOST": "",
    "GOOGLE_GEMINI_BASE_URL": "",
}
"""The variable, and what it has behind the proxy's URL."""
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
"""Without one a client does not even begin."""
DIRECT = ("NO_PROXY", "no_proxy")
LOOPBACK = "127.0.0.1,localhost,::1"


def lead_sdks(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """For this test. A key that is there is kept: the upstream may be a real one. No HTTP_PROXY of the machine stands
    between a client and its proxy."""
    for name, path in BASE_URLS.items():
        monkeypatch.setenv(name, url + path)
    for name in KEYS:
        if not os.environ.get(name):
            monkeypatch.setenv(name, "chaosproxy")
    for name in DIRECT:
        said = os.environ.get(name)
        monkeypatch.setenv(name, f"{said},{LOOPBACK}" if said else LOOPBACK)
