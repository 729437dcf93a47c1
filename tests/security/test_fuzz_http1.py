"""HTTP/1.1, both roles, chunked bodies: whatever a peer sends, one verdict, the one that h11 has, or a stricter one."""

import pytest
from hypothesis import strategies as st

from tests.fuzz import chunked, h1
from tests.security.corpus import REFUSED
from tests.security.mutating import asked, mutated
from tests.security.served import SERVED
from tests.security.twins import BROKEN, MORE, NONE

CORPUS = [raw for odd in (*REFUSED, *SERVED) for raw in odd.requests.values()]
ANSWERS = [*h1.ANSWERS, *BROKEN.values(), *MORE.values(), *NONE.values()]
answers = st.tuples(st.integers(0, 4), st.integers(0, 3)).map(
    lambda chosen: bytes([chosen[0], chosen[1] & 1, chosen[1] >> 1])
)
BODIES = [seed[3:] for seed in chunked.TARGETS["chunked"].seeds()]
MUST = "the same whatever the cut; what is taken is what h11 reads; written again it is read the same"


@pytest.mark.parametrize(
    ("name", "run", "inputs"),
    [
        (
            "HTTP/1.1 from clients: the corpus, edited",
            h1.server,
            st.builds(
                lambda fin, raw: fin + raw,
                st.sampled_from([b"\0", b"\1"]).map(lambda fin: fin + b"\2\0\7\0\x29"),
                mutated(CORPUS, h1.TOKENS),
            ),
        ),
        (
            "HTTP/1.1 from upstreams: answers, edited",
            h1.client,
            st.builds(lambda chosen, raw: chosen + b"\2\0\7\0\x29" + raw, answers, mutated(ANSWERS, h1.TOKENS)),
        ),
        (
            "chunked bodies, edited",
            chunked.run,
            mutated(BODIES, h1.TOKENS).map(lambda raw: b"\2\0\5\0\x11" + raw),
        ),
    ],
)
def test_one_verdict(shown, name, run, inputs):
    tried = asked(run, inputs, 150)
    shown("fuzzing", name, tried=tried.runs, must=MUST, happens="that, each time", figure=tried.figure)
