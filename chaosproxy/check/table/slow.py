"""The client's own defaults: what it does when nobody has told it a timeout. Minutes, all at once.

Must not know: how a client is judged.
"""

from chaosproxy.check.case import EITHER, EVENT_STREAMS, SAYS_SO, WHOLE, Case, Rule, of_theme

DEFAULTS = Rule(
    "defaults",
    "Without being told, a client gives up a dead server within ten minutes.",
    "Set the timeouts yourself: for the head, between reads, and for text; `chaosproxy check timeouts` finds those there are.",
)
STEADY = Rule(
    "long-streams",
    "A long stream that is well is not given up, however long.",
    "Switch off the limit of the total, or set it longer than any answer.",
)
_LIMIT = "10m"

CASES = of_theme(
    "defaults",
    [
        Case(
            id="default-head",
            title="no timeout is set, and not a byte of an answer comes",
            rule=DEFAULTS,
            good=SAYS_SO,
            suite="slow",
            source="openai/openai-python #3269",
            scenario="faults: [{hold_head: {until: forever}}]",
            silence=_LIMIT,
            lasts=_LIMIT,
        ),
        Case(
            id="default-idle",
            title="no timeout is set, and behind the sixth event nothing comes any more",
            rule=DEFAULTS,
            good=SAYS_SO,
            suite="slow",
            source="googleapis/python-genai #2705",
            scenario="faults: [{stall: {at: {event: 6}, for: forever}}]",
            silence=_LIMIT,
            lasts=_LIMIT,
        ),
        Case(
            id="default-content",
            title="no timeout is set, and behind the sixth event nothing comes but a comment every 15 s",
            rule=DEFAULTS,
            good=SAYS_SO,
            suite="slow",
            kinds=EVENT_STREAMS,
            source="anomalyco/opencode #43519",
            scenario="faults: [{stall: {at: {event: 6}, for: forever, meanwhile: {comments: 15s}}}]",
            silence=_LIMIT,
            lasts=_LIMIT,
        ),
        Case(
            id="default-total",
            title="tokens come steadily, for six minutes",
            rule=STEADY,
            good=WHOLE,
            suite="slow",
            source="open-webui/open-webui #11320, #27038",
            scenario="rules: []",
            gap="30s",
            silence="30s",
        ),
        Case(
            id="429-minute",
            title="429 with Retry-After: 61, then all is well",
            rule=DEFAULTS,
            good=EITHER,
            suite="slow",
            waits=True,
            source="earendil-works/pi #3671",
            scenario='nth: 1\nfaults: [{respond: {status: 429, retry_after: "61", body: "slow down"}}]',
            silence="70s",
            lasts="150s",
        ),
    ],
)
