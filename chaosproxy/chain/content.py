"""What a head says of the body behind it, as far as a line needs to know: where records end, or that nobody can tell.

Must not know: what is done at a record.
"""

from chaosproxy.chain.line import Line
from chaosproxy.framing.choose import kind_of, splitter_for
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.headers import Headers, first, tokens

_CODING = b"content-encoding"


def is_coded(headers: Headers) -> bool:
    """Whether the body is content-coded (RFC 9110 section 8.4): its bytes are not those of its records."""
    return first(headers, _CODING) is not None and not {b"identity"}.issuperset(tokens(headers, _CODING))


def prepare(line: Line, headers: Headers, kind: RecordKind | None) -> None:
    """Before the head is pushed. `kind` forces the records, as `records:` does; else the content type decides. A coded
    body has none that could be read."""
    if is_coded(headers):
        line.coded = True
        return
    line.kind = kind or kind_of(first(headers, b"content-type"))
    if line.kind is not None:
        line.records = splitter_for(line.kind)
