"""Names of HTTP/2 error codes, against the ones that h2 has."""

import pytest
from h2.errors import ErrorCodes

from chaosproxy.chain.endings import Ending
from chaosproxy.model.codes import code_name


def test_every_code_of_the_rfc_has_its_name():
    assert [code_name(int(code)) for code in ErrorCodes] == [code.name for code in ErrorCodes]


@pytest.mark.parametrize(("code", "shown"), [(14, "0xe"), (2**32 - 1, "0xffffffff")])
def test_another_is_a_number(code, shown):
    assert code_name(code) == shown


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        (Ending("stream", 0x8), "stream:CANCEL"),
        (Ending("stream"), "stream:INTERNAL_ERROR"),
        (Ending("goaway", 0x0), "goaway:NO_ERROR"),
        (Ending("goaway", 0xFF), "goaway:0xff"),
        (Ending("status", status=503), "503"),
        (Ending("rst"), "rst"),
    ],
)
def test_an_ending_is_shown_as_a_scenario_says_it(ending, shown):
    assert str(ending) == shown
