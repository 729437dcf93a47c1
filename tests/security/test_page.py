"""The page of security shows the rows that are kept."""

from docs import security


def test_the_page_is_current():
    assert security.PAGE.read_text("utf-8") == security.page(), "`python -m docs.security` writes it"
