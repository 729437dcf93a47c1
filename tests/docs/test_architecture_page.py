"""The picture and the table of the packages are those of the imports; a drawing of layers is what it should be."""

from docs import packages
from docs.layout import layout, needed


def test_the_picture_is_the_one_that_the_imports_make():
    assert packages.PICTURE.read_text(encoding="utf-8") == packages.picture(), f"run `{packages.COMMAND}`"


def test_the_table_is_the_one_that_the_imports_make():
    text = packages.PAGE.read_text(encoding="utf-8")
    assert text == packages.page(text), f"run `{packages.COMMAND}`"
    assert text.count("\n| `") >= len([name for row in packages.layers() for name in row])


def test_every_package_has_its_layer():
    rows = {name for row in packages.layers() for name in row}
    assert {importer for importer, _ in packages.imports()} - {"__init__"} <= rows


def test_an_arrow_that_follows_from_others_is_left_out():
    assert needed({("a", "b"), ("b", "c"), ("c", "d"), ("a", "c"), ("a", "d"), ("x", "d")}) == {
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
        ("x", "d"),
    }


def test_a_line_passes_every_row_between_and_no_box():
    plan = layout([["a"], ["b", "c"], ["d"]], {("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "d")}, 10, 4)
    through = plan.edges["a", "d"]
    assert [row for _, row in through] == [0, 1, 2]
    assert all(abs(through[1][0] - plan.nodes[other][0]) > 5 for other in ("b", "c"))


def test_lines_that_need_not_cross_do_not():
    plan = layout([["a", "b"], ["c", "d"], ["e", "f"]], {("a", "d"), ("b", "c"), ("d", "e"), ("c", "f")}, 10, 4)
    x = {name: place[0] for name, place in plan.nodes.items()}
    assert (x["a"] < x["b"]) == (x["d"] < x["c"]) == (x["e"] < x["f"])
