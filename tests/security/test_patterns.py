"""Nobody's text keeps the loop busy: no pattern of ours takes the square of a text's length, no pattern of a user's
reaches an engine that could, and a record that grows is not searched anew with each piece.

Time is the processor's, of this thread, and asked for only as a ratio: four times the text.
"""

import ast
import importlib
import pkgutil
import re
from pathlib import Path
from random import Random

import pytest

import chaosproxy
from chaosproxy.chain.sought import Sought
from chaosproxy.chain.trigger import Trigger
from chaosproxy.diagnose import makers
from chaosproxy.faults.mutating import replacing
from chaosproxy.model.globs import glob
from chaosproxy.model.messages import End
from chaosproxy.scenario.load import examine
from chaosproxy.testing.play import SSE
from tests.faults.test_cost import MODES, Sliced, cost
from tests.security.pumping import growth, run, seconds, subjects

SMALL, LARGE = 2 * 1024, 8 * 1024
LINEAR = 9.0
"""Four times the text: 4 is linear, 16 the square."""
MADE_LATE = {
    "diagnose/makers.py": "a table of our own, tried below",
    "model/mask.py": "words of our own, tried below",
    "model/globs.py": "a user's glob: pieces of text, escaped, and atomic groups; tried below",
}
"""Where a pattern is made of something else than a literal, and why that may be."""
OF_NOBODY = {"chaosproxy.demo.picture._FONTS": "the style of a picture, as rich writes it"}
"""On a text that no peer has a part in."""
REMEMBERS = "[ab]*a[ab]{900}c"
EVIL = [
    "(a+)+$", "(a|aa)+$", "(a|a?)+b", ".*.*.*=.*", "(.*)*x", "(a*)*b", "([a-z]+)*\\d", "(\\w+\\s?)*:", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y",
    "a?" * 50 + "a" * 50, "(?:a{1,100}){1,9}b", "[ab]*a[ab]{200}$", "(?i)(\\S+\\s*=\\s*)+;", ".*" * 40 + "z", REMEMBERS,
]  # fmt: skip


def sources():
    root = Path(chaosproxy.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    using = [path for path, text in texts.items() if re.search(r"^\s*(import|from) (re|fnmatch)\b", text, re.MULTILINE)]
    return {str(path.relative_to(root)): ast.parse(texts[path]) for path in using}


def test_no_pattern_of_a_user_reaches_an_engine_that_goes_back():
    late = set()
    for name, tree in sources().items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=[first, *_]) if not literal(first):
                    late.add(name)
                case ast.ImportFrom(module="re" | "fnmatch", names=names):
                    assert (name, [one.name for one in names]) == ("check/choosing.py", ["fnmatchcase"])
                case _:
                    pass
    assert late == set(MADE_LATE)


def literal(node) -> bool:
    return isinstance(node, ast.Constant)


def ours():
    """Every pattern that a module or a class of ours holds, with the ways in which its file uses it."""
    found = {}
    for info in pkgutil.walk_packages(chaosproxy.__path__, "chaosproxy."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        text = Path(module.__file__).read_text(encoding="utf-8")
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                ways = set(re.findall(rf"\b{name}\.(\w+)\(", text)) & {
                    "match",
                    "fullmatch",
                    "search",
                    "finditer",
                    "findall",
                    "sub",
                    "split",
                }
                if ways and f"{info.name}.{name}" not in OF_NOBODY:
                    found[f"{info.name}.{name}"] = value, ways
    for field, pattern, maker in makers._SIGNS:
        found[f"{field}: {maker}: {pattern}"] = re.compile(pattern, re.IGNORECASE), {"search"}
    return found


def test_our_own_patterns_take_time_as_a_text_is_long(shown):
    tried, slowest, patterns = 0, 0.0, ours()
    assert len(patterns) > 30
    for name, (pattern, ways) in patterns.items():
        for way in ways:
            # The square shows by itself: of so little text some ten milliseconds, and what is linear a hundredth.
            for number, text in enumerate(subjects(pattern, SMALL)):
                tried += 1
                took = seconds(lambda text=text, way=way, pattern=pattern: run(pattern, way, text))
                slowest = max(slowest, took)
                if took < 0.004:
                    continue

                def again(size, number=number, way=way, pattern=pattern):
                    run(pattern, way, [*subjects(pattern, size)][number])

                assert growth(again, (SMALL, LARGE)) < LINEAR, f"{name} {way}: {text[:40]!r}"
    shown(
        "files",
        "our own patterns on the worst texts that can be made of them",
        tried=len(patterns) // 20 * 20,  # at least so many: one more is no news
        must="time grows as the text does",
        happens="no pattern takes the square",
        figure=f"{tried:,} texts; the slowest of {SMALL // 1024} KiB {1000 * slowest:.1f} ms",
    )


def random_body(size: int) -> bytes:
    """Of it a pattern that has to remember which of the last characters were what has ever another state."""
    return b"data: " + bytes(Random(31).choices(b"ab", k=size)) + b"\n\n"


def evil_body(size: int) -> bytes:
    return b"data: " + b"a" * (size // 2) + b"ab=" * (size // 6) + b"!\n\n"


def test_a_user_s_patterns_take_time_as_a_record_is_long(shown):
    sizes = 16 * 1024, 64 * 1024
    worst = 0.0
    for pattern in EVIL:

        def sought(size, pattern=pattern):
            Sought(Trigger(match=pattern), "sse").means(evil_body(size))

        def replaced(size, pattern=pattern):
            replacing([(pattern, b"x")], "sse")(evil_body(size))

        for act in (sought, replaced):
            assert growth(act, sizes, enough=0.05) < LINEAR, pattern
        worst = max(worst, seconds(lambda: sought(2**18)))
    hardest = Sought(Trigger(match=REMEMBERS), "sse")
    worst = max(worst, seconds(lambda: hardest.means(random_body(2**18))))
    shown(
        "files",
        "a scenario's regular expressions that other engines never finish",
        tried=len(EVIL),
        must="time grows as the record does",
        happens="linear",
        figure=f"the slowest takes {1000 * worst:.0f} ms of a record of 256 KiB",
    )


def test_a_pattern_says_nothing_while_it_searches(capfd):
    """RE2 would, to descriptor 2 itself, where a pipe that nobody reads holds everybody up."""
    Sought(Trigger(match=REMEMBERS), "sse").means(random_body(2**14))
    replacing([(REMEMBERS, b"x")], "sse")(random_body(2**14))
    assert capfd.readouterr() == ("", "")


GLOBS = [
    "*a" * 20 + "b",
    "*a*b" * 20 + "c",
    "*" + "a" * 50 + "b",
    "*a?b*",
    "*?" * 20 + "b",
    "*" * 200 + "b",
    "a*" * 30 + "?b",
    "*error*",
]


def test_globs_take_time_as_a_text_is_long(shown):
    worst = 0.0
    for pattern in GLOBS:
        for text in ("a", "ab", "aab", "erro"):

            def act(size, pattern=pattern, text=text):
                glob(pattern, text * (size // len(text)) + "\n")

            assert growth(act, (16 * 1024, 64 * 1024)) < LINEAR, (pattern, text)
            worst = max(worst, seconds(lambda act=act: act(2**18)))
    shown(
        "files",
        "globs that would go back and forth",
        tried=4 * len(GLOBS),
        must="time grows as the text does",
        happens="linear",
        figure=f"the slowest takes {1000 * worst:.0f} ms of 256 KiB",
    )


PIECE = b"data: " + b"a" * 57 + b"\n"


def one_event(count: int) -> list:
    """An event that comes line by line, and its end."""
    pieces = [(0.1 + 0.001 * at, Sliced(PIECE)) for at in range(count)]
    return [(0.0, SSE), *pieces, (0.2 + 0.001 * count, Sliced(b"\n")), (0.3 + 0.001 * count, End())]


def test_a_record_that_grows_is_not_searched_anew(shown):
    # The other places do not look into a record.
    modes = [spec for spec in MODES if spec.at is None or spec.at.match or spec.at.json or spec.at.terminal]
    for spec in modes:
        few, many = (cost([spec], one_event(count)) for count in (8, 32))
        assert many.calls <= 6 * few.calls, f"{spec}: {few}, {many}"
        assert many.moved <= 6 * few.moved, f"{spec}: {few}, {many}"
    shown(
        "files",
        "one event that comes in ever more pieces, through each fault at each place",
        tried=len(modes),
        must="four times the pieces cost four times as much",
        happens="at most six times the calls, and the bytes moved",
    )


@pytest.mark.parametrize("text", ["", " ", "a", "a b", " a  b ", "\ta\nb\n\n"])
def test_the_origin_s_tokens_are_what_they_were(text):
    from chaosproxy.origin.words import Words  # noqa: PLC0415 - this test alone is about it

    assert "".join(Words.of(text).once) == text
    assert Words.of(text).once == (tuple(re.findall(r"\s*\S+(?:\s+\Z)?", text)) or (text,))


@pytest.mark.parametrize("pattern", ["[ab]{0,1000}c", "(?:a?b?){0,900}c", "a{500}b{500}"])
def test_a_pattern_that_repeats_too_much_is_refused(pattern):
    for fault in (f"cut: {{at: {{match: '{pattern}'}}}}", f"mutate: {{replace: {{'{pattern}': x}}}}"):
        scenario, (problem,) = examine(f"version: 1\nfaults:\n  - {fault}\n")
        assert scenario is None
        assert "more than 1000 instructions" in problem.message
        assert problem.line == 3
