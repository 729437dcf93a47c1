"""The legal order of events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.model.grammar import Grammar, GrammarError
from chaosproxy.model.messages import Abort, Data, End, Goaway, Interim, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Peer

EVENTS = {
    "q": RequestHead(b"GET", b"/"),
    "h": ResponseHead(200),
    "i": Interim(103),
    "d": Data(b"x"),
    "t": Trailers(),
    "e": End(),
    "a": Abort("cut", Peer.PROXY),
    "g": Goaway(0, 1),
}


def accepted(letters):
    """The state after `letters`, or None if one of them may not stand there."""
    grammar = Grammar()
    try:
        for letter in letters:
            grammar.check(EVENTS[letter])
    except GrammarError:
        return None
    return grammar


@pytest.mark.parametrize(
    "letters", ["he", "qe", "iihe", "hde", "hddte", "hte", "a", "ia", "ha", "hda", "hdta", "gighgdgtge"]
)
def test_whole_exchanges(letters):
    grammar = accepted(letters)
    assert grammar is not None
    assert grammar.over


@pytest.mark.parametrize("letters", ["", "i", "h", "hd", "hdt", "g"])
def test_exchanges_under_way(letters):
    grammar = accepted(letters)
    assert grammar is not None
    assert not grammar.over


@pytest.mark.parametrize(
    "letters", ["d", "e", "t", "hh", "qh", "hi", "htd", "htt", "hee", "hea", "aa", "ae", "heg", "ied"]
)
def test_what_may_not_stand_there(letters):
    assert accepted(letters) is None


@given(st.text("qhidteag", max_size=8))
def test_nothing_follows_a_terminal_and_nothing_precedes_the_head(letters):
    grammar = accepted(letters)
    if grammar is None:
        return
    assert not any(letter in "ea" for letter in letters[:-1])
    assert grammar.over == letters.endswith(("e", "a"))
    before, _, _ = letters.replace("q", "h").partition("h")
    assert set(before) <= set("iga")


def test_empty_data_is_refused_because_it_would_end_a_chunked_body():
    grammar = Grammar()
    grammar.check(EVENTS["h"])
    with pytest.raises(GrammarError, match="empty Data"):
        grammar.check(Data(b""))


def test_a_refusal_names_the_event_and_the_state():
    with pytest.raises(GrammarError, match="Data in state START"):
        Grammar().check(Data(b"x"))
