"""The few questions asked of a header list."""

import pytest

from chaosproxy.model.headers import first, replaced, tokens, values, without

FIELDS = ((b"Host", b"a"), (b"X-One", b"1"), (b"set-cookie", b"a=1"), (b"x-one", b"2"), (b"Set-Cookie", b"b=2"))


def test_names_are_compared_without_case_and_order_is_kept():
    assert values(FIELDS, b"set-cookie") == [b"a=1", b"b=2"]
    assert values(FIELDS, b"absent") == []


def test_the_first_of_several():
    assert first(FIELDS, b"x-one") == b"1"
    assert first(FIELDS, b"absent") is None


def test_taking_fields_out_leaves_the_rest_as_it_was():
    assert without(FIELDS, {b"x-one", b"host"}) == ((b"set-cookie", b"a=1"), (b"Set-Cookie", b"b=2"))
    assert without(FIELDS, ()) == FIELDS


def test_replacing_keeps_the_first_place_and_its_spelling_and_drops_the_others():
    assert replaced(FIELDS, b"X-ONE", b"9") == (FIELDS[0], (b"X-One", b"9"), FIELDS[2], FIELDS[4])


def test_replacing_what_is_not_there_adds_it_at_the_end():
    assert replaced(FIELDS, b"New", b"9") == (*FIELDS, (b"New", b"9"))
    assert replaced((), b"New", b"9") == ((b"New", b"9"),)


@pytest.mark.parametrize(
    ("fields", "members"),
    [
        (((b"Connection", b"close"),), [b"close"]),
        (((b"Connection", b"Keep-Alive, X-One"), (b"connection", b"te")), [b"keep-alive", b"x-one", b"te"]),
        (((b"Connection", b" ,, \tclose\t ,"),), [b"close"]),
        (((b"Connection", b""),), []),
        (((b"Other", b"close"),), []),
    ],
)
def test_members_of_a_list(fields, members):
    assert tokens(fields, b"connection") == members
