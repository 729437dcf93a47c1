"""Bytes that the standards allow, and that readers break on all the same. Must not know: how a client is judged."""

from chaosproxy.check.case import CHAT, EVENT_STREAMS, TEXT, WHOLE, Case, Rule, of_theme

READS = Rule(
    "reads",
    "A read ends anywhere: inside a character, a line, an event; several events may lie in one.",
    "Keep what has not ended until the next read; decode UTF-8 piece by piece (codecs, TextDecoder with stream).",
)
LINES = Rule(
    "line-ends",
    "A line ends in LF, CRLF or CR, and in nothing else.",
    "Split at these three yourself, or use a parser of event streams; no splitlines(), no double-newline search.",
)
SEPARATORS = Rule(
    "separators",
    "U+2028, U+2029 and U+0085 are characters of a text, no line ends.",
    "Split bytes at CR and LF before they are decoded; no splitlines() or iter_lines() on text.",
)
UTF8 = Rule(
    "utf-8",
    "An event stream is UTF-8, whatever its head says or leaves out.",
    "Decode as UTF-8 always, not by a library's default for text.",
)
BOM = Rule("bom", "One byte order mark may stand in front.", "Strip one U+FEFF from the beginning.")
COMMENTS = Rule(
    "comments",
    "A line that begins with a colon means nothing, wherever it stands.",
    "Skip comments before anything is parsed.",
)
EMPTY = Rule(
    "empty-lines",
    "Empty lines between records mean nothing.",
    "Skip them: an event without data is none, an empty line is no JSON.",
)
FIELDS = Rule(
    "fields",
    "Behind the colon of a field one space is optional; fields that are not known are skipped.",
    "Split at the first colon, take one space away if there is one.",
)
CHUNKS = Rule(
    "chunk-syntax",
    "Chunk sizes may have zeros in front and extensions behind; trailers may follow.",
    "Leave HTTP to a library that passes this case.",
)
CHOICES = Rule(
    "no-choices",
    "A chunk may have no choices: a filter's verdict, the usage.",
    "Go through the choices, of which there may be none.",
)
SIZE = Rule(
    "size",
    "A line may be longer than a reader's buffer.",
    "Raise the limit of the line reader, or read pieces and split them yourself.",
)
EMPTY_DATA = Rule(
    "empty-data",
    "An event may have empty data: it primes a client, and says nothing.",
    "Skip events whose data is empty before they are parsed.",
)
PINGS = Rule("pings", "An event of a type that is not known is skipped.", "Ignore types that you do not know.")

SEPARATED = TEXT.replace("cross the", "cross\u2028the").replace("falls,", "fa\u0085lls,")
CHECKED = TEXT.replace("wire:", "wire\u2705:")
SHORT = "Four naïve 雨 words."
LONG = TEXT.replace("wire:", "wi" + "r" * 1_000_000 + "e:")

CASES = of_theme(
    "legal bytes",
    [
        Case(
            id="split-characters",
            title="each character of several bytes comes in two reads",
            rule=READS,
            good=WHOLE,
            source="mpetazzoni/sseclient #8, zeroclaw-labs/zeroclaw PR #3723",
            scenario="faults: [{resegment: {split: utf8, pause: 5ms}}]",
        ),
        Case(
            id="byte-by-byte",
            title="each byte comes by itself",
            rule=READS,
            good=WHOLE,
            source="0xPlaygrounds/rig #1758",
            scenario="faults: [{resegment: {bytes: 1, pause: 200us}}]",
            text=SHORT,
        ),
        Case(
            id="many-at-once",
            title="five records come in one read",
            rule=READS,
            good=WHOLE,
            source="sourcegraph/cody PR #3481, ollama/ollama #1728",
            scenario="faults: [{resegment: {glue: 5}}]",
        ),
        Case(
            id="halves",
            title="each event comes in two reads",
            rule=READS,
            good=WHOLE,
            suite="full",
            source="higress-group/higress #4616",
            scenario="faults: [{resegment: {split: event}}]",
        ),
        Case(
            id="random-reads",
            title="reads of one to seven bytes",
            rule=READS,
            good=WHOLE,
            suite="full",
            source="doctolib/neurow PR #60",
            scenario="seed: 1\nfaults: [{resegment: {split: random, bytes: 7, pause: 500us}}]",
            text=SHORT,
        ),
        Case(
            id="crlf",
            title="lines end in CRLF",
            rule=LINES,
            good=WHOLE,
            source="openai/openai-node PR #2309",
            scenario="faults: [{line_endings: crlf}]",
        ),
        Case(
            id="crlf-split",
            title="lines end in CRLF, and CR and LF come in two reads",
            rule=LINES,
            good=WHOLE,
            suite="full",
            source="EventSource/eventsource #326",
            scenario="faults: [{line_endings: crlf}, {resegment: {split: crlf, pause: 5ms}}]",
        ),
        Case(
            id="cr",
            title="lines end in CR alone",
            rule=LINES,
            good=WHOLE,
            kinds=EVENT_STREAMS,
            source="Soju06/codex-lb PR #1011, inaka/shotgun #114",
            scenario="faults: [{line_endings: cr}]",
        ),
        Case(
            id="mixed-line-ends",
            title="lines end in LF, CRLF and CR by turns",
            rule=LINES,
            good=WHOLE,
            suite="full",
            kinds=EVENT_STREAMS,
            source="openai/openai-node PR #2309, EventSource/eventsource #326",
            scenario="faults: [{line_endings: mixed}]",
        ),
        Case(
            id="separators",
            title="U+2028 and U+0085 stand in the text",
            rule=SEPARATORS,
            good=WHOLE,
            source="openai/openai-python #1230, florimondmanca/httpx-sse #34",
            scenario="rules: []",
            text=SEPARATED,
        ),
        Case(
            id="no-charset",
            title="the type names no charset, and a character has the byte 0x85",
            rule=UTF8,
            good=WHOLE,
            suite="full",
            kinds=EVENT_STREAMS,
            source="open-metadata/OpenMetadata #29531",
            scenario="rules: []",
            text=CHECKED,
        ),
        Case(
            id="byte-order-mark",
            title="a byte order mark stands in front",
            rule=BOM,
            good=WHOLE,
            kinds=EVENT_STREAMS,
            source="Soju06/codex-lb PR #1854, oven-sh/bun PR #29960",
            scenario='faults: [{inject: {bytes: {hex: "ef bb bf"}, at: body}}]',
        ),
        Case(
            id="comments",
            title="comments in front of, inside and between events, and around the last word",
            rule=COMMENTS,
            good=WHOLE,
            kinds=EVENT_STREAMS,
            source="mnfst/llm-gateway #2053, Lambdua/openai4j #90",
            scenario=(
                "faults:\n"
                "  - inject: {comment: PROCESSING, at: body}\n"
                '  - inject: {bytes: ": PROCESSING\\n", at: {event: 1}}\n'
                "  - inject: {comment: PROCESSING, at: {event: 6}}\n"
                "  - inject: {comment: PROCESSING, at: {terminal: before}}\n"
                "  - inject: {comment: PROCESSING, at: {terminal: after}}"
            ),
        ),
        Case(
            id="empty-lines",
            title="empty lines stand between the records",
            rule=EMPTY,
            good=WHOLE,
            suite="full",
            source="mnfst/llm-gateway #2053",
            scenario='faults: [{inject: {bytes: "\\n\\n", at: {event: 2, every: 3}}}]',
        ),
        Case(
            id="no-space",
            title="no space behind the colon of `data:`",
            rule=FIELDS,
            good=WHOLE,
            kinds=EVENT_STREAMS,
            source="openai/openai-python #498, PR #559",
            scenario='faults: [{mutate: {replace: {"(?m)^data: ": "data:"}}}]',
        ),
        Case(
            id="unknown-fields",
            title="events have an id, a retry time and a field that nobody knows",
            rule=FIELDS,
            good=WHOLE,
            suite="full",
            kinds=EVENT_STREAMS - {"sse"},
            source="WHATWG HTML, section 9.2.6",
            scenario='faults: [{inject: {bytes: "id: 7\\nretry: 1000\\nweather: fair\\n", at: {event: 1, every: 4}}}]',
        ),
        Case(
            id="priming-event",
            title="the first event has an id and empty data",
            rule=EMPTY_DATA,
            good=WHOLE,
            suite="full",
            kinds=EVENT_STREAMS,
            source="modelcontextprotocol/python-sdk #514",
            scenario='faults: [{inject: {event: {id: "0", retry: 2000, data: ""}, at: body}}]',
        ),
        Case(
            id="ping-events",
            title="ping events stand between the others",
            rule=PINGS,
            good=WHOLE,
            suite="full",
            kinds=frozenset({"messages"}),
            source="docs.anthropic.com, streaming messages",
            scenario="faults: [{inject: {event: {event: ping, data: {type: ping}}, at: {event: 4, every: 3}}}]",
        ),
        Case(
            id="empty-choices",
            title="chunks without choices: a filter's verdict in front, the usage at the end",
            rule=CHOICES,
            good=WHOLE,
            kinds=CHAT,
            source="BerriAI/litellm #8450, Portkey-AI/gateway #1627",
            scenario=(
                "faults:\n"
                "  - inject: {json: {choices: [], prompt_filter_results: [{prompt_index: 0}]}, at: body}\n"
                "  - inject:\n"
                "      json: {choices: [], usage: {prompt_tokens: 5, completion_tokens: 12, total_tokens: 17}}\n"
                "      at: {terminal: before}"
            ),
        ),
        Case(
            id="huge-event",
            title="one token of a million characters",
            rule=SIZE,
            good=WHOLE,
            suite="full",
            source="aio-libs/aiohttp #4453, SamSaffron/term-llm PR #347",
            scenario="rules: []",
            text=LONG,
        ),
        Case(
            id="chunk-syntax",
            title="chunk sizes with zeros in front and extensions behind, and a trailer",
            rule=CHUNKS,
            good=WHOLE,
            suite="full",
            protocol="http/1.1",
            source="python-hyper/h11 #133, nodejs/undici #2678",
            scenario='faults: [{chunk_syntax: {zeros: 4, extension: "a=b", trailers: {x-checksum: "0"}}}]',
        ),
    ],
)
