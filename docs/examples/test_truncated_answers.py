"""Every way in which an answer is known to break off, one test for each: it is never taken for a whole one.

The official client notices what HTTP notices. That the answer has a finish_reason is for the application to check.
"""

import openai
import pytest

BROKEN = ["reset", "missing-last-chunk", "short-of-its-length", "lost-tail", "no-finish-reason"]


class Truncated(Exception):
    pass


def answer(client):
    question = [{"role": "user", "content": "hello"}]
    words, finish = [], None
    try:
        for part in client.chat.completions.create(model="m", messages=question, stream=True):
            for choice in part.choices:
                words.append(choice.delta.content or "")
                finish = choice.finish_reason or finish
    except openai.APIConnectionError as error:
        raise Truncated from error
    if finish is None:
        raise Truncated
    return "".join(words)


@pytest.fixture
def client():
    with openai.OpenAI(max_retries=0) as client:
        yield client


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.chaosproxy(name, sdk_env=True)) for name in BROKEN]
)
def test_a_broken_answer_is_no_answer(client, chaosproxy, name):
    with pytest.raises(Truncated):
        answer(client)
    chaosproxy.wait()
    assert chaosproxy.last.faults, "nothing was broken, so nothing is proved"


@pytest.mark.chaosproxy("tokens", sdk_env=True)
def test_a_whole_one_is(client):
    assert answer(client)
