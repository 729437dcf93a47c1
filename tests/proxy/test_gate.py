"""How many clients are let in: as many as there are descriptors for."""

import math

import pytest
import trio

from chaosproxy.proxy import gate as module
from chaosproxy.proxy.gate import Gate


async def let_in(gate, most):
    """How many may come until one has to wait."""
    with trio.move_on_after(1):
        while gate._inside < most:
            await gate.passed()
            gate.came()
    return gate._inside


@pytest.mark.parametrize(("descriptors", "clients"), [(math.inf, 1000), (256, 120), (10, 1)])
async def test_clients_get_half_of_the_descriptors_and_everybody_where_they_are_unlimited(
    descriptors, clients, monkeypatch, autojump_clock
):
    monkeypatch.setattr(module, "_descriptors", lambda: descriptors)
    assert await let_in(Gate(), 1000) == clients
