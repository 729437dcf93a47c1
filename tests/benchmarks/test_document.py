"""What the documents say of a run is what the run gave: the committed pages are made from the committed figures."""

import copy
import json
import xml.etree.ElementTree as ET

import pytest

from benchmarks import chart, document, report
from benchmarks.programs import ROOT

FIGURES = json.loads((ROOT / document.FIGURES).read_text())


@pytest.mark.parametrize("path", list(document.documents(FIGURES)), ids=str)
def test_the_committed_document_is_what_the_committed_figures_give(path):
    wanted = document.documents(FIGURES)[path]
    assert (ROOT / path).read_text() == wanted, "run: python -m benchmarks.document"


def test_another_figure_gives_another_document():
    other = copy.deepcopy(FIGURES)
    other["summary"]["events"]["chaosproxy"] |= {"cpu_us_per_event": 4321.0, "cpu_to_base": 43.21}
    for path, text in document.documents(other).items():
        assert "4321" in text or "43.21" in text, path
        assert (ROOT / path).read_text() != text


def test_every_scene_has_its_table_and_every_target_its_line():
    page = document.all_tables(FIGURES)
    for scene, rows in FIGURES["summary"].items():
        assert not rows or f"| `{scene}` |" in page
    for target in FIGURES["targets"]:
        assert f"| {target['what']} | {target['wanted']} |" in page


def test_what_is_condensed_gives_the_same_table():
    rounds = {"events": {"splice": [{"cpu_us_per_event": 99.123456, "p50_us": 1234.5678, "events": 7.0}]}}
    summary = report.summary(rounds)
    run = {
        "machine": {"peers": {}}, "asked": {}, "titles": {"events": "a title"}, "absent": {"events": {}},
        "took_seconds": 61.2, "targets": [{"what": "a", "value": None}, {"what": "b", "value": 1.23456}],
        "summary": summary, "rounds": rounds,
    }  # fmt: skip
    small = document.condensed(run)
    assert report.cells("t", "events", small["summary"]["events"]) == report.cells("t", "events", summary["events"])
    assert [one["value"] for one in small["targets"]] == [None, 1.235]
    assert "rounds" not in small
    assert document.condensed(small | {"rounds": {}}) == small


def test_fewer_rounds_than_a_measurement_has_are_called_a_look():
    for rounds, looks in ((1, True), (4, True), (5, False)):
        figures = FIGURES | {"asked": FIGURES["asked"] | {"rounds": rounds}}
        assert ("A look, not a measurement" in document.origin_of(figures)) is looks


def test_a_document_without_markers_is_refused():
    with pytest.raises(ValueError, match="figures"):
        document.filled("a page", "a table")


def test_the_picture_has_a_bar_as_long_as_its_number_for_everybody():
    numbers = {"cpu_to_base": 1.0, "added_p50_us": 50.0}
    summary = {
        "events": {
            "direct": {"p50_us": 1.0},
            "splice": numbers,
            "chaosproxy": {"cpu_to_base": 0.5, "added_p50_us": 100.0},
            "nginx": {"cpu_to_base": 0.25},
        }
    }
    root = ET.fromstring(chart.picture(summary))
    bars = [float(one.get("width")) for one in root.iter() if one.tag.endswith("rect")]
    assert [round(one / bars[0], 2) for one in bars] == [1, 0.5, 0.25, 0.5, 1]
    words = [one.text for one in root.iter() if one.tag.endswith("text")]
    assert {"bare splice", "chaosproxy, HTTP/1.1", "nginx, buffering off", "0.50", "100"} <= set(words)
