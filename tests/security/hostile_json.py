"""Texts that a peer sends where JSON is expected.

Must not know: who reads them.
"""

DEEP = 1_000_000


def nested(depth: int, inner: bytes = b"1") -> bytes:
    """An object that holds an object, and so on."""
    return b'{"a":' * depth + inner + b"}" * depth


HOSTILE = {
    "nothing": b"",
    "blanks": b" \n\t",
    "a list, too deep": b"[" * DEEP,
    "a list, too deep, closed": b"[" * (DEEP // 2) + b"]" * (DEEP // 2),
    "an object, too deep": b'{"a":' * (DEEP // 5),
    "too deep beside what is asked for": b'{"stream":true,"usage":{},"choices":'
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}",
    **{
        f"{depth} deep": b'{"stream":true,"running":1,"text":"a","b":%b}' % nested(depth)
        for depth in range(790, 1001, 30)
    },
    "5,000 digits": b'{"stream":true,"running":' + b"9" * 5000 + b"}",
    "4,000 digits": b'{"stream":true,"running":'
    + b"9" * 4000
    + b',"max_tokens":'
    + b"9" * 4000
    + b',"id":'
    + b"9" * 4000
    + b"}",
    "a million digits": b"9" * 1_000_000,
    "beyond any float": b'{"stream":true,"running":1e999,"max_tokens":1e999}',
    "NaN": b'{"stream":true,"running":NaN,"max_tokens":NaN}',
    "-Infinity": b'{"stream":true,"running":-Infinity}',
    "UTF-16": '{"stream":true,"running":1}'.encode("utf-16"),
    "UTF-16, big": '{"stream":true,"running":1}'.encode("utf-16-be"),
    "UTF-32": '{"stream":true,"running":1}'.encode("utf-32"),
    "a byte order mark": b'\xef\xbb\xbf{"stream":true}',
    "half a surrogate": b'{"stream":true,"model":"\\ud800","text":"\\udfff","outcome":"\\ud800"}',
    "half a surrogate in a name": b'{"stream":true,"\\ud800":1}',
    "half a surrogate in bytes": b'{"stream":true,"model":"\xed\xa0\x80"}',
    "no UTF-8": b'{"stream":true,"model":"\xff\xc0\xaf"}',
    "a name twice": b'{"stream":false,"stream":true,"model":"a","model":"b"}',
    "a name ten thousand times": b"{" + b'"stream":true,' * 10_000 + b'"stream":true}',
    "ten thousand names": b"{" + b",".join(b'"%d":%d' % (n, n) for n in range(10_000)) + b"}",
    "a long string, open": b'{"stream":true,"model":"' + b"a" * 900_000,
    "backslashes": b'{"model":"' + b"\\" * 900_001 + b'"}',
    "escapes": b'{"model":"' + b"\\u0000" * 100_000 + b'"}',
    "a wrong escape": b'{"model":"\\x41"}',
    "controls in a string": b'{"model":"a\x00\x1b[2J\nb"}',
    "single quotes": b"{'stream': true}",
    "a comma too many": b'{"stream":true,}',
    "something behind it": b'{"stream":true}{"stream":true}',
    "broken off": b'{"stream":tr',
    "a lone string": b'"stream"',
    "a lone number": b"1e400",
    "null": b"null",
    "true": b"true",
    "lists for objects": b'{"stream":[],"messages":[[[]]],"choices":[[]],"delta":[],"error":[[]],"finish":[[]],"outcome":[]}',
    "objects for lists": b'{"stream":{},"messages":{},"choices":{},"usage":[],"response":[],"message":[],"text":{}}',
    "null for all": b'{"stream":null,"messages":null,"choices":null,"usage":null,"model":null,"text":null,"error":null}',
    "empty names": b'{"":{"":{"":1}}}',
    "longer than is looked at": b'{"stream":true,"a":"' + b"a" * 1_100_000 + b'"}',
}
NOT_JSON = {
    name
    for name in HOSTILE
    if name not in {
        "beyond any float", "ten thousand names", "escapes", "a lone string", "a lone number", "null", "true", "lists for objects",
        "objects for lists", "null for all", "empty names", "4,000 digits",
    } and not name.endswith(" deep")
}  # fmt: skip
"""What is no JSON, or none that everybody reads alike."""
