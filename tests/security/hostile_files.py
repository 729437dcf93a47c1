"""Scenario files of somebody who means harm, or whose editor does: each class in many variants, made and not collected.

Must not know: what becomes of them.
"""

import random
from collections.abc import Iterator
from itertools import product

GOOD = """version: 1
name: pair
about: A buffer, and a balancer that is nearer the client.
rules:
  - match: {method: POST, path: /v1/*, headers: {accept: "*event-stream*"}, json: {stream: true}}
    nth: 1-2
    probability: 0.5
    hops:
      - name: nginx
        faults:
          - buffer: 4KiB
      - name: balancer
        faults:
          - timeout: {idle: 60s, then: [{status: 504}, abort]}
          - headers: {set: {x-a: "${A:-b}"}}
connections:
  - match: {side: client}
    faults:
      - settings: {max_concurrent_streams: 2}
expect:
  - first_event: {within: 500ms}
"""
VARIABLES = {
    "LONG": "x" * 100_000,
    "LINES": "a\nversion: 2\nrules: []",
    "BREAK": "a\r\nset-cookie: b",
    "NUL": "a\0b",
    "SURROGATE": "a\udcffb",
    "AGAIN": "${AGAIN}",
    "EMPTY": "",
    "YAML": "{a: [1, &x 2, *x]}",
}


def _in(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def bombs() -> Iterator[bytes]:
    """Small files that mean a great deal."""
    for wide, deep in ((9, 9), (2, 25), (100, 4), (3, 60)):
        for opening, closing in ("[]", "{}"):
            lines = [
                f"a0: &a0 {opening}{', '.join(f'k{n}: 1' if opening == '{' else 'x' for n in range(wide))}{closing}"
            ]
            for level in range(1, deep):
                members = (f"k{n}: *a{level - 1}" if opening == "{" else f"*a{level - 1}" for n in range(wide))
                lines.append(f"a{level}: &a{level} {opening}{', '.join(members)}{closing}")
            yield _in("\n".join(lines))
    for text in (
        "a: &a [*a]",
        "a: &a {b: *a}",
        "&a [[[{b: [*a]}]]]",
        "&a {*a : 1}",
        "a: &a [&b [*a, *b]]",
        "- &a [*b]\n- &b [*a]",
    ):
        yield _in(text)
    for text in ("<<: *a", "<<: [*a, *a]", "<<: {version: 2}", "match: {<<: *a}"):
        yield _in(f"x: &a {{version: 1}}\nversion: 1\n{text}\n")
    for opening, deep in product(("[", "{a: ", "- ", "? ", "[{a: ", "!!seq [", "&a ["), (65, 3_000)):
        yield _in("version: 1\nrules: " * (opening in "[{") + opening * deep)
    for piece, times in (
        ("- &a x\n", 25_000), ("---\na\n", 1_000), ("#\n", 30_000), ("\n", 30_000), ("- {}\n", 25_000), ('- "\\n"\n', 25_000),
    ):  # fmt: skip
        yield _in(piece * times)
    yield _in("\n".join(f"k{n}: {n}" for n in range(25_000)))
    yield _in("version: 1\nname: " + "a" * 1_000_000)
    yield _in("version: 1\nname: |\n" + "  a\n" * 50_000)
    yield _in('version: 1\nname: "' + "\\\n " * 50_000 + '"')
    yield _in("version: 1\n" + "a" * 1_000_000 + ": 1\n")
    yield b"version: 1\n" + b"#" * 2**20
    yield b"a" * 10_000_000


def no_text() -> Iterator[bytes]:
    """Characters that may not stand in YAML, bytes that are no UTF-8."""
    places = ("name: a{}b", 'name: "a{}b"', "# a{}b", "a{}b: 1", "rules: [a{}b]")
    controls = [chr(code) for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r\x85"]
    others = ["\ud800", "\udfff", "\ufeff", "\ufffe", "\uffff"]
    for number, character in enumerate(controls + others):
        yield _in("version: 1\n" + places[number % len(places)].format(character) + "\n")
    for codec in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-7", "cp037"):
        yield GOOD.encode(codec)
    for raw in (
        b"\xff",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
        b"\x80",
        b"\xfe\xff",
        b"caf\xe9",
    ):
        for place in (b"version: 1\nname: %b\n", b"%b", b"version: 1\n# %b"):
            yield place % raw
    yield bytes(range(256)) * 100


def no_yaml() -> Iterator[bytes]:
    """A file that is cut anywhere, or into which something has fallen; and what no parser takes."""
    for place in range(0, len(GOOD), 17):
        yield _in(GOOD[:place])
    pieces = ("\t", "[", "{", "}", "]", "*", "&", "!", "|", ">", '"', "'", "%", "@", "`", "- ", ": ", "? ", "<<: ", "#", "---\n", "...\n", "\r", "\u2028", "\x85", "${", "\ufeff", ",")  # fmt: skip
    lots = random.Random(1)
    for piece in pieces:
        for _ in range(3):
            place = lots.randrange(len(GOOD))
            yield _in(GOOD[:place] + piece + GOOD[place:])
    for text in (
        "%YAML 9.9\n---\nversion: 1", "%YAML 1.1\n%YAML 1.1\n---\nversion: 1", "%YAML 1." + "9" * 5000 + "\n---\nversion: 1",
        "%TAG ! tag:example.com,2000:\n---\nversion: !x 1", "version: !e!x 1", "%FOO", "%", "---\n---\n", "...", "--- ---",
        "version: 1\n...\nversion: 1", "version: |0\n a", "version: |99\n a", "version: >x\n a", "? ", "- - -", ": ", "&a", "*a",
        "version: & 1", "version: * 1", "version: &a &b 1", '"\\q"', '"\\x1"', '"\\UFFFFFFFF"', '"\\U00110000"', '"\\ud800"',
    ):  # fmt: skip
        yield _in(text)


def no_values() -> Iterator[bytes]:
    """YAML, and no scenario: what stands at a key is something else altogether, or far too much of it, or twice."""
    odd = (
        "9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "0o" + "7" * 5000, "1e999", "-1e999", ".inf", "-.inf", ".nan", "9007199254740993",
        "1_000", "0b1", "12:30:45", "2026-99-99", "2026-01-01T00:00:00Z", "1e-400", "0x", "+", "1.5.5", "\u0661",
    )  # fmt: skip
    for value, key in product(odd, ("seed", "probability", "version")):
        yield _in(f"version: 1\n{key}: {value}\nfaults: []\n" if key != "version" else f"version: {value}\n")
    times = ("1" * 5000 + "s", "9" * 20 + "s", "11y", "3651d", "-1s", "1.s", ".5s", "\u0661s", "1 0s", "1e3s", "1s1", "infinity", "5 000ms", "forever!", "NaNs")  # fmt: skip
    for value, form in product(times, ("latency: {}", "cut: {{at: {{time: {}}}}}", "timeout: {{idle: {}}}")):
        yield _in(f"version: 1\nfaults: [{form.format(value)}]\n")
    for value in (
        "1" * 5000,
        "-1",
        "1.5.5KiB",
        "9" * 16 + "MiB",
        "1 XiB",
        "\u0661KiB",
        "0x10",
        "1e9",
        "KiB",
        "1" * 400 + "KiB",
    ):
        yield _in(f"version: 1\nfaults: [buffer: {value}]\n")
    for tag in (
        "!!python/object/apply:os.system", "!!python/name:os.system", "!!python/module:os", "!!python/tuple", "!!binary", "!!set", "!!omap",
        "!!pairs", "!!timestamp", "!!null", "!!bool", "!!int", "!!float", "!!merge", "!!value", "!mine", "!<tag:yaml.org,2002:python/none>", "!",
    ):  # fmt: skip
        yield _in(f"version: 1\nname: {tag} x\n")
        yield _in(f"version: 1\nrules: {tag} []\n")
        yield _in(f"version: 1\nmatch: {tag} {{path: /a}}\nfaults: []\n")
    for key, value in product(("name", "rules", "hops", "faults", "connections", "expect", "match", "upstream", "mount"), ("~", "5", "[[1]]", "{a: {b: c}}", "[1, a, ~]", "true")):  # fmt: skip
        yield _in(f"version: 1\n{key}: {value}\n")
    for line in GOOD.splitlines():
        indent = len(line) - len(line.lstrip(" -"))
        yield _in(GOOD.replace(line, f"{line}\n{' ' * indent}{line.strip(' -')}", 1))
    for first, second in (
        ("seed", '"seed"'),
        ("seed", "'seed'"),
        ("seed", '"s\\x65ed"'),
        ("seed", "!!str seed"),
        ("seed", "? seed\n"),
    ):
        yield _in(f"version: 1\n{first}: 1\n{second}: 2\n")


def no_variables() -> Iterator[bytes]:
    """References to the environment that lead nowhere, or to something that is no value."""
    written = [
        "${",
        "${}",
        "${A",
        "${a-b}",
        "${A:-${B}}",
        "${A:-${A:-x}}",
        "${1}",
        "${ A }",
        "${A:-",
        "$${",
        "${A}${A}",
        "${NOT_SET}",
        "${A:=x}",
        "${!A}",
    ]
    written += [f"${{{name}}}" for name in VARIABLES]
    for value, form in product(
        written, ("name: '{}'", "seed: '{}'", "faults: [headers: {{set: {{x: '{}'}}}}]", "faults: ['{}']", "'{}': 1")
    ):
        yield _in("version: 1\n" + form.format(value) + "\n")
    yield _in("version: 1\nabout: " + "${LONG}" * 1000)
    yield _in("version: 1\nabout: " + "${A:-x}" * 140_000)
    yield _in("version: 1\nabout: " + "${A:-" * 200_000)


CLASSES = {
    "small files that mean a great deal (aliases, nesting, recursion), and large ones": bombs,
    "what is no text": no_text,
    "what is no YAML": no_yaml,
    "what is no value, or stands twice": no_values,
    "references to the environment": no_variables,
}
