"""What we forward, real proxies forward as well, or there is a reason."""

import os

import trio

from chaosproxy.testing.recorder import WITHIN
from tests.interop.conftest import missing
from tests.security.corpus import REFUSED
from tests.security.differential import OURS, REASONS, compared, installed, unexplained
from tests.security.served import SERVED


def test_the_strictest_of_them_forwards_what_we_forward(tmp_path_factory):
    here, absent = installed()
    if not here or (absent and os.environ.get("CHAOSPROXY_PEERS") == "required"):
        missing("; ".join(absent))
    place = tmp_path_factory.mktemp("programs")
    for above in (place, *place.parents[:2]):
        above.chmod(0o755)  # some programs give up their rights
    requests = {name: data for odd in SERVED for name, data in odd.requests.items()}
    found = trio.run(compared, (OURS, *here), requests, place, WITHIN)
    assert {name: str(verdict) for name, verdict in found[OURS].items() if not verdict.forwarded} == {}
    assert [problem for odd in SERVED for problem in unexplained(odd, found)] == []


def test_we_forward_nothing_that_is_to_be_refused(tmp_path):
    requests = {name: data for odd in REFUSED for name, data in odd.requests.items()}
    found = trio.run(compared, (OURS,), requests, tmp_path)[OURS]
    assert {
        name: str(found[name]) for odd in REFUSED for name in odd.requests if str(found[name]) != str(odd.status)
    } == {}


def test_no_two_requests_have_the_same_name():
    names = [name for odd in (*REFUSED, *SERVED) for name in odd.requests]
    assert len(names) == len(set(names))


def test_there_is_a_request_for_each_reason():
    assert REASONS.keys() <= {name for odd in SERVED for name in odd.requests}
