"""How the reference says what may be written for a field."""

import pytest

from chaosproxy.model.units import Duration
from chaosproxy.model.vocabulary import Way
from chaosproxy.scenario.reference import form


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (bool, "`true` or `false`"),
        (int, "a whole number"),
        (Way, "`request` or `response`"),
        (Duration, "duration"),
        (Duration | None, "duration"),
        (tuple[str, ...], "text, or a list of them"),
        (dict, "any value"),
    ],
)
def test_a_form_is_said_in_words(kind, words):
    assert form(kind) == words
