"""Ollama reports what fails in the middle of an answer as one more line of it. The official client raises."""

import ollama
import pytest

FAILS = """
version: 1
name: fails
faults:
  - error_event: {at: {event: 3}, format: ndjson, message: "llama runner process has terminated"}
expect:
  - fired: error_event
  - ended: {how: clean}
"""


@pytest.mark.chaosproxy(FAILS, sdk_env=True)
def test_an_error_line_is_no_word():
    words = []
    with pytest.raises(ollama.ResponseError, match="terminated"):
        for part in ollama.Client().chat("m", [{"role": "user", "content": "hello"}], stream=True):
            words.append(part.message.content)
    assert len(words) == 3
