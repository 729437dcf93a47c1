"""A reader closes the page after two words. The engine should stop: each further token costs money and a place.

Straight it does. Behind a gateway that does not watch its client it goes on to the end, and nobody in front can tell.
"""

import openai
import pytest

TOLD = {"version": 1, "name": "told", "expect": [{"upstream_abort": {"within": "10s"}}]}
LEAVES = {"version": 1, "name": "leaves", "expect": [{"client_leaves": {}}]}
DEAF = {"version": 1, "name": "deaf", "faults": [{"client_abort": "ignore"}]}


def read_two_words(url):
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        question = [{"role": "user", "content": "hello"}]
        stream = client.chat.completions.create(model="m", messages=question, max_tokens=40, stream=True)
        for _ in range(2):
            next(stream)
        stream.close()


@pytest.mark.chaosproxy(TOLD)
def test_an_abort_reaches_the_engine(chaosproxy):
    read_two_words(chaosproxy.url)
    chaosproxy.settle()
    assert chaosproxy.origin.stats()["finished"] == 0


@pytest.mark.chaosproxy(LEAVES, judge=False)
def test_behind_a_deaf_gateway_it_does_not(chaosproxy, chaosproxy_factory):
    gateway = chaosproxy_factory(DEAF, upstream=chaosproxy.url)
    read_two_words(gateway.url)
    assert gateway.wait()[0].end.by == "client"
    chaosproxy.wait()
    assert not chaosproxy.verdict().good, "the engine's own proxy has seen nobody leave"
    assert chaosproxy.origin.stats()["finished"] == 1
    assert chaosproxy.last.response.events_out == 41
