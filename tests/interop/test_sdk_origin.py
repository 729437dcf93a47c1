"""The providers' own clients, curl and an EventSource library against the embedded origin, as their manuals use them."""

import anthropic
import httpx
import httpx_sse
import ollama
import openai
import pytest

from chaosproxy.origin.serving import serving
from tests.interop.conftest import WITHIN, until

EIGHT = ["Every", " stream", " begins", " as", " a", " promise", " and", " is"]
TEXT = "".join(EIGHT)
HELLO = [{"role": "user", "content": "say something nice"}]


@pytest.fixture(scope="module")
def origin():
    with serving() as served:
        yield served


@pytest.fixture
def gpt(origin):
    with openai.OpenAI(base_url=f"{origin.url}/v1", api_key="none", timeout=WITHIN, max_retries=0) as client:
        yield client


@pytest.fixture
def claude(origin):
    with anthropic.Anthropic(base_url=origin.url, api_key="none", timeout=WITHIN, max_retries=0) as client:
        yield client


def test_an_openai_chat(gpt):
    answer = gpt.chat.completions.create(model="m", messages=HELLO)
    (choice,) = answer.choices
    assert (choice.message.content, choice.message.role, choice.finish_reason) == (TEXT, "assistant", "stop")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (3, 8)
    assert answer.model == "m"


def test_an_openai_chat_that_streams(gpt):
    stream = gpt.chat.completions.create(model="m", messages=HELLO, stream=True, max_completion_tokens=5)
    choices = [chunk.choices[0] for chunk in stream]
    assert [choice.delta.content for choice in choices] == EIGHT[:5]
    assert [choice.delta.role for choice in choices] == ["assistant", *[None] * 4]
    assert [choice.finish_reason for choice in choices] == [*[None] * 4, "stop"]


def test_an_openai_chat_that_streams_and_counts(gpt):
    options = {"include_usage": True}
    *chunks, last = gpt.chat.completions.create(model="m", messages=HELLO, stream=True, stream_options=options)
    assert [chunk.usage for chunk in chunks] == [None] * 8
    assert last.choices == []
    assert last.usage.total_tokens == 11


def test_openai_s_helper_for_streams(gpt):
    with gpt.chat.completions.stream(model="m", messages=HELLO) as stream:
        kinds = [event.type for event in stream]
        assert stream.get_final_completion().choices[0].message.content == TEXT
    assert kinds.count("content.delta") == 8
    assert kinds[-1] == "content.done"


def test_openai_completions(gpt):
    assert gpt.completions.create(model="m", prompt="once").choices[0].text == TEXT
    stream = gpt.completions.create(model="m", prompt="once", stream=True, max_tokens=2)
    assert [chunk.choices[0].text for chunk in stream] == EIGHT[:2]


def test_openai_responses(gpt):
    answer = gpt.responses.create(model="m", input="say something nice")
    assert (answer.output_text, answer.status) == (TEXT, "completed")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (3, 8)


def test_openai_responses_that_stream(gpt):
    events = list(gpt.responses.create(model="m", input=HELLO, stream=True, max_output_tokens=3))
    assert [event.delta for event in events if event.type == "response.output_text.delta"] == EIGHT[:3]
    assert events[-1].type == "response.completed"
    with gpt.responses.stream(model="m", input=HELLO) as stream:
        assert sum(event.type == "response.output_text.delta" for event in stream) == 8
        assert stream.get_final_response().output_text == TEXT


@pytest.mark.parametrize("stream", [True, False])
def test_what_openai_s_client_raises_on_nonsense(gpt, stream):
    with pytest.raises(openai.BadRequestError, match="max_tokens must be 1 or more, not 0") as raised:
        gpt.chat.completions.create(model="m", messages=HELLO, max_tokens=0, stream=stream)
    assert (raised.value.param, raised.value.type) == ("max_tokens", "invalid_request_error")
    with pytest.raises(openai.NotFoundError):
        gpt.images.generate(prompt="a stream")


def test_openai_s_list_of_models(gpt):
    assert [model.id for model in gpt.models.list()] == ["miniature"]


def test_anthropic_messages(claude):
    answer = claude.messages.create(model="m", max_tokens=8, messages=HELLO, system="be kind")
    (block,) = answer.content
    assert (block.text, answer.stop_reason) == (TEXT, "end_turn")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (5, 8)


def test_anthropic_messages_that_stream(claude):
    events = list(claude.messages.create(model="m", max_tokens=4, messages=HELLO, stream=True))
    assert [event.delta.text for event in events if event.type == "content_block_delta"] == EIGHT[:4]
    assert (events[0].type, events[-1].type) == ("message_start", "message_stop")


def test_anthropic_s_helper_for_streams(claude):
    with claude.messages.stream(model="m", max_tokens=8, messages=HELLO) as stream:
        assert list(stream.text_stream) == EIGHT
        answer = stream.get_final_message()
    assert (answer.content[0].text, answer.stop_reason, answer.usage.output_tokens) == (TEXT, "end_turn", 8)


def test_what_anthropic_s_client_raises_on_nonsense(claude):
    with pytest.raises(anthropic.BadRequestError, match="max_tokens must be 1 or more, not 0") as raised:
        claude.messages.create(model="m", max_tokens=0, messages=HELLO)
    assert raised.value.body["error"]["type"] == "invalid_request_error"


def test_ollama(origin):
    with ollama.Client(host=origin.url, timeout=WITHIN, trust_env=False) as client:
        answer = client.chat("m", HELLO)
        assert (answer.message.content, answer.done, answer.done_reason, answer.eval_count) == (TEXT, True, "stop", 8)
        *parts, last = client.chat("m", HELLO, stream=True, options={"num_predict": 3})
        assert [part.message.content for part in parts] == EIGHT[:3]
        assert (last.done, last.eval_count) == (True, 3)
        with pytest.raises(ollama.ResponseError, match="num_predict must be 1 or more, not 0"):
            client.chat("m", HELLO, options={"num_predict": 0})


def test_an_event_source_that_reconnects(origin):
    had = []
    with httpx.Client(base_url=origin.url, timeout=WITHIN, trust_env=False) as http:
        with httpx_sse.connect_sse(http, "GET", "/sse?tokens=8") as source:
            events = source.iter_sse()
            had += [next(events) for _ in range(3)]
        with httpx_sse.connect_sse(http, "GET", "/sse?tokens=8", headers={"Last-Event-ID": had[-1].id}) as source:
            had += source.iter_sse()
        assert http.get("/sse?tokens=8", headers={"Last-Event-ID": had[-1].id}).status_code == 204
    assert [event.data for event in had] == TEXT.split()


@pytest.mark.parametrize("version", ["--http1.0", "--http1.1"])
def test_curl(origin, run, version):
    body = '{"stream": true, "max_tokens": 2}'
    done = run("curl", "-sSN", version, "--noproxy", "*", "-d", body, f"{origin.url}/v1/chat/completions")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n\n") == 3
    assert done.stdout.endswith(b"data: [DONE]\n\n")


def test_a_client_that_stops_reading_frees_its_slot(origin, gpt):
    before = origin.stats()["aborted"]
    query = {"first": "0ms", "gap": "forever"}
    with gpt.chat.completions.create(model="m", messages=HELLO, stream=True, extra_query=query) as stream:
        assert next(iter(stream)).choices[0].delta.content == "Every"
    until(lambda: origin.stats()["aborted"] == before + 1, "the engine did not abort")
    assert origin.stats()["running"] == 0
