"""What is asked for: knobs, limits, texts; and each provider's own answer to what makes no sense."""

import json

import pytest

from chaosproxy.origin.words import SAYING, Words

FAST = {"first": "0ms", "gap": "0ms"}
GEMINI = "/v1beta/models/m:generateContent"
PATHS = ["/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/api/chat", GEMINI]


def said(path: str, answer: dict) -> str:
    """The text in an answer of each provider."""
    match path:
        case "/v1/chat/completions":
            return answer["choices"][0]["message"]["content"]
        case "/v1/completions":
            return answer["choices"][0]["text"]
        case "/v1/responses":
            return answer["output"][0]["content"][0]["text"]
        case "/v1/messages":
            return answer["content"][0]["text"]
        case "/v1beta/models/m:generateContent":
            return answer["candidates"][0]["content"]["parts"][0]["text"]
        case _:
            return answer["message"]["content"]


def refused(path: str, answer: dict) -> str:
    """The message in a refusal of each provider, whose shape is checked."""
    match path:
        case "/v1/messages":
            assert answer["type"] == "error"
            assert answer["error"].keys() == {"type", "message"}
            assert answer["error"]["type"] == "invalid_request_error"
            return answer["error"]["message"]
        case "/api/chat":
            assert answer.keys() == {"error"}
            return answer["error"]
        case "/v1beta/models/m:generateContent":
            assert answer["error"].keys() == {"code", "message", "status"}
            return answer["error"]["message"]
        case _:
            assert answer["error"].keys() == {"message", "type", "param", "code"}
            assert answer["error"]["type"] == "invalid_request_error"
            return answer["error"]["message"]


@pytest.fixture(params=PATHS)
def path(request) -> str:
    return request.param


@pytest.fixture
def ask(http, path):
    def text(body=None, headers=None, **query) -> str:
        answer = http.post(path, params={**FAST, **query}, json={"stream": False, **(body or {})}, headers=headers)
        assert answer.status_code == 200, answer.text
        return said(path, answer.json())

    return text


@pytest.fixture
def refuse(http, path):
    def message(content: bytes = b"{}", headers=None, **query) -> str:
        answer = http.post(path, params=query, content=content, headers=headers)
        assert answer.status_code == 400, answer.text
        assert answer.headers["content-type"] == "application/json"
        return refused(path, answer.json())

    return message


def limit(path: str, tokens: object) -> dict:
    """The body that asks for so many tokens, as each provider calls them."""
    name = {"/v1/chat/completions": "max_completion_tokens", "/v1/responses": "max_output_tokens"}
    if path == "/api/chat":
        return {"options": {"num_predict": tokens}}
    if path == GEMINI:
        return {"generationConfig": {"maxOutputTokens": tokens}}
    return {name.get(path, "max_tokens"): tokens}


def test_without_a_word_it_says_eight_words(ask):
    assert ask() == "Every stream begins as a promise and is"


def test_the_body_the_headers_and_the_query_say_how_many_the_nearest_wins(ask, path):
    body, headers = limit(path, 3), {"x-chaosproxy-tokens": "4"}
    assert ask(body) == "Every stream begins"
    assert ask(body, headers) == "Every stream begins as"
    assert ask(body, headers, tokens=5) == "Every stream begins as a"


def test_more_tokens_than_the_saying_has_say_it_again(ask):
    words = len(SAYING.split())
    assert ask(tokens=words + 2) == SAYING + " Every stream"


def test_a_text_of_one_s_own_is_said_once_and_cut_by_the_body_s_limit(ask, path):
    text = "Grüße, 世界!  Two spaces\nand a line "
    assert ask(text=text) == text
    assert ask(headers={"x-chaosproxy-text": text.strip().replace("\n", " ").encode()}) == text.strip().replace(
        "\n", " "
    )
    assert ask(limit(path, 1000), text=text) == text
    assert ask(limit(path, 2), text=text) == "Grüße, 世界!"
    assert ask(tokens=3, text="yes no") == "yes no yes"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"{", "the body is not valid JSON: "),
        (b"[" * 100_000, "the body is not valid JSON: "),
        (b'"\xff"', "the body is not valid JSON: "),
        (b"[]", "the body must be a JSON object"),
        (b'{"stream": 1}', "stream must be true or false, not 1"),
        (b'{"model": {}}', "model must be a string, not an object"),
        (b'{"model": 1e3}', "model must be a string, not 1000.0"),
        (b'{"stream": "' + b"x" * 99 + b'"}', 'stream must be true or false, not "' + "x" * 39),
    ],
    ids=str,
)
def test_a_body_that_makes_no_sense(refuse, given, message):
    assert refuse(given).startswith(message)


@pytest.mark.parametrize("tokens", [0, 1.5, True, "8"])
def test_a_limit_that_is_none(refuse, path, tokens):
    body = limit(path, tokens)
    name = next(iter(body.get("options", body.get("generationConfig", body))))
    assert refuse(json.dumps(body).encode()).startswith(f"{name} must be ")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("tokens", "0", "'0' is no number of tokens; write 1 or more"),
        ("tokens", "-1", "'-1' is no number of tokens"),
        ("tokens", "²", "'²' is no number of tokens"),
        ("tokens", "9" * 5000, "9' is no number of tokens"),
        ("first", "50", "'50' is no duration; write 250ms"),
        ("gap", "fast", "'fast' is no duration; write 250ms"),
        ("text", "", "an empty text has no tokens"),
    ],
)
def test_a_knob_that_makes_no_sense(refuse, name, value, message):
    assert f"{name}: " in refuse(**{name: value})
    assert message in refuse(**{name: value})
    header = f"x-chaosproxy-{name}"
    assert refuse(headers={header: value.encode()}).startswith(f"{header}: ")


@pytest.mark.parametrize("tokens", [16385, 10**17])
def test_more_than_the_blocks_hold(refuse, path, tokens):
    message = f"a prompt of 0 tokens and an answer of {tokens} are more than the 16384 tokens of 1024 KV blocks"
    assert refuse(tokens=tokens) == message
    assert refuse(json.dumps(limit(path, tokens)).encode()) == message


@pytest.mark.parametrize("num_predict", [-1, -2, None])
def test_ollama_s_ways_to_set_no_limit(http, num_predict):
    body = {"stream": False, "options": {"num_predict": num_predict}}
    assert http.post("/api/chat", params=FAST, json=body).json()["eval_count"] == 8


@pytest.mark.parametrize("depth", [1, 400])
def test_a_prompt_is_counted_however_deep_it_is_nested(http, depth):
    content = '[{"text": "a b", "content": ' * depth + '"c"' + "}]" * depth
    body = f'{{"messages": [{{"role": "user", "content": {content}}}]}}'
    answer = http.post("/v1/chat/completions", params=FAST, content=body)
    assert answer.json()["usage"]["prompt_tokens"] == 2 * depth + 1


def test_no_body_asks_for_what_is_usual(http):
    assert http.post("/v1/chat/completions", params=FAST).json()["usage"]["completion_tokens"] == 8


@pytest.mark.parametrize(
    ("path", "body", "at"),
    [
        ("/v1/chat/completions", {"messages": "hi"}, "messages"),
        ("/v1/chat/completions", {"messages": []}, "messages"),
        ("/v1/chat/completions", {"messages": ["hi"]}, "messages[0]"),
        ("/v1/chat/completions", {"n": 2}, "n"),
        ("/v1/chat/completions", {"stream_options": True}, "stream_options"),
        ("/v1/chat/completions", {"stream_options": {"include_usage": 1}}, "include_usage"),
        ("/v1/completions", {"prompt": ["a", "b"]}, "prompt"),
        ("/v1/responses", {"input": 7}, "input"),
        ("/v1/messages", {"messages": [{"role": 1}]}, "messages[0]"),
        ("/api/chat", {"messages": {}}, "messages"),
        ("/api/chat", {"options": []}, "options"),
        (GEMINI, {"contents": [{"parts": "hi"}]}, "parts"),
        (GEMINI, {"generationConfig": 7}, "generationConfig"),
    ],
)
def test_a_field_that_makes_no_sense(refuse, path, body, at):
    assert refuse(json.dumps(body).encode()).startswith(at)


def test_openai_s_refusal_names_the_field(http):
    answer = http.post("/v1/chat/completions", json={"max_tokens": "x"}).json()
    assert answer["error"]["param"] == "max_tokens"


def test_paths_and_methods_that_there_are_not(http):
    assert (http.get("/v1/nothing").status_code, http.get("/v1/nothing").json()["error"]["type"]) == (
        404,
        "not_found_error",
    )
    answer = http.get("/v1/chat/completions")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_whose_model_and_how_it_feels(http):
    assert [one["id"] for one in http.get("/v1/models").json()["data"]] == ["miniature"]
    assert http.get("/healthz").text == "ok\n"
    assert http.get("/stats").json().keys() >= {"waiting", "running", "finished", "aborted", "kv_blocks_used"}


@pytest.mark.parametrize("text", [SAYING, "one", " led by a blank", "trailing \n", "  ", "a\u00a0b"])
def test_tokens_joined_are_the_text(text):
    words = Words.of(text)
    assert words.text == "".join(words.word(index) for index in range(words.count)) == text
