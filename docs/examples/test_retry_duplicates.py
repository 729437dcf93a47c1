"""A connection breaks in the middle of an answer, and the application asks again: what was said stands there twice, and is
paid for twice. The expectation `no_retry_after_output` tells the two kinds of applications apart.
"""

import openai
import pytest

BREAKS_ONCE = """
version: 1
name: breaks-once
rules:
  - nth: 1
    faults:
      - cut: {at: {event: 3}, then: rst}
expect:
  - fired: cut
  - no_retry_after_output
"""
QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": True}


@pytest.fixture
def client():
    with openai.OpenAI(max_retries=0) as client:
        yield client


def eager(client, words):
    for _ in range(3):
        try:
            words.extend(part.choices[0].delta.content for part in client.chat.completions.create(**QUESTION))
        except openai.APIConnectionError:
            continue
        return


def careful(client, words):
    for _ in range(3):
        try:
            words.extend(part.choices[0].delta.content for part in client.chat.completions.create(**QUESTION))
        except openai.APIConnectionError:
            if words:
                raise  # whoever has seen them has to know
            continue
        return


@pytest.mark.chaosproxy(BREAKS_ONCE, sdk_env=True)
def test_the_careful_application_passes(client):
    words = []
    with pytest.raises(openai.APIConnectionError):
        careful(client, words)
    assert len(words) == 3


@pytest.mark.chaosproxy(BREAKS_ONCE, sdk_env=True, judge=False)  # else the test would fail, as it should
def test_the_eager_one_is_found_out(client, chaosproxy):
    words = []
    eager(client, words)
    assert words[:3] == words[3:6]
    chaosproxy.settle()
    (bad,) = chaosproxy.verdict().bad
    assert bad.check == "no_retry_after_output"
