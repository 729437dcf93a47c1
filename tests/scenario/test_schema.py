"""What a rule says of its faults, and where their randomness comes from."""

from random import Random

from chaosproxy.chain.fault import REGISTRY
from chaosproxy.chain.trigger import Trigger
from chaosproxy.scenario.schema import Hop, Rule, fault_random


def test_a_rule_knows_its_faults_upstream_first():
    hold, cut = REGISTRY["x_hold"](), REGISTRY["x_cut"](at=Trigger(event=3))
    rule = Rule(hops=(Hop("a", (hold,)), Hop("b", (cut,))))
    assert rule.faults == (hold, cut)
    assert rule.reads_records
    assert not Rule(hops=(Hop("a", (hold,)),)).reads_records


def test_inserting_a_fault_of_another_kind_changes_no_draws():
    hold, stall = REGISTRY["x_hold"](), REGISTRY["x_stall"](for_=1.0)
    before, after = Hop(None, (hold, hold)).labels, Hop(None, (hold, stall, hold)).labels
    assert set(before) <= set(after)
    assert fault_random(7, 0, 1, 0, before[1]).random() == Random("7:0:1:0:x_hold:1").random()


def test_every_part_of_the_place_gives_other_draws():
    places = [
        (7, 0, 1, 0, "a"),
        (8, 0, 1, 0, "a"),
        (7, 1, 1, 0, "a"),
        (7, 0, 2, 0, "a"),
        (7, 0, 1, 1, "a"),
        (7, 0, 1, 0, "b"),
    ]
    assert len({fault_random(*place).random() for place in places}) == len(places)
