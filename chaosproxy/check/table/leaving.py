"""Clients that leave: how soon the server hears of it; and connections that are kept. Must not know: how a client is judged."""

from chaosproxy.check.case import EITHER, SAYS_SO, WHOLE, Case, Rule, of_theme

LEAVES = Rule(
    "leaves",
    "Who wants no more of an answer says so on the wire, at once.",
    "Close the response (or abort the request) where the loop is left; do not leave it to the garbage collector.",
)
STALE = Rule(
    "stale",
    "A connection that was kept may have been closed meanwhile.",
    "Look whether a pooled connection has ended before it is used; open a new one where nothing was answered.",
)

CASES = of_theme(
    "leaving",
    [
        Case(
            id="interrupt",
            title="SIGINT in mid-answer, while the stream is silent",
            rule=LEAVES,
            good=SAYS_SO | WHOLE | {"truncated"},
            leaves="interrupted",
            suite="full",
            source="ggml-org/llama.cpp #11720",
            scenario="faults: [{stall: {at: {event: 6}, for: forever}}]",
            silence="2s",
        ),
        Case(
            id="leave",
            title="the client breaks out of its loop behind the third event, and lives on for two seconds",
            rule=LEAVES,
            good=frozenset({"whole"}),
            leaves="by itself",
            suite="full",
            source="bman654/clodex #170",
            scenario="rules: []",
            gap="300ms",
            silence="3s",
        ),
        Case(
            id="leave-close",
            title="the client closes the answer behind the third event, and lives on for two seconds",
            rule=LEAVES,
            good=frozenset({"whole"}),
            leaves="by itself",
            suite="full",
            source="bman654/clodex #170",
            scenario="rules: []",
            gap="300ms",
            silence="3s",
        ),
        Case(
            id="kept-then-closed",
            title="503 over a connection that is said to be kept, and is closed at once; then all is well",
            rule=STALE,
            good=EITHER,
            like="503-once",
            suite="full",
            source="aio-libs/aiohttp #7297, opencollective/opencollective-api PR #12160",
            scenario=(
                "rules:\n"
                "  - nth: 1\n"
                "    faults: [{respond: {status: 503, headers: {content-type: application/json}, body: "
                """'{"error": {"message": "overloaded", "type": "server_error"}}'}}]\n"""
                "connections: [{match: {side: client}, faults: [{keepalive: 0s}]}]"
            ),
            silence="3s",
        ),
    ],
)
