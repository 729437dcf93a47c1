"""Bodies, answers, questions, and what clients print: any bytes; and any faults at any stream."""

import pytest
from hypothesis import strategies as st

from tests.fuzz.targets import target
from tests.security.mutating import asked, mutated

EXAMPLES = {"splitters": 200, "client": 80, "told": 100, "origin": 150}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_peers_send(shown, name):
    found = target(name)
    tried = asked(found.run, mutated(list(found.seeds()), found.tokens), EXAMPLES[name])
    shown(
        "fuzzing",
        f"{found.about}, edited",
        tried=tried.runs,
        must=found.must,
        happens="that, each time",
        figure=tried.figure,
    )


def test_any_faults(shown):
    found = target("chain")
    tried = asked(found.run, st.binary(min_size=4, max_size=200), 50)
    shown("fuzzing", found.about, tried=tried.runs, must=found.must, happens="that, each time", figure=tried.figure)
