"""The way from the journal to the code is true: the files are there, and the words are those of the journal."""

import re
from importlib import import_module

from chaosproxy.journal.record import ClientView, ExchangeRecord
from docs import packages

PACKAGE = packages.ROOT / "chaosproxy"
JOURNAL = (packages.ROOT / "docs" / "journal.md").read_text(encoding="utf-8")
WHERE = packages.PAGE.read_text(encoding="utf-8").partition("\n## Where to look\n")[2].partition("\n## ")[0]


def named(text: str) -> set[str]:
    """What stands in backticks."""
    return set(re.findall(r"`([^`]+)`", text))


def keys(record: dict[str, object]) -> set[str]:
    """Every key of the journal, at whatever depth."""
    return set(record).union(*(keys(value) for value in record.values() if isinstance(value, dict)))


def a_record() -> ExchangeRecord:
    client = ClientView("http/1.1", 1)
    return ExchangeRecord(1, scenario="s", rule=0, seed=7, started_at="2026-11-30T12:00:00.123Z", client=client)


def test_every_file_to_look_into_is_there_and_has_the_function_that_is_named():
    rows = [line for line in WHERE.splitlines() if line.startswith(("| ", "- "))]
    assert len(rows) > 30
    for file, function in re.findall(r"`([a-z0-9_/]+\.py)`(?: \(`(\w+)`\))?", WHERE):
        text = (PACKAGE / file).read_text(encoding="utf-8")
        assert not function or re.search(rf"\b{function}\b", text), f"{file} has no {function}"


def test_whatever_keeps_a_bound_is_there():
    """`proxy.connection.READ` is a name in a file of a package; in the table it stands for a number."""
    bounds = packages.PAGE.read_text(encoding="utf-8").partition("\n## What is held")[2].partition("\n## ")[0]
    places = re.findall(r"`((?:[a-z0-9_]+\.)+)(\w+)`", bounds)
    assert len(places) > 10
    for package, name in places:
        module = import_module("chaosproxy." + package.rstrip("."))
        assert hasattr(module, name) or import_module(f"{module.__name__}.{name}"), f"{package}{name}"


def test_every_symptom_is_told_in_the_words_of_the_journal():
    fields, words = keys(a_record().as_json()), named(JOURNAL)
    faults = {path.stem for path in (PACKAGE / "faults").glob("*.py")}
    symptoms = [line.split(" | ")[0] for line in WHERE.splitlines() if line.startswith("| ")]
    for word in {word for symptom in symptoms for word in named(symptom)}:
        assert word in words or word.partition(":")[0] in faults or {*word.split(".")} <= fields | words, word


def test_every_key_every_time_and_every_reason_of_the_journal_is_on_its_page():
    page = named(JOURNAL)
    record = a_record().as_json()
    assert set(record) | set(record["times"]) <= page
    sources = [
        path.read_text(encoding="utf-8")
        for path in (PACKAGE / "chain", PACKAGE / "faults")
        for path in path.glob("*.py")
    ]
    reasons = {reason for text in sources for reason in re.findall(r"unfired = \"([a-z -]+)\"", text)}
    assert {"if", "protocol", "hint", "format"} <= reasons <= page
