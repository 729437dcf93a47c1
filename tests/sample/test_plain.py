import os
import sys

import httpx
import pytest
from client import ask

import chaosproxy as package


def test_it_is_the_installed_one():
    assert package.__file__.startswith(sys.prefix)


@pytest.mark.chaosproxy("reset")
def test_reset(chaosproxy):
    with pytest.raises(httpx.ReadError):
        ask(chaosproxy.url)
    assert chaosproxy.wait(timeout=60)[0].end.how == "rst"


def test_the_environment_leads_there(chaosproxy):
    assert os.environ["OPENAI_BASE_URL"] == f"{chaosproxy.url}/v1"
    assert ask(chaosproxy.url)[-1] == "data: [DONE]"


@pytest.mark.chaosproxy({"version": 1, "name": "strict", "expect": [{"ended": {"how": "rst"}}]})
def test_whose_expectation_fails(chaosproxy):
    ask(chaosproxy.url)
