"""What reports have in common, and what is the page's own: it loads nothing, and shows and hides by hash."""

import base64
import hashlib
import re
import tracemalloc
from pathlib import Path

import pytest

from chaosproxy.journal.record import Ending
from chaosproxy.judging.check import Finding, Verdict
from chaosproxy.report import html, markdown, overview
from chaosproxy.report.exchange_html import FACTS
from chaosproxy.report.overview import Overview, tone
from chaosproxy.report.pages import form_of, pieces, write
from chaosproxy.report.text import WIDTH, painted, waterfall
from tests.report.examples import cut, ended, examples, exchange, left, plain, verdicts

FORMS = ("html", "text", "junit", "markdown")


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.html", "html"),
        ("a.HTM", "html"),
        ("a.txt", "text"),
        ("a.xml", "junit"),
        ("a.md", "markdown"),
        ("a.pdf", None),
    ],
)
def test_a_file_s_name_asks_for_its_format(name, form):
    assert form_of(Path(name)) == form


def test_the_policy_lets_the_page_s_own_script_and_style_in_and_nothing_else():
    page = write(examples(), verdicts(), "html")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert not re.search(r"<(?:link|img|iframe|object|base|a href=\"[^#])|\bstyle=|\bon[a-z]+=|url\(|@import", page)


def test_the_script_makes_no_markup():
    script = (Path(html.__file__).with_name("page.js")).read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|createElement|eval|Function\(", script)


def test_every_kind_of_ending_has_its_colour():
    made = [plain(), cut(), left(), ended(exchange(), 0.1, Ending("proxy", "clean", "respond")), exchange()]
    made.append(ended(exchange(), 0.1, Ending("upstream", "fin_mid_chunk", "upstream:fin_mid_chunk")))
    assert [tone(record) for record in made] == ["good", "bad", "left", "own", "running", "bad"]
    for record in made:
        assert f'<span class="ending {tone(record)}">' in write([record], (), "html")
    shown = "".join(painted(made, (), "", lambda text, style: f"<{style}>{text}</{style}>"))
    assert "  <good>clean by upstream, 230 ms</good>\n" in shown
    assert "  <bad>rst by proxy (cut), 150 ms</bad>\n" in shown
    assert "  <left>fin by client, 2090 ms</left>\n" in shown


def test_endings_are_counted_with_their_longest_times():
    slow = plain(7)
    slow.times.end, slow.times.first_event_out = 9.0, 0.04
    found = Overview.of([cut(), plain(), slow, left()])
    assert found.total == 4
    first, *others = found.groups
    assert (first.ending, first.count, first.first, first.longest) == ("clean by upstream", 2, 0.05, 9.0)
    assert [group.count for group in others] == [1, 1]


def test_endings_without_number_are_counted_together():
    many = [ended(exchange(), 0.1, Ending("proxy", "clean", f"x{one}")) for one in range(overview.MOST + 30)]
    found = Overview.of([*many, many[0]])
    assert len(found.groups) == overview.MOST + 1
    assert found.groups[0].ending == overview.OTHERS
    assert {group.ending: group.count for group in found.groups}["clean by proxy (x0)"] == 2
    assert sum(group.count for group in found.groups) == found.total == len(many) + 1


@pytest.mark.parametrize("form", FORMS)
def test_each_exchange_is_told_and_named(form):
    told = write(examples(), (), form)
    for record in examples():
        assert f"#{record.id}" in told or f"\n| {record.id} |" in told


@pytest.mark.parametrize("form", FORMS)
def test_verdicts_stand_before_exchanges(form):
    told = write(examples(), verdicts(), form, title="x")
    assert "first event within 80ms" in told
    if form != "junit":
        assert told.index("first event within 80ms") < told.index("clean by proxy (respond)")
        assert told.index("2 of 3 expectations failed, 6 exchanges") < told.index("first event within 80ms")
        assert "3 expectations met" in write(examples(), [verdicts()[1]] * 3, form)


def test_of_many_exchanges_the_latest_are_drawn_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(html, "LATEST", 3)
    page = write([plain(number) for number in range(1, 6)], (), "html")
    assert re.findall(r'<article class="exchange" id="exchange-(\d)"', page) == ["3", "4", "5"]
    assert "The first 2 are counted above, and not drawn." in page
    monkeypatch.setattr(markdown, "LATEST", 3)
    page = write([plain(number) for number in range(1, 6)], (), "markdown")
    assert "<summary>The latest 3 of 5 exchanges</summary>" in page
    assert re.findall(r"^\| (\d) \| `", page, re.MULTILINE) == ["3", "4", "5"]


def test_a_summary_of_the_worst_run_has_room_in_ci():
    """1 MiB is what GitHub takes."""
    many = [cut(number) for number in range(1, 500)]
    for record in many:
        record.request.path = record.detail = "/漢" * 5000
    assert len(write(many, verdicts() * 20, "markdown").encode()) < 1024 * 1024


@pytest.mark.parametrize(("form", "few"), [("html", 20), ("text", 20), ("junit", 20), ("markdown", markdown.LATEST)])
def test_no_report_keeps_the_exchanges(form, few):
    """What there is at a time does not grow with their number."""

    class Many:
        def __init__(self, count):
            self.count = count

        def __iter__(self):
            return (cut(number) for number in range(self.count))

    def peak(count):
        tracemalloc.start()
        try:
            for _ in pieces(Many(count), (), form):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # what is loaded and kept the first time
    assert peak(4 * few) < 2 * peak(few)


def test_text_has_eighty_columns_whatever_the_numbers():
    made = cut()
    made.id, made.response.events_out, made.response.bytes_out = 10**9, 10**12, 10**15
    made.request.path = "/v1/" + "x" * 150
    made.faults[0].detail = "word " * 39
    made.detail = "y" * 190
    made.not_fired *= 9
    told = "".join(painted([made], (), "t" * 150, lambda text, _: text))
    assert max(map(len, told.splitlines())) <= WIDTH
    assert "not fired: 4 further" in told


def test_the_heading_is_cut_where_the_row_ends_and_says_so():
    made = plain()
    made.request.path = "/" + "x" * 100
    heading = next(waterfall(made))
    assert len(heading) == WIDTH
    assert heading.endswith("xxx...")


def test_what_did_not_act_is_told_up_to_five():
    made = cut()
    made.not_fired *= 5
    told = list(waterfall(made))
    assert sum(line.startswith("  not fired: timeout") for line in told) == 5
    assert not any("further" in line for line in told)


def test_folded_is_where_it_went():
    made = plain(3)
    made.upstream.protocol, made.upstream.connection, made.upstream.stream = "h2", 4, 5
    page = write([made, exchange(9)], (), "html")
    assert "<td>http/1.1, connection 3</td>" in page
    assert "<td>http://127.0.0.1:8000 h2, connection 4, stream 5</td>" in page
    assert "<td>- not reached</td>" in page
    assert "<th>authorization</th><td>***</td>" in page


def test_the_table_of_a_summary_counts_what_it_does_not_tell(monkeypatch):
    monkeypatch.setattr(markdown, "LATEST", 2)
    wrong = tuple(Finding((number,), False, f"seen {number}") for number in (1, 2, 3))
    told = write([plain(1), plain(2)], [Verdict("head", "a head", wrong, "x")], "markdown")
    assert "| ❌ | `head: a head` | `#1: seen 1` and 2 further |\n" in told
    assert "<summary>2 exchanges</summary>" in told


def test_of_a_head_of_hundreds_of_fields_the_first_are_folded():
    made = plain()
    made.request.headers = [[f"x-{number}", "1"] for number in range(FACTS)]
    assert f"<th>x-{FACTS - 1}</th><td>1</td></tr></table>" in write([made], (), "html")
    made.request.headers += [["y", "2"]] * 7
    assert f"<th>x-{FACTS - 1}</th><td>1</td></tr><tr><th>...</th><td>7 further</td></tr></table>" in write(
        [made], (), "html"
    )
