"""A stream goes silent and stays open. The client has a limit on the silence between two events, and leaves by itself.

Without `timeout` the official client waits for ten minutes; a limit on the whole answer would end healthy ones.
"""

import openai
import pytest

GOES_SILENT = """
version: 1
name: goes-silent
faults:
  - stall: {at: {event: 3}, for: forever}
expect:
  - fired: stall
  - client_leaves: {within: 10s, after: last_event}
  - attempts: 1
"""


@pytest.mark.chaosproxy(GOES_SILENT, sdk_env=True)
def test_the_client_gives_up_on_a_silent_stream():
    words = []
    with openai.OpenAI(timeout=openai.Timeout(60, read=2), max_retries=0) as client:
        question = [{"role": "user", "content": "hello"}]
        stream = client.chat.completions.create(model="m", messages=question, stream=True)
        with pytest.raises(openai.APITimeoutError):
            words.extend(part.choices[0].delta.content for part in stream)
