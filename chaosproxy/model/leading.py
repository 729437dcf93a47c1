"""The environment that leads the known SDKs to a proxy, as each of them reads it.

Must not know: proxies, whose environment it is.
"""

from collections.abc import Mapping

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


def leading(url: str, said: Mapping[str, str]) -> dict[str, str]:
    """The variables to set. A key that is `said` is kept: the upstream may be a real one. No HTTP_PROXY of the machine
    stands between a client and its proxy."""
    made = {name: url + path for name, path in BASE_URLS.items()}
    made |= {name: "chaosproxy" for name in KEYS if not said.get(name)}
    return made | {name: f"{said[name]},{LOOPBACK}" if said.get(name) else LOOPBACK for name in DIRECT}
