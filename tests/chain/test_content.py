"""What a head says of the body behind it: coded or not, by all its fields together."""

import pytest

from chaosproxy.chain.content import is_coded
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Cut
from chaosproxy.model.messages import End, ResponseHead

SSE = (b"Content-Type", b"text/event-stream")


@pytest.mark.parametrize(
    ("values", "coded"),
    [
        ([], False),
        ([b""], False),
        ([b"identity"], False),
        ([b"Identity, identity"], False),
        ([b"gzip"], True),
        ([b"GZip"], True),
        ([b"identity, gzip"], True),
        ([b"identity", b"br"], True),
        ([b"unheard-of"], True),
    ],
)
def test_coded(play, values, coded):
    headers = (SSE, *((b"Content-Encoding", value) for value in values))
    assert is_coded(headers) is coded
    played = play([Cut(at=Trigger(event=3))], [(1.0, b"data: 1\n\n"), (2.0, End())], head=ResponseHead(200, headers))
    assert played.not_fired == [("cut", "coded body" if coded else "not reached")]
    assert played.records_in == (0 if coded else 1)
