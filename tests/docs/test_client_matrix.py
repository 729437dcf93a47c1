"""The page of the client matrix is made of what the run has said, and each difference from what was measured has a reason."""

import json
import re
import subprocess
import sys

from chaosproxy.check.case import GRPC
from chaosproxy.check.table import CASES
from docs.matrix.__main__ import FILE
from docs.matrix.clients import CLIENTS, PROBES
from docs.matrix.compared import by_hand, cells, measured
from docs.matrix.defaults import as_by_hand
from docs.matrix.page import PAGE, page

COMMON = {"answer.py", "rpc.py", "answer.mjs", "chromium.html"}
OF_GRPC = {"grpcio_sync.py", "grpcio_aio.py"}
"""What is known of them by hand is in `tests/interop/test_grpc_faults.py`."""
SAID = json.loads(FILE.read_text(encoding="utf-8"))
FOUND, DEFAULTS = (
    {name: {seen["case"]: seen for seen in card["cases"]} for name, card in SAID[part].items()}
    for part in ("clients", "defaults")
)


def test_the_page_is_the_one_that_is_made_of_the_run():
    assert PAGE.read_text(encoding="utf-8") == page(SAID)


def test_every_client_was_run_and_every_one_that_was_measured_is_among_them():
    names = {client.name for client in CLIENTS}
    assert set(FOUND) == names == set(measured()[1]) | OF_GRPC


def test_every_client_was_asked_everything():
    """Of others than those of gRPC it is known without asking that the cases about it are not about them."""
    for name, cases in FOUND.items():
        asked = {case.id for case in CASES if case.suite != "slow" and (case.kinds != GRPC or name in OF_GRPC)}
        assert asked - cases.keys() == set(), name


def test_clients_give_up_by_themselves_when_they_did_so_by_hand():
    both = [(case, name, seconds) for case, clients in by_hand().items() for name, seconds in clients.items()]
    assert {name for _, name, _ in both} == DEFAULTS.keys()
    for case, name, seconds in both:
        assert as_by_hand(DEFAULTS[name][case], seconds), (case, name)


def test_each_difference_has_its_reason():
    both = list(cells(FOUND))
    assert len(both) > 800
    assert [(cell.client, cell.case) for cell in both if cell.asked and not cell.same and not cell.why] == []


def test_every_case_that_stands_for_a_column_is_one_of_the_card():
    known = {case.id for case in CASES}
    for column in measured()[0].values():
        assert {column["case"], *column.get("of", {}).values()} <= known


def test_the_versions_are_those_that_are_pinned():
    pinned = dict(re.findall(r"^([\w-]+)==(.+)$", (PROBES / "requirements.txt").read_text(), re.MULTILINE))
    npm = json.loads((PROBES / "package.json").read_text())["dependencies"]
    for name, version in SAID["versions"].items():
        bare = name.partition(" (")[0]
        assert not name.endswith("(PyPI)") or pinned[bare] == version
        assert not name.endswith("(npm)") or npm[bare] == version


def test_every_probe_is_a_row_and_has_a_place_on_the_page_of_probes():
    probes = {path.name for path in PROBES.iterdir() if path.suffix in {".py", ".mjs", ".sh", ".html"}}
    linked = set(re.findall(r"\]\(([\w.]+)\)", (PROBES / "README.md").read_text(encoding="utf-8")))
    templates = {f"template{ending}" for ending in (".py", ".mjs", ".sh")}
    assert probes <= linked
    assert {client.probe.name for client in CLIENTS} == probes - COMMON - templates


def test_the_template_tells_what_its_words_were(tmp_path):
    text = (PROBES / "template.py").read_text(encoding="utf-8")
    body = 'raise NotImplementedError(os.environ["CHAOSPROXY_URL"])'
    assert body in text
    for words, outcome in (
        ('yield from ("a ", "word")', "ok"),
        ('yield "a"\n    raise OSError("gone")', "raised"),
    ):
        probe = tmp_path / "probe.py"
        probe.write_text(text.replace(body, words), encoding="utf-8")
        said = json.loads(subprocess.run([sys.executable, probe], capture_output=True, check=True).stdout)
        assert said["outcome"] == outcome
        assert said["text"] == ("a word" if outcome == "ok" else "a")
