"""The documentation is true: its pages can be followed, its code runs, its scenarios load, its names exist."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from chaosproxy.chain.fault import REGISTRY
from chaosproxy.cli.main import program
from chaosproxy.cli.origin import command as origin
from chaosproxy.cli.run import command as run
from chaosproxy.scenario.load import load
from tests.docs.following import NOT_RUN, blocks, commands, essence, follow

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
FOLLOWED = [
    "../README",
    "abort-chain",
    "demo",
    "errors-after-200",
    "find-the-buffering",
    "reports",
    "report-card",
    "reproducing",
    "origin",
    "sidecar",
    "timeouts",
    "tls-and-http2",
]
"""Pages that say what to do, one task each."""
OPTIONS = {f"CHAOSPROXY_{parameter.name.upper().rstrip('_')}" for parameter in run.params} | {
    f"CHAOSPROXY_ORIGIN_{parameter.name.upper()}" for parameter in origin.params
}
GIVEN = {"CHAOSPROXY_URL", "CHAOSPROXY_CASE", "CHAOSPROXY_CA"}
"""To a client that is checked."""
VARIABLES = OPTIONS - {"CHAOSPROXY_SCENARIOS"} | {"CHAOSPROXY_SCENARIO"}


def texts(page: Path, language: str) -> list[str]:
    return [block.text for block in blocks(page.read_text(encoding="utf-8")) if block.language == language]


def scenarios(page: Path) -> list[str]:
    """The YAML that is a scenario; the rest is of compose and its kin."""
    return [text for text in texts(page, "yaml") if re.search(r"^version: 1\b", text, re.MULTILINE)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", FOLLOWED)
def test_a_page_can_be_followed(name, tmp_path):
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    if shutil.which("curl") is None and "$ curl" in page:
        pytest.skip("curl not found: apt-get install curl")
    walked = follow(page, tmp_path)
    shown = [command for text in texts(DOCS / f"{name}.md", "console") for command, _ in commands(text)]
    assert len(walked.seen) == len([command for command in shown if not command.startswith(NOT_RUN)])


@pytest.fixture
def no_new_faults() -> Iterator[None]:
    """What a test makes known is forgotten behind it."""
    known = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(known)


@pytest.mark.usefixtures("no_new_faults")
def test_the_guide_to_a_new_fault_works_from_top_to_bottom():
    names: dict[str, object] = {"__name__": "chaosproxy.faults.echo_gap"}
    code = texts(DOCS / "adding-a-fault.md", "python")
    assert len(code) == 4
    for snippet in code:
        exec(compile(snippet, "adding-a-fault.md", "exec"), names)
    assert "echo_gap" in REGISTRY


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_scenario_in_the_documentation_loads(page):
    for text in scenarios(page):
        load(text)
    for text in texts(page, "yaml"):
        assert isinstance(yaml.safe_load(text), dict)
        assert text in scenarios(page) or "faults:" not in text, "a scenario says version: 1"


def spoken() -> list[str]:
    """Every command line of ours that a page shows, in a terminal or in the files of others."""
    found = []
    for page in PAGES:
        for text in texts(page, "console"):
            found += [command for command, _ in commands(text)]
        for text in texts(page, "yaml"):
            found += re.findall(r"(?:run: |until )(chaosproxy [^&;\n]*)", text)
            found += [" ".join(words.split(", ")) for words in re.findall(r"\[(chaosproxy, [^]]*)\]", text)]
    lines = [re.sub(r"^(CHAOSPROXY_\w+=\S+ )+", "", line) for line in found]
    return [re.split(r" [|&]| \|\| ", line)[0].strip() for line in lines if line.startswith("chaosproxy ")]


@pytest.mark.usefixtures("no_new_faults")
@pytest.mark.parametrize("line", sorted(set(spoken())))
def test_every_command_that_is_shown_exists(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("echo_gap.py").write_text(texts(DOCS / "adding-a-fault.md", "python")[0], encoding="utf-8")
    _, name, *arguments = shlex.split(line)
    command = program.get_command(click.Context(program), name)
    assert command is not None, line
    command.make_context(name, arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_variable_that_is_named_exists(page):
    named = set(re.findall(r"\bCHAOSPROXY_[A-Z_]+", page.read_text(encoding="utf-8")))
    assert named <= VARIABLES | {"CHAOSPROXY_DEBUG", "CHAOSPROXY_PEERS"} | GIVEN


def test_every_variable_of_run_is_on_the_page_about_sidecars():
    named = set(re.findall(r"\bCHAOSPROXY_[A-Z_]+", (DOCS / "sidecar.md").read_text(encoding="utf-8")))
    assert {name for name in VARIABLES if "_ORIGIN_" not in name} <= named


def test_every_page_that_is_linked_is_there_and_every_page_is_linked():
    linked = {ROOT / "README.md"}
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
            linked.add((page.parent / target).resolve())
    assert set(PAGES) - linked == set()


def test_a_follower_notices_what_is_not_so(tmp_path):
    for wrong in (
        "```console\n$ echo one\ntwo\n```\n",
        "```console\n$ echo one\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ echo 0\n5\n```\n",
        "Put this into `a.txt.py`:\n\n```python\nraise SystemExit(3)\n```\n\n```console\n$ python a.txt.py\n...\n```\n",
    ):
        with pytest.raises(AssertionError):
            follow(wrong, tmp_path)
    assert essence("fin by client; stall: x") == essence("rst by client; [Errno 104] Connection reset; stall: x")
    assert essence("fin by client") != essence("fin by proxy")
    walked = follow(
        "Put this into `a.py`:\n\n```python\nprint(1.25, 'x')\nprint('tail of it')\n```\n\n"
        "```console\n$ python a.py\n7 x\ntail ...\n$ pip install nothing\n```\n",
        tmp_path,
    )
    assert walked.seen == [("python a.py", "1.25 x\ntail of it\n")]
