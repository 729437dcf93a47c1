"""Faults that are not built in: of a file that somebody names, of an installed package; and what is wrong with them."""

from importlib.metadata import EntryPoint

import pytest

from chaosproxy.chain.fault import REGISTRY
from chaosproxy.errors import UsageError
from chaosproxy.scenario import catalogue
from chaosproxy.scenario.load import examine

OWN = '''
"""`x_own`: passes everything on."""
from dataclasses import dataclass
from typing import ClassVar
from chaosproxy.chain.fault import FaultSpec, Neutral, register

@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    """Nothing."""
    name: ClassVar[str] = "x_own"
    def start(self, context):
        return Neutral()
'''


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """What is registered here is forgotten again."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture
def offered(tmp_path, monkeypatch):
    """An installed package whose module `name` is `text`, and which offers `x_own` there."""

    def make(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        offers = [EntryPoint("x_own", name, catalogue.GROUP)]
        monkeypatch.setattr(catalogue, "entry_points", lambda group: offers if group == catalogue.GROUP else [])

    return make


def test_a_file_tells_its_faults_however_often_it_is_read(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    for _ in range(2):
        assert catalogue.load_file(tmp_path / "own.py") == ["x_own"]
    assert "x_own" in catalogue.names()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("own.txt", OWN, "a file of faults is a Python file, and its name ends in .py"),
        ("missing.py", None, "cannot be read: No such file or directory"),
        ("none.py", "x = 1\n", "has no fault; one is a class with @register above @dataclass"),
        ("line.py", "\n\nx = 1 / 0\n", "line.py:3: ZeroDivisionError: division by zero"),
        ("word.py", "\nx = = 1\n", "word.py:2:5: invalid syntax"),
        ("zero.py", "x = '\0'\n", "zero.py: source code string cannot contain null bytes"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError) as error:
        catalogue.load_file(tmp_path / name)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_installed_fault_is_imported_when_it_is_used(offered):
    offered("x_package_that_works", OWN)
    assert "x_own" in catalogue.names()
    assert "x_own" not in REGISTRY
    assert examine("version: 1\nfaults:\n  - x_own: {}\n")[1] == ()
    assert "x_own" in [spec.name for spec in catalogue.every()]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "x_package_that_fails",
            "raise RuntimeError('no licence')",
            "cannot be loaded (x_package_that_fails): RuntimeError",
        ),
        ("x_package_of_nothing", "", "has no fault of that name; its entry point is called as the fault is"),
    ],
)
def test_one_that_cannot_be_used_is_a_problem_where_it_is_used(offered, name, text, said):
    offered(name, text)
    _, (problem,) = examine("version: 1\nfaults:\n  - x_own: {}\n")
    assert (problem.line, problem.column) == (3, 5)
    assert said in problem.message
