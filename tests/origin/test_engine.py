"""The engine alone, at times that the tests name: slots, KV blocks, the timetable, and the inner links of the abort chain."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from chaosproxy.origin.engine import BLOCK, Engine, Job, Link, State, TooLongError


def job(tokens=3, first=1.0, gap=0.5, prompt=0) -> Job:
    return Job(prompt, tokens, first, gap)


def run(engine: Engine, until: float = math.inf) -> list[tuple[float, Job]]:
    """Let it run as an alarm would, and write down when each token was made."""
    made = []
    while engine.due <= until and engine.due < math.inf:
        now = engine.due
        made += [(now, one) for one in engine.advance(now)]
    return made


def seen(engine: Engine, *names: str) -> tuple[int, ...]:
    return tuple(engine.stats()[name] for name in names)


def test_a_token_is_made_at_its_place_in_the_timetable():
    engine, one = Engine(4, 16), job(tokens=4, first=1, gap=0.25)
    engine.submit(one, 10)
    assert [at for at, _ in run(engine)] == [11, 11.25, 11.5, 11.75]
    assert one.state is State.FINISHED
    assert seen(engine, "finished", "running", "kv_blocks_used", "tokens") == (1, 0, 0, 4)


def test_a_late_alarm_makes_up_for_it_and_delays_nothing_after():
    engine, one, two = Engine(1, 16), job(tokens=2, first=1, gap=1), job(tokens=1, first=1)
    engine.submit(one, 0)
    engine.submit(two, 0)
    assert engine.advance(2.75) == [one, one]
    assert engine.due == 3, "the second was admitted when the first was over, not when somebody looked"


def test_as_many_run_as_there_are_slots_and_the_others_wait_in_order():
    engine, jobs = Engine(2, 16), [job(tokens=1, first=first) for first in (3, 1, 5, 1)]
    for one in jobs:
        engine.submit(one, 0)
    assert seen(engine, "running", "waiting") == (2, 2)
    assert [(at, jobs.index(one)) for at, one in run(engine)] == [(1, 1), (3, 0), (4, 3), (6, 2)]
    assert seen(engine, "running", "waiting", "finished") == (0, 0, 4)


@pytest.mark.parametrize(("prompt", "tokens", "blocks"), [(0, 1, 1), (0, 17, 2), (15, 1, 1), (16, 1, 2), (40, 8, 3)])
def test_prompt_and_tokens_share_blocks(prompt, tokens, blocks):
    engine = Engine(1, blocks)
    engine.submit(job(tokens=tokens, prompt=prompt, gap=1), 0)
    run(engine, until=engine.due + tokens - 1.5)
    assert seen(engine, "kv_blocks_used") == (blocks,)
    with pytest.raises(TooLongError, match=f"{(blocks - 1) * BLOCK} tokens"):
        Engine(1, blocks - 1).submit(job(tokens=tokens, prompt=prompt), 0)


def test_blocks_are_taken_as_tokens_grow():
    engine = Engine(1, 8)
    engine.submit(job(tokens=40, first=1, gap=1), 0)
    grown = []
    while engine.due < math.inf:
        grown += seen(engine, "kv_blocks_used")
        engine.advance(engine.due)
    assert grown == [1] * 16 + [2] * 16 + [3] * 8


def test_a_job_waits_for_blocks_although_a_slot_is_free():
    engine, one, two = Engine(4, 3), job(prompt=32, tokens=2), job(prompt=16, tokens=1)
    engine.submit(one, 0)
    engine.submit(two, 0)
    assert (one.state, two.state) == (State.RUNNING, State.WAITING)
    assert run(engine) == [(1, one), (1.5, one), (2.5, two)]


def test_without_blocks_whoever_came_last_gives_up_its_own_and_goes_on_later():
    engine, one, two = Engine(2, 3), job(tokens=40, first=1, gap=1), job(tokens=20, first=1, gap=1)
    engine.submit(one, 0)
    engine.submit(two, 0)
    made = run(engine)
    assert (one.state, two.state) == (State.FINISHED, State.FINISHED)
    assert [at for at, which in made if which is one] == [float(n) for n in range(1, 41)], "the first is not disturbed"
    later = [at for at, which in made if which is two]
    assert len(later) == 20, "no token is made twice"
    assert later[15:17] == [16.0, 41.0], "once more `first`, from when it was admitted again"
    assert seen(engine, "preempted", "kv_blocks_used") == (1, 0)


def test_one_that_nobody_can_make_room_for_waits_by_itself():
    engine, lost = Engine(2, 2, [Link.BLOCKS]), job(tokens=8)
    engine.submit(lost, 0)
    engine.abort(lost, 0)
    one = job(tokens=20)
    engine.submit(one, 0)
    assert len(run(engine)) == 16
    assert seen(engine, "waiting", "running", "preempted", "kv_blocks_used") == (1, 0, 1, 1)


@pytest.mark.parametrize("made", [0, 2])
def test_an_abort_frees_slot_and_blocks_for_the_next(made):
    engine, one, two = Engine(1, 4), job(prompt=40, tokens=8, first=0, gap=1), job(prompt=40, tokens=1, first=1)
    engine.submit(one, 0)
    engine.submit(two, 0)
    run(engine, until=made - 1)
    assert one.made == made
    engine.abort(one, 5)
    assert (one.state, two.state) == (State.ABORTED, State.RUNNING)
    assert run(engine) == [(6, two)]
    assert seen(engine, "aborted", "finished", "running", "kv_blocks_used") == (1, 1, 0, 0)


def test_one_that_waits_is_aborted_without_having_run():
    engine, one, two = Engine(1, 4), job(), job()
    engine.submit(one, 0)
    engine.submit(two, 0)
    engine.abort(two, 0)
    assert {which for _, which in run(engine)} == {one}
    assert seen(engine, "aborted", "finished", "waiting") == (1, 1, 0)


def test_what_is_over_cannot_be_aborted():
    engine, one = Engine(1, 4), job()
    engine.submit(one, 0)
    run(engine)
    engine.abort(one, 9)
    assert seen(engine, "aborted", "finished") == (0, 1)


def test_without_the_scheduler_s_link_the_slot_is_never_given_back():
    engine, one, two = Engine(1, 4, [Link.SCHEDULER]), job(), job()
    engine.submit(one, 0)
    engine.submit(two, 0)
    engine.abort(one, 0)
    assert run(engine) == []
    assert seen(engine, "aborted", "running", "waiting", "kv_blocks_used") == (1, 1, 1, 1)


def test_without_the_blocks_link_the_slot_is_free_and_the_blocks_are_not():
    engine, one, two, three = Engine(1, 2, [Link.BLOCKS]), job(), job(prompt=12, tokens=4), job(prompt=16)
    engine.submit(one, 0)
    engine.abort(one, 0)
    engine.submit(two, 0)
    assert len(run(engine)) == 4
    engine.submit(three, 0)
    assert run(engine) == []
    assert seen(engine, "aborted", "finished", "running", "waiting", "kv_blocks_used") == (1, 1, 0, 1, 1)


@pytest.mark.parametrize("tokens", [1, 3])
def test_durations_may_last_for_ever(tokens):
    engine, never, stuck = Engine(2, 4), job(tokens=tokens, first=math.inf, gap=math.inf), job(first=1, gap=math.inf)
    engine.submit(never, 0)
    engine.submit(stuck, 0)
    assert run(engine) == [(1, stuck)]
    assert engine.due == math.inf
    engine.abort(never, 2)
    engine.abort(stuck, 2)
    assert seen(engine, "aborted", "running", "kv_blocks_used") == (2, 0, 0)


@given(
    slots=some.integers(1, 3),
    blocks=some.integers(2, 6),
    steps=some.lists(
        some.tuples(some.sampled_from(["submit", "abort", "pass"]), some.integers(0, 32), some.integers(1, 64)),
        max_size=40,
    ),
)
def test_nothing_is_lost_whoever_comes_and_leaves(slots, blocks, steps):
    engine, jobs, now = Engine(slots, blocks), [], 0.0
    for what, prompt, tokens in steps:
        if what == "submit" and math.ceil((prompt + tokens) / BLOCK) <= blocks:
            jobs.append(job(tokens=tokens, prompt=prompt, gap=0.25))
            engine.submit(jobs[-1], now)
        elif what == "abort" and jobs:
            engine.abort(jobs[prompt % len(jobs)], now)
        else:
            now += tokens / 8
            engine.advance(now)
        running = [one for one in jobs if one.state is State.RUNNING]
        held = sum(one.blocks for one in jobs)
        assert all(one.blocks >= one.blocks_for(one.made + 1) for one in running), "there is room for the next token"
        assert seen(engine, "running", "kv_blocks_used") == (len(running), held)
        assert len(running) <= slots
        assert held <= blocks
    run(engine)
    assert {one.state for one in jobs} <= {State.FINISHED, State.ABORTED}
    assert all(one.made == one.tokens for one in jobs if one.state is State.FINISHED)
    assert seen(engine, "waiting", "running", "kv_blocks_used") == (0, 0, 0)
    assert sum(seen(engine, "finished", "aborted")) == len(jobs)
