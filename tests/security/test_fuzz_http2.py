"""HTTP/2, both roles: whatever a peer sends and a driver does, signals, and legal frames within the peer's windows."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from chaosproxy.http2.frames import frame
from chaosproxy.model.vocabulary import Manner, Role, Scope
from tests.fuzz import h2, pair
from tests.fuzz.draw import Draw
from tests.security.mutating import asked

MACHINES = 40


def test_any_frames_and_a_driver(shown):
    tried = asked(lambda data: h2.run(list(Role)[data[0] & 1], data[1:]), st.binary(min_size=2, max_size=160), 200)
    shown(
        "fuzzing",
        "HTTP/2, both roles: frames of 13 kinds, bits turned, raw HPACK, a driver between them",
        tried=tried.runs,
        must=h2.MUST,
        happens="that, each time",
        figure=tried.figure,
    )


class Connection(RuleBasedStateMachine):
    """A peer and a driver at one session, which gets everything whole, and at another that gets single bytes."""

    finished = 0
    numbers = st.sampled_from([1, 3, 5, 7])

    @initialize(role=st.sampled_from(Role), greets=st.integers(0, 9))
    def begin(self, role, greets):
        self.plays = [h2.Play(role, lambda raw: [raw]), h2.Play(role, h2.single)]
        if greets:
            self._both(h2.Play.greet)

    def _both(self, step):
        for play in self.plays:
            step(play)

    @rule(raw=st.binary(min_size=4, max_size=24).map(lambda data: h2.a_frame(Draw(data))))
    def the_peer_says(self, raw):
        self._both(h2.hears(raw))

    @rule(stream=numbers, block=st.sampled_from(h2.BLOCKS[:5] + h2.BLOCKS[7:10]), end=st.booleans())
    def the_peer_has_a_head(self, stream, block, end):
        self._both(h2.hears(frame(1, 4 | end, stream, block)))

    @rule(stream=numbers, size=st.sampled_from([1, 5, 9000, 16_384]), end=st.booleans())
    def the_peer_has_a_body(self, stream, size, end):
        self._both(h2.hears(frame(0, int(end), stream, b"x" * size)))

    @rule(final=st.booleans())
    def opens(self, final):
        self._both(lambda play: play.role is Role.SERVER or play.open(final=final))

    @rule(stream=numbers, final=st.booleans())
    def answers(self, stream, final):
        self._both(lambda play: play.answer(stream, final=final))

    @rule(stream=numbers, size=st.sampled_from([1, 100, 16_384, 30_000]))
    def sends(self, stream, size):
        self._both(lambda play: play.data(stream, size))

    @rule(stream=numbers, trailers=st.booleans())
    def finishes(self, stream, trailers):
        self._both(lambda play: play.finish(stream, trailers=trailers))

    @rule(stream=numbers, size=st.integers(1, 20_000))
    def grants(self, stream, size):
        self._both(lambda play: play.grant(stream, size))

    @rule(stream=numbers, scope=st.sampled_from(Scope), manner=st.sampled_from(Manner))
    def aborts(self, stream, scope, manner):
        self._both(lambda play: play.abort(stream, scope, manner))

    @rule()
    def closes(self):
        self._both(h2.Play.close)

    @invariant()
    def both_say_the_same(self):
        if hasattr(self, "plays"):
            whole, single = self.plays
            assert (single.told, single.written) == (whole.told, whole.written)
            assert single.session.closing == whole.session.closing

    def teardown(self):
        if hasattr(self, "plays"):
            self._both(h2.Play.end)
            Connection.finished += 1


def test_a_connection_as_a_machine(shown):
    Connection.finished = 0
    run_state_machine_as_test(Connection, settings=settings(max_examples=MACHINES, stateful_step_count=30))
    assert Connection.finished >= MACHINES
    shown(
        "fuzzing",
        "HTTP/2 as a machine of eleven rules: a peer, a driver, any order",
        tried=min(Connection.finished, MACHINES),
        must="after each step what is told and written is legal, and the same for single bytes",
        happens="that, each time",
    )


def test_an_exchange_through_each_pair(shown):
    tried = asked(
        lambda data: [pair.run(bytes([front, back]) + data) for front in (0, 1) for back in (0, 1)],
        st.binary(min_size=8, max_size=120),
        80,
    )
    found = pair.TARGETS["pair"]
    shown(
        "fuzzing",
        "an exchange through each of the four pairs",
        tried=4 * tried.runs,
        must=found.must,
        happens="that, each time",
        figure=tried.figure,
    )
