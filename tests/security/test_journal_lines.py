"""A journal's lines are JSON to everybody: Python, JavaScript, jq; whatever a peer has sent."""

import json
import math
import re
import subprocess

import pytest

from chaosproxy.journal.jsonl import as_line, line
from chaosproxy.journal.reader import record_of
from tests.interop.conftest import find
from tests.report.examples import cut, examples, left
from tests.report.test_hostile import HOSTILE, filled
from tests.security.payloads import PAYLOADS

LATIN = "".join(map(chr, range(256)))
"""What bytes of a peer become."""
TEXTS = tuple(text[:500] for text in HOSTILE if not any("\ud800" <= one <= "\udfff" for one in text))
"""Those that a peer, or a scenario, can make: no half of a pair is among them."""
NODE = """
const lines = require("fs").readFileSync(0, "utf8").split("\\n").slice(0, -1);
for (const one of lines.map((line) => JSON.parse(line))) console.log(one.id, one.request.path.length, one.times.end);
"""


def facts(number):
    return "null" if number is None else f"{number:g}"


def test_every_reader_reads_every_line(shown):
    records = [*examples(), *(filled(cut(), text) for text in (*TEXTS, *PAYLOADS, LATIN))]
    records += [filled(left(), text) for text in (*TEXTS, LATIN)]
    written = [line(record) for record in records]
    text = "".join(f"{one}\n" for one in written)
    assert text.isascii()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    for record, one in zip(records, written, strict=True):
        assert json.loads(one, parse_constant=pytest.fail) == record.as_json()
        assert line(record_of(one.encode())) == one

    def read_by(*command):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=60)
        return [tuple(row.split()) for row in done.stdout.splitlines()]

    paths = [len(record.request.path.encode("utf-16", "surrogatepass")) // 2 - 1 for record in records]
    ids = [str(record.id) for record in records]
    by_node = read_by(find("node"), "-e", NODE)
    assert [(one, int(length)) for one, length, _ in by_node] == list(zip(ids, paths, strict=True))
    assert [one for (one,) in read_by(find("jq"), "-c", ".id")] == ids
    shown(
        "secrets",
        "lines of a journal with hostile text, read by Python, Node.js and jq",
        tried=len(records),
        must="JSON in ASCII, one object a line",
        happens="read by all",
    )


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_line({"seconds": number})


def test_no_order_in_a_line_is_one():
    for order in ("##[error]x", "##vso[task.setvariable variable=a]b", "###[group]", "####"):
        said = as_line({"a": order})
        assert "##" not in said
        assert json.loads(said) == {"a": order}
