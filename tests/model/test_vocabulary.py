"""The words that stand in scenarios and journals: another would break whoever wrote or reads one."""

from chaosproxy.model.vocabulary import Framing, Manner, Moment, Peer, Role, Scope, Way


def test_the_words_are_those_that_are_written():
    assert [*Way] == ["request", "response"]
    assert [*Peer] == ["client", "upstream", "proxy"]
    assert [*Role] == ["client", "server"]
    assert [*Scope] == ["stream", "connection"]
    assert [*Manner] == ["reset", "fin", "at_once", "mid_chunk", "no_close_notify", "goaway", "silence"]
    assert [*Framing] == ["none", "length", "chunked", "close", "stream", "tunnel"]
    assert [*Moment] == ["request", "request_end", "headers", "body", "end", "after_end"]
