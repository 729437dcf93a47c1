"""What each provider's own client makes of an error in the middle of its stream, in every shape that servers use.

The shape is the one that the fault finds by itself, from what is asked, or one that a foreign server would use: some
clients raise, some hand it out as an event, and one that nobody looks at passes for text.
"""

from collections.abc import Callable

import anthropic
import ollama
import openai
import pytest

import chaosproxy

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

ASKED = [{"role": "user", "content": "hi"}]
MESSAGE = 'the model fell over: \u2028"ü"'
AFTER = 4


def failing(**fault: object) -> dict:
    return {"version": 1, "faults": [{"error_event": {"at": {"event": AFTER}, "message": MESSAGE, **fault}}]}


def openai_chat(url: str, seen: list[object]) -> None:
    with openai.OpenAI(base_url=url + "/v1", api_key="k") as client:
        seen.extend(client.chat.completions.create(model="m", messages=ASKED, stream=True))


def openai_responses(url: str, seen: list[object]) -> None:
    with openai.OpenAI(base_url=url + "/v1", api_key="k") as client:
        seen.extend(client.responses.create(model="m", input="hi", stream=True))


def anthropic_messages(url: str, seen: list[object]) -> None:
    with anthropic.Anthropic(base_url=url, api_key="k") as client:
        seen.extend(client.messages.create(model="m", max_tokens=8, messages=ASKED, stream=True))


def ollama_chat(url: str, seen: list[object]) -> None:
    seen.extend(ollama.Client(host=url, trust_env=False).chat("m", ASKED, stream=True))


Client = Callable[[str, list[object]], None]


def raised(client: Client, fault: dict) -> tuple[BaseException | None, list[object], chaosproxy.ExchangeRecord]:
    """The error, what came before it, and the one exchange that there was."""
    seen: list[object] = []
    error: BaseException | None = None
    with chaosproxy.serve(fault) as proxy:
        try:
            client(proxy.url, seen)
        except (openai.APIError, anthropic.APIError, ollama.ResponseError) as caught:
            error = caught
        (record,) = proxy.wait()
    assert (record.end.how, record.end.cause, record.response.events_out) == ("clean", "error_event", AFTER + 1)
    return error, seen, record


@pytest.mark.parametrize(
    "fault", [failing(), failing(format="openai"), failing(format="sse")], ids=["found", "openai", "sse"]
)
def test_openai_chat(fault):
    error, seen, _ = raised(openai_chat, fault)
    assert type(error) is openai.APIError
    assert (error.message, error.type, error.code) == (MESSAGE, "server_error", None)
    assert len(seen) == AFTER


def test_openai_chat_reads_code_and_type():
    error, _, _ = raised(openai_chat, failing(code="rate_limit_exceeded", type="requests"))
    assert isinstance(error, openai.APIError)
    assert (error.code, error.type) == ("rate_limit_exceeded", "requests")


def test_openai_chat_takes_a_flat_error_for_a_chunk_without_choices():
    error, seen, _ = raised(openai_chat, failing(format="openai_flat"))
    assert error is None
    assert len(seen) == AFTER + 1
    assert seen[-1].choices is None


@pytest.mark.parametrize("fault", [failing(), failing(format="openai_responses")], ids=["found", "openai_responses"])
def test_openai_responses_hand_it_out_as_an_event(fault):
    error, seen, _ = raised(openai_responses, fault)
    assert error is None
    last = seen[-1]
    assert isinstance(last, openai.types.responses.ResponseErrorEvent)
    assert (last.type, last.message, last.code, last.sequence_number) == ("error", MESSAGE, "server_error", AFTER)
    assert [event.sequence_number for event in seen] == list(range(AFTER + 1))


@pytest.mark.parametrize("fault", [failing(), failing(format="anthropic")], ids=["found", "anthropic"])
def test_anthropic(fault):
    error, seen, _ = raised(anthropic_messages, fault)
    assert isinstance(error, anthropic.APIStatusError)
    assert error.body == {"type": "error", "error": {"type": "overloaded_error", "message": MESSAGE}}
    assert error.status_code == 200
    assert len(seen) == AFTER


def test_anthropic_reads_any_error_event():
    error, _, _ = raised(anthropic_messages, failing(format="sse", type="api_error"))
    assert isinstance(error, anthropic.APIStatusError)
    assert error.body["error"]["type"] == "api_error"


@pytest.mark.parametrize("fault", [failing(), failing(format="ndjson", code=500)], ids=["found", "ndjson"])
def test_ollama(fault):
    error, seen, _ = raised(ollama_chat, fault)
    assert type(error) is ollama.ResponseError
    assert error.error == MESSAGE
    assert len(seen) == AFTER
