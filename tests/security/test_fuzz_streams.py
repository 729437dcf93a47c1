"""Bodies, answers, questions, and what clients print: any bytes; and any faults at any stream."""

import os
import subprocess
import sys
from pathlib import Path

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


WORLDS = 10
LIVED = f"""
import hashlib
from tests.simulation.run import run
from tests.simulation.world import world
print(hashlib.sha256(repr([run(world(seed)).trace() for seed in range({WORLDS})]).encode()).hexdigest())
"""


def test_worlds_whatever_the_order_of_hashes(shown):
    root = Path(__file__).parents[2]
    began = [
        subprocess.Popen(
            [sys.executable, "-c", LIVED],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": order, "PYTHONPATH": str(root)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in ("1", "2")
    ]
    one, other = (each.communicate(timeout=120)[0] for each in began)
    assert one == other != ""
    shown(
        "fuzzing",
        "worlds of the simulation, in processes that hash otherwise",
        tried=WORLDS,
        must="every byte, time and record the same",
        happens="that, each time",
    )
