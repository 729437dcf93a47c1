"""The environment that leads clients to a proxy."""

from chaosproxy.model.leading import leading

PROXY = "http://127.0.0.1:8666"


def test_each_sdk_is_led_there_as_it_reads_it():
    made = leading(PROXY, {})
    assert made["OPENAI_BASE_URL"] == PROXY + "/v1"
    assert made["ANTHROPIC_BASE_URL"] == made["OLLAMA_HOST"] == PROXY
    assert made["OPENAI_API_KEY"] == "chaosproxy"
    assert made["NO_PROXY"] == made["no_proxy"] == "127.0.0.1,localhost,::1"


def test_a_key_that_is_there_is_kept_and_so_is_what_needs_no_proxy():
    made = leading(PROXY, {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "", "no_proxy": "example.org"})
    assert "OPENAI_API_KEY" not in made
    assert made["ANTHROPIC_API_KEY"] == "chaosproxy"
    assert made["no_proxy"] == "example.org,127.0.0.1,localhost,::1"
    assert made["NO_PROXY"] == "127.0.0.1,localhost,::1"
