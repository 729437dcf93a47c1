"""What has broken something once breaks nothing any more."""

from collections import Counter

from tests.fuzz.targets import crashers, target


def test_each_crasher(shown):
    tried = Counter()
    for file, (name, content) in crashers().items():
        try:
            target(name).run(content)
        except Exception as error:
            raise AssertionError(f"tests/regress/{file}") from error
        tried[name] += 1
    shown(
        "fuzzing",
        "what has broken something once",
        tried=tried.total(),
        must="breaks nothing any more",
        happens="that, each time",
    )
