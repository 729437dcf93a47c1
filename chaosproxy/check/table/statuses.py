"""Answers that are no stream: other statuses, other types, and when to ask again. Must not know: how a client is judged."""

from chaosproxy.check.case import EITHER, SAYS_SO, Case, Rule, of_theme

TYPE = Rule(
    "content-type",
    "A 200 of another type than was asked for is no answer.",
    "Compare the Content-Type, without its parameters, before the first byte is parsed.",
)
STATUS = Rule(
    "status",
    "A status of 400 and more is an error, whatever its body says.",
    "Look at the status before the body, and raise with it.",
)
RETRY_AFTER = Rule(
    "retry-after",
    "Who is told when to ask again does not ask sooner.",
    "Read Retry-After, as seconds and as a date, and wait at least so long before the next attempt.",
)
GIVES_UP = Rule(
    "gives-up",
    "A client that is refused again and again stops asking.",
    "Limit the number of attempts, and let the waits grow.",
)
BOUNDED_WAIT = Rule(
    "bounded-wait",
    "A wait that nobody would sit through is reported, not slept.",
    "Put a limit on Retry-After; above it raise at once, with the time in the message.",
)
FINAL = Rule(
    "final",
    "What would be refused again in the same way is not asked again.",
    "Ask again behind 408, 409, 429 and 5xx only.",
)

_429 = """respond: {{status: 429, retry_after: "{after}", headers: {{content-type: application/json}}, \
body: '{{"error": {{"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}}}'}}"""
_503 = """respond: {status: 503, headers: {content-type: application/json}, \
body: '{"error": {"message": "overloaded", "type": "server_error"}}'}"""
_HTML = """respond: {{status: {status}, headers: {{content-type: text/html}}, \
body: "<html><head><title>{status}</title></head><body><h1>{status}</h1><hr>nginx</body></html>"}}"""


def _refused(after: str, nth: str = "nth: 1\n") -> str:
    return f"{nth}faults: [{{{_429.format(after=after)}}}]"


CASES = of_theme(
    "statuses",
    [
        Case(
            id="json-200",
            title="status 200 with an error as application/json where a stream was asked for",
            rule=TYPE,
            good=SAYS_SO,
            source="easychen/openai-api-proxy PR #33",
            scenario=(
                "faults: [{respond: {status: 200, headers: {content-type: application/json}, body: "
                """'{"error": {"message": "model not loaded", "type": "server_error", "code": null}}'}}]"""
            ),
        ),
        Case(
            id="html-200",
            title="status 200 with the page of a login or a gateway",
            rule=TYPE,
            good=SAYS_SO,
            source="WolframResearch/Chatbook #183, anomalyco/opencode #15406",
            scenario=f"faults: [{{{_HTML.format(status=200)}}}]",
        ),
        Case(
            id="html-502",
            title="status 502 with the page of a gateway, then all is well",
            rule=STATUS,
            good=EITHER,
            suite="full",
            source="anomalyco/opencode #15406",
            scenario=f"nth: 1\nfaults: [{{{_HTML.format(status=502)}}}]",
            silence="3s",
        ),
        Case(
            id="401",
            title="the key is wrong: 401, again and again",
            rule=FINAL,
            good=SAYS_SO,
            attempts=1,
            source="easychen/openai-api-proxy PR #33",
            scenario="faults: [{auth: {token: nobody-has-this-key}}]",
        ),
        Case(
            id="429-once",
            title="429 with Retry-After: 1, then all is well",
            rule=RETRY_AFTER,
            good=EITHER,
            waits=True,
            source="openai/openai-node #1840, PR #1841",
            scenario=_refused("1"),
            silence="2s",
        ),
        Case(
            id="429-for-ever",
            title="429 with Retry-After: 1, again and again",
            rule=GIVES_UP,
            good=SAYS_SO,
            source="earendil-works/pi #3671",
            scenario=_refused("1", nth=""),
            silence="4s",
            lasts="12s",
        ),
        Case(
            id="503-once",
            title="503 without a word when to ask again, then all is well",
            rule=STATUS,
            good=EITHER,
            source="EventSource/eventsource #14",
            scenario=f"nth: 1\nfaults: [{{{_503}}}]",
            silence="3s",
        ),
        Case(
            id="503-for-ever",
            title="503, again and again",
            rule=GIVES_UP,
            good=SAYS_SO,
            suite="full",
            source="nugget/thane-ai-agent PR #1395",
            scenario=f"faults: [{{{_503}}}]",
            silence="4s",
            lasts="20s",
        ),
        Case(
            id="429-date",
            title="429 with a date two seconds from now as Retry-After, then all is well",
            rule=RETRY_AFTER,
            good=EITHER,
            suite="full",
            waits=True,
            source="earendil-works/pi #3671",
            scenario=_refused("<date+2s>"),
            silence="4s",
        ),
        Case(
            id="429-past-date",
            title="429 with a date long past as Retry-After, then all is well",
            rule=RETRY_AFTER,
            good=EITHER,
            suite="full",
            source="earendil-works/pi #3671",
            scenario=_refused("Wed, 21 Oct 2015 07:28:00 GMT"),
            silence="3s",
        ),
        Case(
            id="429-zero",
            title="429 with Retry-After: 0, then all is well",
            rule=RETRY_AFTER,
            good=EITHER,
            suite="full",
            source="earendil-works/pi #3671",
            scenario=_refused("0"),
            silence="3s",
        ),
        Case(
            id="429-negative",
            title="429 with Retry-After: -1, then all is well",
            rule=RETRY_AFTER,
            good=EITHER,
            suite="full",
            source="earendil-works/pi #3671",
            scenario=_refused("-1"),
            silence="3s",
        ),
        Case(
            id="429-words",
            title="429 with a Retry-After that is no time at all, then all is well",
            rule=RETRY_AFTER,
            good=EITHER,
            suite="full",
            source="openai/openai-node #1108",
            scenario=_refused("soon"),
            silence="3s",
        ),
        Case(
            id="429-days",
            title="429 with Retry-After: 198300, more than two days",
            rule=BOUNDED_WAIT,
            good=EITHER,
            suite="full",
            source="openai/openai-node #1840",
            scenario=_refused("198300"),
            silence="8s",
        ),
    ],
)
