"""Errors inside a 200, in the shapes in which they come, and events that cannot be read.

Must not know: how a client is judged.
"""

from chaosproxy.check.case import CHAT, EITHER, EVENT_STREAMS, SAYS_SO, Case, Rule, of_theme

IN_STREAM = Rule(
    "error-in-stream",
    "An error inside the stream is an error, though the status was 200.",
    "Look at each event for an error (event: error, or a member `error`), and raise with its message.",
)
UNREADABLE = Rule(
    "unreadable",
    "An event that cannot be read is no silence: the answer lacks it.",
    "Raise where an event cannot be parsed, or report the answer as incomplete.",
)

CASES = of_theme(
    "errors",
    [
        Case(
            id="error-event",
            title="an error in mid-answer, in the shape of the interface, then a clean end",
            rule=IN_STREAM,
            good=SAYS_SO,
            source="openai/openai-python #1160, anthropics/anthropic-sdk-python #688, coasys/ad4m PR #1001",
            scenario="faults: [{error_event: {at: {event: 6}}}]",
        ),
        Case(
            id="error-named",
            title="an event called error with its message at the top, then a clean end",
            rule=IN_STREAM,
            good=SAYS_SO,
            kinds=frozenset({"chat", "completions", "responses"}),
            source="openai/openai-python #2487, PR #3038",
            scenario="faults: [{error_event: {at: {event: 6}, format: openai_flat}}]",
        ),
        Case(
            id="error-unnamed",
            title="an error in mid-answer without the event's name, then a clean end",
            rule=IN_STREAM,
            good=SAYS_SO,
            suite="full",
            kinds=frozenset({"messages", "responses"}),
            source="anthropics/anthropic-sdk-python #1918",
            scenario=(
                "faults: [{cut: {at: {event: 6}, then: clean}}, {inject: {at: end, event: "
                "{data: {type: error, error: {type: overloaded_error, message: Overloaded}, message: Overloaded}}}}]"
            ),
        ),
        Case(
            id="error-then-fin",
            title="an error in mid-answer, then the connection is closed",
            rule=IN_STREAM,
            good=SAYS_SO,
            suite="full",
            source="mozilla-ai/any-llm PR #847",
            scenario="faults: [{error_event: {at: {event: 6}, then: fin}}]",
        ),
        Case(
            id="error-first",
            title="the error is the only event of the answer",
            rule=IN_STREAM,
            good=SAYS_SO,
            suite="full",
            source="anthropics/anthropic-sdk-python #1918, vercel/ai #2453",
            scenario="faults: [{error_event: {at: body}}]",
        ),
        Case(
            id="error-first-once",
            title="the error is the only event of the first answer, the next one is whole",
            rule=IN_STREAM,
            good=EITHER,
            suite="full",
            source="anthropics/anthropic-sdk-python #1918, Alcova-AI/adk-anthropic-go PR #32",
            scenario="nth: 1\nfaults: [{error_event: {at: body}}]",
        ),
        Case(
            id="error-without-choices",
            title="a single event has an error as text, and no choices",
            rule=IN_STREAM,
            good=SAYS_SO,
            suite="full",
            kinds=CHAT,
            source="huggingface/huggingface_hub #1651, ggml-org/llama.cpp #14566",
            scenario=(
                "faults: [{replace_body: {events: {data: "
                '{error: "Input validation error: `max_new_tokens` must be positive", error_type: validation}}}}]'
            ),
        ),
        Case(
            id="bad-json",
            title="between good events stands one that is no JSON",
            rule=UNREADABLE,
            good=EITHER,
            kinds=EVENT_STREAMS - {"sse"},
            source="diegosouzapw/OmniRoute #7031",
            scenario="""faults: [{inject: {event: '{"id": "broken', at: {event: 6}}}]""",
        ),
        Case(
            id="broken-event",
            title="the sixth event arrives broken: its token is lost",
            rule=UNREADABLE,
            good=SAYS_SO,
            suite="full",
            kinds=EVENT_STREAMS - {"sse"},
            source="0xPlaygrounds/rig #1758",
            scenario="""faults: [{mutate: {bytes: "data: {\\"id\\": \\"brok\\n\\n", at: {event: 6}}}]""",
        ),
        Case(
            id="broken-line",
            title="the sixth line arrives broken: its token is lost",
            rule=UNREADABLE,
            good=SAYS_SO,
            suite="full",
            kinds=frozenset({"ollama"}),
            source="0xPlaygrounds/rig #1758",
            scenario="""faults: [{mutate: {bytes: "{\\"model\\": \\"brok\\n", at: {event: 6}}}]""",
        ),
    ],
)
