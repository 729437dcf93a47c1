"""What is asked of a head: whether it is about the spelling of a whole body."""

from chaosproxy.model.asked import ChunkSyntax


def test_words_in_front_of_a_break_change_no_chunk():
    assert not ChunkSyntax().spells
    assert not ChunkSyntax(on_abort=b"oops").spells
    assert ChunkSyntax(bare_lf=True, on_abort=b"oops").spells
    assert ChunkSyntax(empty_size=0).spells
