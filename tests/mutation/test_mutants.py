"""What is written into the sources to try the tests, and that what is explained is still there to be explained."""

import ast

import pytest

from tests.mutation.__main__ import HOUSE, PACKAGES, files_of, sample
from tests.mutation.explained import EXPLAINED
from tests.mutation.mutants import mutants


def written(source):
    return [mutant.now for mutant in mutants(ast.parse(source))]


@pytest.mark.parametrize(
    ("source", "now"),
    [
        ("def f(a):\n    return a < 1", ["return None", "a <= 1", "2"]),
        ("def f(a, b):\n    return a and b", ["return None", "a or b", "b", "a"]),
        ("def f(a):\n    if not a:\n        g()", ["if True", "if False", "a", "pass"]),
        ("def f(self):\n    self.a += 2", ["self.a = 2", "pass", "3"]),
        ("def f(a):\n    match a:\n        case 1 if a:\n            pass", ["case 1 if False", "case 1", "2"]),
        ("A = b'ab'", ["b'a?'"]),
        ("A: int = 1", ["2"]),
        ('def f(a: "b") -> 1:\n    """C."""\n    assert a == 1\n    raise ValueError(f"{a} is 1")', ["pass"]),
    ],
)
def test_a_mistake_of_each_kind(source, now):
    assert written(source) == now


def test_a_mutant_is_the_tree_with_one_thing_changed():
    tree = ast.parse("def f(a):\n    return a < 1")
    mutants(tree)[1].apply()
    assert ast.unparse(tree) == "def f(a):\n    return a <= 1"


def test_a_seed_draws_the_same_mutants_one_of_each_function_first():
    drawn = [(str(path), mutant.function, mutant.now) for path, _, mutant in sample("framing", 1, 40)]
    assert drawn == [(str(path), mutant.function, mutant.now) for path, _, mutant in sample("framing", 1, 40)]
    assert len({(path, function) for path, function, _ in drawn}) == 40


def test_what_is_explained_is_there():
    there = {
        (f"{path.relative_to(HOUSE)} {mutant.function}", f"{mutant.was} -> {mutant.now}")
        for package in PACKAGES
        for path in files_of(package)
        for mutant in mutants(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert set(EXPLAINED) - there == set()
