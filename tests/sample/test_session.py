import httpx
import pytest
from client import ask


def test_a_mount(chaosproxy_session):
    with pytest.raises(httpx.ReadError):
        ask(chaosproxy_session.url + "/reset")
    (record,) = chaosproxy_session.wait(timeout=60)
    assert (record.rule, record.end.how) == (0, "rst")


@pytest.mark.parametrize("path", ["/busy", "/busy/v1/models"])
def test_another_mount(chaosproxy_session, path):
    assert httpx.get(chaosproxy_session.url + path).status_code == 503


@pytest.mark.chaosproxy(None)
def test_none(chaosproxy_session):
    assert httpx.get(chaosproxy_session.url + "/busy").status_code == 404
