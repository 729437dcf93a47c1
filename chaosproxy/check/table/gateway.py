"""What a gateway between a client and a server owes both. Must not know: how a gateway is asked."""

from dataclasses import replace

from chaosproxy.check.case import SAYS_SO, WHOLE, Case, Rule, of_theme

STREAMS = Rule(
    "gateway-streams",
    "A gateway hands each event on when it comes.",
    "Switch its buffering, and its compression, off for event streams.",
)
BREAKS = Rule(
    "gateway-breaks",
    "An answer that broke off behind a gateway breaks off in front of it too.",
    "Where the server's answer ends short of its framing, end yours so too, or say the error in the stream.",
)
KEEPS = Rule(
    "gateway-errors",
    "An error inside the stream is handed on.",
    "Pass on events that are not understood as they are.",
)
STATUS = Rule(
    "gateway-status",
    "The status is sent when the server's is known, and says the same.",
    "Wait for the server's head before yours is sent; pass on 4xx and 5xx with Retry-After.",
)
ABORTS = Rule(
    "gateway-aborts",
    "A client that leaves is gone for the server too, at once.",
    "Watch the client's connection while the server answers, and close the server's when it ends.",
)
PAID = Rule(
    "gateway-paid",
    "A request that was answered in part is not sent again behind the client's back.",
    "Retry before the first event only.",
)

CASES = tuple(
    replace(case, gap="60ms")
    for case in of_theme(
        "gateway",
        [
            Case(
                id="gateway-streams",
                title="nothing is wrong",
                rule=STREAMS,
                good=WHOLE,
                source="Kong/kong #12680",
                scenario="rules: []",
            ),
            Case(
                id="gateway-fin",
                title="the server's connection is closed in mid-answer",
                rule=BREAKS,
                good=SAYS_SO,
                source="gpustack/gpustack #5939, envoyproxy/envoy #17186",
                scenario="faults: [{cut: {at: {event: 6}, then: fin}}]",
            ),
            Case(
                id="gateway-reset",
                title="the server's connection is reset in mid-answer",
                rule=BREAKS,
                good=SAYS_SO,
                source="fastly/js-compute-runtime PR #325",
                scenario="faults: [{cut: {at: {event: 6}, then: rst}}]",
            ),
            Case(
                id="gateway-error-event",
                title="the server says an error in mid-answer, then a clean end",
                rule=KEEPS,
                good=frozenset({"flagged"}),
                source="BerriAI/litellm PR #1750",
                scenario="faults: [{error_event: {at: {event: 6}}}]",
            ),
            Case(
                id="gateway-429",
                title="the server refuses with 429 and Retry-After",
                rule=STATUS,
                good=frozenset({"raised"}),
                source="BerriAI/litellm #6957, PR #26067",
                scenario=(
                    'faults: [{respond: {status: 429, retry_after: "7", headers: {content-type: application/json}, '
                    """body: '{"error": {"message": "Rate limit reached", "type": "requests"}}'}}]"""
                ),
            ),
            Case(
                id="gateway-abort",
                title="the client leaves behind the third event",
                rule=ABORTS,
                good=WHOLE,
                leaves="by itself",
                source="ggml-org/llama.cpp #11720, BerriAI/litellm #27955",
                scenario="rules: []",
            ),
            Case(
                id="gateway-again",
                title="the first answer is reset in the middle, another one would be whole",
                rule=PAID,
                good=SAYS_SO,
                attempts=1,
                source="rancher/rancher #35424",
                scenario="nth: 1\nfaults: [{cut: {at: {event: 6}, then: rst}}]",
            ),
        ],
    )
)
