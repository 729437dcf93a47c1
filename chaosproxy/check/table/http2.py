"""Endings that only HTTP/2 has, for clients that speak it. Must not know: how a client is judged."""

from chaosproxy.check.case import EITHER, SAYS_SO, WHOLE, Case, Rule, of_theme

RESET = Rule(
    "stream-reset",
    "A stream that is reset before its end is no answer, whatever the code says.",
    "Raise on RST_STREAM before END_STREAM, NO_ERROR and CANCEL too.",
)
GOAWAY = Rule(
    "goaway",
    "Streams up to the last id of a GOAWAY live on.",
    "Open no new stream on that connection, and read those that run to their end.",
)
REFUSED = Rule(
    "refused",
    "A stream that was refused was not processed: it may be asked again, or is reported.",
    "Ask again behind REFUSED_STREAM, on another connection if need be; else raise.",
)


def _cut(then: str) -> str:
    return f"faults: [{{cut: {{at: {{event: 6}}, then: {then}}}}}]"


CASES = of_theme(
    "HTTP/2",
    [
        Case(
            id="h2-reset",
            title="RST_STREAM(INTERNAL_ERROR) in mid-answer",
            rule=RESET,
            good=SAYS_SO,
            protocol="h2",
            source="Wei-Shaw/sub2api #4487, seanmonstar/reqwest #1689",
            scenario=_cut("{stream: INTERNAL_ERROR}"),
        ),
        Case(
            id="h2-no-error",
            title="RST_STREAM(NO_ERROR) in mid-answer",
            rule=RESET,
            good=SAYS_SO,
            suite="full",
            protocol="h2",
            source="envoyproxy/envoy #35812",
            scenario=_cut("{stream: NO_ERROR}"),
        ),
        Case(
            id="h2-cancel",
            title="RST_STREAM(CANCEL) in mid-answer",
            rule=RESET,
            good=SAYS_SO,
            suite="full",
            protocol="h2",
            source="haproxy/haproxy #3319",
            scenario=_cut("{stream: CANCEL}"),
        ),
        Case(
            id="h2-fin",
            title="the whole connection is closed in mid-answer",
            rule=RESET,
            good=SAYS_SO,
            suite="full",
            protocol="h2",
            source="kubernetes/kubernetes #54505",
            scenario=_cut("fin"),
        ),
        Case(
            id="h2-goaway",
            title="GOAWAY in mid-answer, and the stream runs on to its end",
            rule=GOAWAY,
            good=WHOLE,
            protocol="h2",
            source="RFC 9113, section 6.8",
            scenario=_cut("{goaway: NO_ERROR, last: current}"),
        ),
        Case(
            id="h2-goaway-dead",
            title="GOAWAY in mid-answer that the stream does not survive",
            rule=RESET,
            good=SAYS_SO,
            suite="full",
            protocol="h2",
            source="grpc/grpc #26703",
            scenario=_cut("{goaway: INTERNAL_ERROR, last: 0}"),
        ),
        Case(
            id="h2-refused-once",
            title="the first stream is refused, the next one is not",
            rule=REFUSED,
            good=EITHER,
            suite="full",
            protocol="h2",
            source="RFC 9113, section 8.7",
            scenario="nth: 1\nfaults: [{cut: {at: request, then: {stream: REFUSED_STREAM}}}]",
        ),
    ],
)
