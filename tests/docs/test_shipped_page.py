"""The page of the shipped scenarios says what their files say."""

from chaosproxy.scenario import library
from docs.shipped import PAGE, head, page


def test_the_page_is_that_of_the_files():
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs"


def test_each_has_its_section_with_what_its_head_says():
    text = page()
    for name, file in library.shipped().items():
        if library.theme(file) == "presets":
            assert f"### {name}\n" not in text, "they have pages of their own"
            continue
        section = text.partition(f"### {name}\n")[2].partition("\n#")[0]
        assert head(file)["In the field"][:60] in section
        assert head(file)["A good client"][:60] in section
