"""Attacks on one connection: after how many frames each is cut, with its name."""

import pytest

from chaosproxy.http2.frames import frame
from chaosproxy.model import codes
from chaosproxy.session import Closing
from tests.security.flooded import Made, client_of, until_cut, upstream_of
from tests.security.flooding import BLOCKS, CHEAP, STREAMS, UPSTREAMS, Attack
from tests.security.h2_frames import GOAWAY, PING, apart


def cut_in_time(made: Made, attacks: dict[str, Attack]) -> dict[str, int]:
    """After how many parts each was over, with ENHANCE_YOUR_CALM and its name."""
    counts = {}
    for name, attack in attacks.items():
        session = made(name, attack)
        assert session.closing is None, name
        count, causes, written = until_cut(session, attack)
        assert (session.closing, count <= attack.within) == (Closing.FIN, True), (name, count)
        kind, _, _, payload = apart(written)[-1]
        assert (kind, int.from_bytes(payload[4:8], "big")) == (GOAWAY, codes.ENHANCE_YOUR_CALM), name
        assert attack.named(causes), (name, causes)
        assert session.receive(frame(PING, 0, 0, b"12345678")) == [], name
        assert session.outgoing() == [], name
        counts[name] = count
    return counts


def told(counts: dict[str, int]) -> str:
    return ", ".join([f"{name}: {count:,}" for name, count in counts.items()])


@pytest.mark.parametrize(
    ("row", "made", "attacks"),
    [
        ("a client opens streams to throw them away", client_of, STREAMS),
        ("a client's header blocks that unfold, or never end", client_of, BLOCKS),
        ("a client's frames that ask for nothing", client_of, CHEAP),
        ("an upstream's answers that never come, pushes, frames that say nothing", upstream_of, UPSTREAMS),
    ],
    ids=["streams", "blocks", "cheap", "upstreams"],
)
def test_an_attack_is_cut(shown, row, made, attacks):
    counts = cut_in_time(made, attacks)
    shown(
        "attacks",
        row,
        tried=sum(counts.values()),
        must="GOAWAY(ENHANCE_YOUR_CALM) within the budget, FIN, named in the journal",
        happens=f"so it is, after {min(counts.values()):,} to {max(counts.values()):,} parts",
        figure=told(counts),
    )
