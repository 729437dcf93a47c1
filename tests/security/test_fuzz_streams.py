"""Bodies, answers, questions, and what clients print: any bytes; and any faults at any stream."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import target
from tests.security.mutating import counted, mutated

EXAMPLES = {"splitters": 200, "client": 80, "told": 100, "origin": 150}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_peers_send(shown, name):
    found = target(name)
    run, tried = counted(found.run)
    settings(max_examples=EXAMPLES[name])(given(mutated(list(found.seeds()), found.tokens))(run))()
    shown("fuzzing", f"{found.about}, edited", tried=tried(), must=found.must, happens="that, each time")


def test_any_faults(shown):
    found = target("chain")
    run, tried = counted(found.run)
    settings(max_examples=50)(given(st.binary(min_size=4, max_size=200))(run))()
    shown("fuzzing", found.about, tried=tried(), must=found.must, happens="that, each time")
