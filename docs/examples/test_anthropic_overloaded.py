"""Anthropic's API says `overloaded_error` in the middle of an answer whose status was 200. The official client raises;
what it had said before is the application's to keep or to drop, and nobody asks again by himself.
"""

import anthropic
import pytest

OVERLOADED = """
version: 1
name: overloaded
faults:
  - error_event: {at: {event: 4}, format: anthropic, type: overloaded_error, message: Overloaded}
expect:
  - fired: error_event
  - no_retry_after_output
"""


@pytest.mark.chaosproxy(OVERLOADED, sdk_env=True)
def test_an_answer_that_ends_in_an_error_is_no_answer():
    said = []
    with anthropic.Anthropic() as client, pytest.raises(anthropic.APIStatusError) as caught:
        question = [{"role": "user", "content": "hello"}]
        with client.messages.stream(model="m", max_tokens=8, messages=question) as stream:
            for text in stream.text_stream:
                said.append(text)
    assert caught.value.body["error"]["type"] == "overloaded_error"
    assert said
