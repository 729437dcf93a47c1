"""nginx gathers an answer until it is told not to, by `X-Accel-Buffering: no`. Does your server say it? Here the server
is one that does; a second proxy takes the word out of its mouth, and the first event no longer comes.
"""

import httpx
import pytest

NGINX = """
version: 1
name: nginx
faults:
  - buffer: {until_end: true, hint: true}
expect:
  - first_event: {within: 10s}
"""
SAYS_SO = {"version": 1, "faults": [{"headers": {"set": {"x-accel-buffering": "no"}}}]}
SLOW = {"x-chaosproxy-gap": "30s"}
QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": True}


def first_event(url, patience=60):
    with httpx.stream("POST", f"{url}/v1/chat/completions", json=QUESTION, headers=SLOW, timeout=patience) as response:
        return next(line for line in response.iter_lines() if line)


@pytest.fixture
def server(chaosproxy_factory):
    return chaosproxy_factory()


def test_a_server_that_says_so_is_passed_on_at_once(server, chaosproxy_factory):
    server.use(SAYS_SO)
    nginx = chaosproxy_factory(NGINX, upstream=server.url)
    assert first_event(nginx.url).startswith("data: ")


@pytest.mark.chaosproxy(judge=False)  # else the test would fail, as it should
def test_one_that_does_not_is_held(server, chaosproxy_factory):
    nginx = chaosproxy_factory(NGINX, upstream=server.url)
    with pytest.raises(httpx.ReadTimeout):
        first_event(nginx.url, patience=1)
    nginx.settle()
    (bad,) = nginx.verdict().bad
    assert "no event" in str(bad)
