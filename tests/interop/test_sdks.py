"""What the providers' own clients make of a stream that goes wrong, and what the engine behind it makes of them.

The clients are used as their documentation shows, against the embedded origin, through a proxy of a scenario's. What is
asserted is what their authors' choice amounts to: a truncated answer is not always an error.
"""

import contextlib
import datetime as dt
import gc
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anthropic
import httpx
import httpx2
import ollama
import openai
import pytest

import chaosproxy
from chaosproxy.origin.serving import OriginOptions, serving
from tests.interop.conftest import WITHIN, find, missing, until

pytestmark = [
    # The Ollama client leaves closing to the garbage collector where a stream broke off.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def collected():
    """It is garbage here, where nobody minds, and not in a later test."""
    yield
    gc.collect()


ASKED = [{"role": "user", "content": "hi"}]
PATIENT = 60.0
"""A client's time-out where none is meant to fire."""
IMPATIENT = 3.0


@dataclass
class Outcome:
    """What an application would have seen."""

    text: str = ""
    finish: str | None = None
    error: BaseException | None = None
    pieces: list[str] = field(default_factory=list)

    def add(self, text: str | None) -> None:
        self.pieces.append(text or "")
        self.text += text or ""


def openai_chat(url: str, timeout: float, seen: Outcome) -> None:
    with openai.OpenAI(base_url=url + "/v1", api_key="k", timeout=timeout) as client:
        for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
            seen.add(chunk.choices[0].delta.content)
            seen.finish = chunk.choices[0].finish_reason or seen.finish


def anthropic_messages(url: str, timeout: float, seen: Outcome) -> None:
    with anthropic.Anthropic(base_url=url, api_key="k", timeout=timeout) as client:
        for event in client.messages.create(model="m", max_tokens=8, messages=ASKED, stream=True):
            if event.type == "content_block_delta":
                seen.add(event.delta.text)
            elif event.type == "message_delta":
                seen.finish = event.delta.stop_reason


def ollama_chat(url: str, timeout: float, seen: Outcome) -> None:
    client = ollama.Client(host=url, timeout=timeout, trust_env=False)
    for part in client.chat("m", ASKED, stream=True):
        seen.add(part.message.content)
        seen.finish = part.done_reason or seen.finish


Client = Callable[[str, float, Outcome], None]
CLIENTS: dict[str, Client] = {"openai": openai_chat, "anthropic": anthropic_messages, "ollama": ollama_chat}


def watched(client: Client, url: str, timeout: float = PATIENT) -> Outcome:
    seen = Outcome()
    try:
        client(url, timeout, seen)
    except Exception as error:  # noqa: BLE001 - which one it is, is what the test asks
        seen.error = error
    return seen


def cut(then: str) -> dict:
    return {"version": 1, "faults": [{"cut": {"at": {"event": 5}, "then": then}}]}


def error_event(shape: str) -> dict:
    fault = {"at": {"event": 5}, "format": shape, "message": "the engine is overloaded"}
    return {"version": 1, "faults": [{"error_event": fault}]}


STALL = {"version": 1, "faults": [{"stall": {"at": {"event": 5}, "for": "forever"}}]}
LIMITED = {"version": 1, "rules": [{"nth": 1, "faults": [{"respond": {"status": 429, "retry_after": 1}}]}]}
SHAPES = {"openai": "openai", "anthropic": "anthropic", "ollama": "ndjson"}


@pytest.fixture(scope="module")
def whole() -> dict[str, str]:
    """Each client's text of an undisturbed answer."""
    with chaosproxy.serve() as proxy:
        outcomes = {name: watched(client, proxy.url) for name, client in CLIENTS.items()}
    assert {name: seen.error for name, seen in outcomes.items()} == dict.fromkeys(CLIENTS)
    assert all(seen.finish for seen in outcomes.values())
    return {name: seen.text for name, seen in outcomes.items()}


def truncated(seen: Outcome, whole: str) -> bool:
    return 0 < len(seen.text) < len(whole) and whole.startswith(seen.text)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_clean_early_end_is_not_an_error_to_any_of_them(name, whole):
    """Nothing raises. Only an application that asks for the reason of the end can tell."""
    with chaosproxy.serve(cut("clean")) as proxy:
        seen = watched(CLIENTS[name], proxy.url)
        (record,) = proxy.wait()
    assert truncated(seen, whole[name])
    assert (seen.error, seen.finish) == (None, None)
    assert (record.end.by, record.end.how, record.response.events_out) == ("proxy", "clean", 5)


BROKEN = {
    ("openai", "fin"): (openai.APIConnectionError, httpx2.RemoteProtocolError),
    ("openai", "rst"): (openai.APIConnectionError, httpx2.ReadError),
    ("anthropic", "fin"): (httpx2.RemoteProtocolError, None),
    ("anthropic", "rst"): (httpx2.ReadError, None),
    ("ollama", "fin"): (httpx.RemoteProtocolError, None),
    ("ollama", "rst"): (httpx.ReadError, None),
}
"""The error, and the one that it says it comes from. Two of them let their HTTP library's own errors through."""


@pytest.mark.parametrize(("name", "then"), BROKEN)
def test_a_stream_that_breaks_off_raises_and_is_not_asked_for_again(name, then, whole):
    with chaosproxy.serve(cut(then)) as proxy:
        seen = watched(CLIENTS[name], proxy.url)
        (record,) = proxy.wait()
        assert len(proxy.exchanges) == 1
    error, cause = BROKEN[name, then]
    assert type(seen.error) is error
    assert cause is None or type(seen.error.__cause__) is cause
    assert truncated(seen, whole[name]) or then == "rst"  # what a reset overtakes in the kernel is lost
    assert (record.end.how, record.end.cause) == (then, "cut")


RAISED = {"openai": openai.APIError, "anthropic": anthropic.APIStatusError, "ollama": ollama.ResponseError}


@pytest.mark.parametrize("name", CLIENTS)
def test_an_error_event_in_the_provider_s_shape_raises_with_its_message(name, whole):
    with chaosproxy.serve(error_event(SHAPES[name])) as proxy:
        seen = watched(CLIENTS[name], proxy.url)
        (record,) = proxy.wait()
    assert type(seen.error) is RAISED[name]
    assert "the engine is overloaded" in str(seen.error)
    assert truncated(seen, whole[name])
    assert (record.end.by, record.end.how, record.response.status) == ("proxy", "clean", 200)


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_a_429_is_tried_again_once_retry_after_is_over(name, whole):
    with chaosproxy.serve(LIMITED) as proxy:
        seen = watched(CLIENTS[name], proxy.url)
        first, second = proxy.wait(2)
    assert (seen.text, seen.error) == (whole[name], None)
    assert (first.response.status, second.response.status) == (429, 200)
    assert moment(second) - moment(first) >= 0.95


def moment(record: chaosproxy.ExchangeRecord) -> float:
    return dt.datetime.fromisoformat(record.started_at).timestamp()


def test_ollama_leaves_a_429_to_the_application_which_asks_again(whole):
    with chaosproxy.serve(LIMITED) as proxy:
        seen = watched(ollama_chat, proxy.url)
        proxy.wait()
        assert len(proxy.exchanges) == 1
        again = watched(ollama_chat, proxy.url)
        proxy.wait(2)
    assert isinstance(seen.error, ollama.ResponseError)
    assert seen.error.status_code == 429
    assert (again.text, again.error) == (whole["ollama"], None)


STALLED = {"openai": openai.APITimeoutError, "anthropic": httpx2.ReadTimeout, "ollama": httpx.ReadTimeout}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_stall_raises_after_the_client_s_own_time_out(name, whole):
    """`timeout=` is the time between two reads here; the stream is not asked for again."""
    with chaosproxy.serve(STALL) as proxy:
        seen = watched(CLIENTS[name], proxy.url, IMPATIENT)
        (record,) = proxy.wait(timeout=WITHIN)
        assert len(proxy.exchanges) == 1
    assert type(seen.error) is STALLED[name]
    assert truncated(seen, whole[name])
    assert record.end.by == "client"
    assert record.times.client_closed - record.times.last_event_out >= 0.9 * IMPATIENT


# ---- OpenAI's client for Node


@dataclass
class Node:
    """Its `stream.mjs`, and what it said."""

    process: subprocess.Popen[str]
    said: list[dict] = field(default_factory=list)

    def line(self) -> dict:
        assert self.process.stdout is not None
        said = json.loads(self.process.stdout.readline())
        self.said.append(said)
        return said

    def end(self) -> dict:
        """Its last line."""
        while "error" not in self.line():
            pass
        return self.said[-1]

    @property
    def text(self) -> str:
        return "".join(said.get("text", "") for said in self.said)


@pytest.fixture
def node() -> Iterator[Callable[..., Node]]:
    program, place = find("node"), Path(__file__).with_name("node")
    if not (place / "node_modules" / "openai").is_dir():
        missing("npm's openai not found: npm install --prefix tests/interop/node")
    with contextlib.ExitStack() as ended:

        def start(url: str, timeout: float = PATIENT) -> Node:
            arguments = [program, str(place / "stream.mjs"), url + "/v1", str(int(timeout * 1000))]
            process = ended.enter_context(subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True))
            ended.callback(process.kill)
            return Node(process)

        yield start


NODE = {
    "a clean early end": (cut("clean"), None, None),
    "a FIN": (cut("fin"), "TypeError", "terminated"),
    "a reset": (cut("rst"), "TypeError", "terminated"),
    "an error event": (error_event("openai"), "APIError", "the engine is overloaded"),
}


@pytest.mark.parametrize(("scenario", "error", "message"), NODE.values(), ids=NODE)
def test_node(scenario, error, message, node, whole):
    with chaosproxy.serve(scenario) as proxy:
        running = node(proxy.url)
        last = running.end()
        proxy.wait()
        assert len(proxy.exchanges) == 1
    assert last["error"] == error
    assert error or last["finish"] is None
    assert not message or message in last["message"]
    assert whole["openai"].startswith(running.text)
    assert len(running.text) < len(whole["openai"])


def test_node_tries_a_429_again(node, whole):
    with chaosproxy.serve(LIMITED) as proxy:
        running = node(proxy.url)
        assert running.end() == {"error": None, "finish": "stop"}
        first, second = proxy.wait(2)
    assert running.text == whole["openai"]
    assert moment(second) - moment(first) >= 0.95


def test_node_s_time_out_ends_with_the_head_so_a_stall_goes_unnoticed(node, whole):
    """Python's client of the same name and option raises."""
    with chaosproxy.serve(STALL) as proxy:
        running = node(proxy.url, IMPATIENT)
        for _ in range(5):
            running.line()
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(2 * IMPATIENT)
        assert proxy.exchanges == []
        running.process.terminate()
        (record,) = proxy.wait(timeout=WITHIN)
    assert (record.end.by, record.response.events_out) == ("client", 5)


# ---- the abort chain, up to the engine

LONG = 2000
"""Tokens, 20 ms apart: an answer that is still running whenever anybody looks."""


def leave(url: str) -> None:
    """The application closes the stream after three tokens."""
    with openai.OpenAI(base_url=url + "/v1", api_key="k") as client:
        stream = client.chat.completions.create(model="m", messages=ASKED, stream=True, max_tokens=LONG)
        for _ in range(3):
            next(stream)
        stream.close()


def give_up(url: str) -> None:
    """It waits for the next token no longer than its time-out."""
    with openai.OpenAI(base_url=url + "/v1", api_key="k", timeout=IMPATIENT, max_retries=0) as client:
        stream = client.chat.completions.create(model="m", messages=ASKED, stream=True, max_tokens=LONG)
        with pytest.raises(openai.APITimeoutError):
            list(stream)


def meet_a_cut(url: str) -> None:
    """The machine in between breaks the stream off."""
    with openai.OpenAI(base_url=url + "/v1", api_key="k") as client:
        stream = client.chat.completions.create(model="m", messages=ASKED, stream=True, max_tokens=LONG)
        with pytest.raises(openai.APIConnectionError):
            list(stream)


def read_on(url: str) -> None:
    """It takes what it gets for the whole answer."""
    with openai.OpenAI(base_url=url + "/v1", api_key="k") as client:
        stream = client.chat.completions.create(model="m", messages=ASKED, stream=True, max_tokens=LONG)
        assert len(list(stream)) == 5


def meet_an_error(url: str) -> None:
    """The stream says itself that it failed."""
    with openai.OpenAI(base_url=url + "/v1", api_key="k") as client:
        stream = client.chat.completions.create(model="m", messages=ASKED, stream=True, max_tokens=LONG)
        with pytest.raises(openai.APIError, match="the engine is overloaded"):
            list(stream)


ABORTS = {
    "the client leaves": (None, leave),
    "its time-out": (STALL, give_up),
    "a clean early end": (cut("clean"), read_on),
    "an error event": (error_event("openai"), meet_an_error),
    "a FIN": (cut("fin"), meet_a_cut),
    "a reset": (cut("rst"), meet_a_cut),
}


@pytest.mark.parametrize(("scenario", "abort"), ABORTS.values(), ids=ABORTS)
def test_the_engine_has_its_slot_and_blocks_back_after(scenario, abort):
    with serving() as engine, chaosproxy.serve(scenario, upstream=engine.url) as proxy:
        abort(proxy.url)
        until(lambda: engine.stats()["aborted"] == 1, "the engine was not told")
        stats = engine.stats()
    assert (stats["running"], stats["kv_blocks_used"], stats["finished"]) == (0, 0, 0)


@pytest.mark.parametrize("link", ["disconnect", "engine"])
def test_without_this_link_it_generates_on_for_nobody(link):
    with serving(OriginOptions(broken=frozenset([link]))) as engine:
        with chaosproxy.serve(upstream=engine.url) as proxy:
            leave(proxy.url)
            (record,) = proxy.wait()
        made = engine.stats()["tokens"]
        until(lambda: engine.stats()["tokens"] > made + 5, "the engine has stopped")
        stats = engine.stats()
    assert record.upstream.end.cause == "client:fin"
    assert (stats["running"], stats["aborted"]) == (1, 0)
    assert stats["kv_blocks_used"] > 0


@pytest.mark.parametrize(("link", "running"), [("scheduler", 1), ("blocks", 0)])
def test_without_this_link_it_stops_but_gives_nothing_back(link, running):
    with serving(OriginOptions(broken=frozenset([link]))) as engine, chaosproxy.serve(upstream=engine.url) as proxy:
        leave(proxy.url)
        until(lambda: engine.stats()["aborted"] == 1, "the engine was not told")
        stats = engine.stats()
    assert stats["running"] == running, "the slot"
    assert stats["kv_blocks_used"] > 0
