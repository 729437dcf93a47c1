"""What a head says of the body behind it, as far as a line needs to know: where records end, or that nobody can tell.

Must not know: what is done at a record.
"""

from chaosproxy.chain.line import Line
from chaosproxy.framing.choose import kind_of, splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.headers import Headers, first


def prepare(line: Line, headers: Headers, kind: RecordKind | None) -> None:
    """Before the head is pushed. `kind` forces the records, as `records:` does; else the content type decides. A coded
    body has none that could be read."""
    coding = first(headers, b"content-encoding")
    if coding is not None and coding.lower() not in (b"", b"identity"):
        line.coded = True
        return
    line.kind = kind or kind_of(first(headers, b"content-type"))
    if line.kind is not None:
        line.records = splitter_for(line.kind)
