"""Shipped scenarios are found by name, and by nothing that leads out of the library."""

import pytest

from chaosproxy.scenario import library
from chaosproxy.scenario.load import examine, load


@pytest.fixture
def own_library(tmp_path, monkeypatch):
    place = tmp_path / "scenarios"
    (place / "theme").mkdir(parents=True)
    (place / "theme" / "slow.yaml").write_text("version: 1\nname: shipped\n")
    (place / "plain.yaml").write_text("version: 1\n")
    (place / "Odd Name.yaml").write_text("version: 1\n")
    (tmp_path / "secret.yaml").write_text("version: 1\nname: secret\n")
    (place / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    monkeypatch.setattr(library, "_PLACES", (tmp_path / "absent", place))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return place


def test_every_shipped_scenario_loads_without_a_warning():
    assert {"idle-drop", "buffer-4k"} <= library.shipped().keys()
    for name, path in library.shipped().items():
        scenario, problems = examine(path)
        assert problems == ()
        assert scenario.name == name
        assert scenario.about
        assert library.theme(path)


def test_a_name_is_found_whatever_its_theme(own_library):
    assert load("slow").name == "shipped"
    assert library.find("plain") == own_library / "plain.yaml"
    assert [library.theme(path) for path in library.shipped().values()] == ["", "theme"]


def test_a_file_of_that_name_comes_first(own_library, tmp_path):
    (tmp_path / "elsewhere" / "slow").write_text("version: 1\nname: mine\n")
    assert load("slow").name == "mine"


@pytest.mark.parametrize("name", ["link", "Odd Name", "../secret", "theme/slow", "%2e%2e", "..", ".", "C:slow", "SLOW"])
def test_nothing_else_is_found_by_name(own_library, name):
    scenario, problems = examine(name)
    assert scenario is None
    assert problems[0].unreadable


def test_a_directory_of_that_name_is_no_scenario(own_library, tmp_path):
    (tmp_path / "elsewhere" / "odd").mkdir()
    assert "a directory" in examine("odd")[1][0].message


def test_an_unknown_name_gets_the_nearest(own_library):
    with pytest.raises(
        LookupError, match=r"is called 'slwo'; did you mean 'slow'\? `chaosproxy scenarios` lists them$"
    ):
        library.find("slwo")


def test_a_family_gets_its_members(own_library):
    for version in ("1.1", "1.2"):
        (own_library / f"server-{version}.yaml").write_text("version: 1\n")
    with pytest.raises(LookupError, match=r"is called 'server'; there are server-1\.1, server-1\.2$"):
        library.find("server")


def test_where_nothing_is_near_it_says_what_lists_them(own_library):
    with pytest.raises(LookupError, match=r"is called 'quite-other'; `chaosproxy scenarios` lists them$"):
        library.find("quite-other")


def test_without_a_library_only_files_are_found(own_library, monkeypatch, tmp_path):
    monkeypatch.setattr(library, "_PLACES", (tmp_path / "absent",))
    assert library.shipped() == {}
    with pytest.raises(LookupError, match="none is installed here"):
        library.find("slow")
