"""A 429 says when to come again. The official client comes again by itself, and not sooner."""

import openai
import pytest

BUSY_ONCE = """
version: 1
name: busy-once
rules:
  - nth: 1
    faults:
      - respond: {status: 429, retry_after: 1}
expect:
  - retry_after
  - attempts: 2
  - first_event: {nth: 2, within: 10s}
"""


@pytest.mark.chaosproxy(BUSY_ONCE, sdk_env=True)
def test_it_waits_as_long_as_it_is_told():
    with openai.OpenAI() as client:
        question = [{"role": "user", "content": "hello"}]
        stream = client.chat.completions.create(model="m", messages=question, stream=True)
        assert len([part for part in stream if part.choices]) == 8
