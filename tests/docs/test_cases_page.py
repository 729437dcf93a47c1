"""The page of the report card has the cases that are run."""

from docs.cases import PAGE, page


def test_the_page_is_that_of_the_table():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"
