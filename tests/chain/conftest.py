"""Chains by themselves, without a player."""

from random import Random

import pytest

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.fault import Context
from chaosproxy.chain.placed import Placed
from chaosproxy.testing.play import GET


@pytest.fixture
def chain_of():
    def make(specs, **options):
        context = Context(Random(0), GET)
        return Chain([Placed(0, None, spec, context) for spec in specs], began=0.0, **options)

    return make
