"""Secrets that can be found again: each is another word, put into one place."""

from collections.abc import Mapping, Sequence

from chaosproxy.journal.jsonl import line
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdict
from chaosproxy.report.line import exchange_line
from chaosproxy.report.pages import WRITERS, write
from chaosproxy.report.timeline import timeline

FIELDS = (
    "Authorization",
    "Proxy-Authorization",
    "X-Forwarded-Authorization",
    "Cookie",
    "X-Api-Key",
    "Api-Key",
    "X-Goog-Api-Key",
    "Ocp-Apim-Subscription-Key",
    "X-Functions-Key",
    "X-Auth-Token",
    "X-Amz-Security-Token",
    "X-Client-Secret",
    "X-Password",
    "X-Aws-Credentials",
)
"""Of a request; each carries one."""
ANSWERED = ("Set-Cookie", "X-Csrf-Token", "X-Refresh-Token", "X-Vault-Secret")
"""Of an answer."""
PARAMETERS = ("key", "api_key", "access_token", "token", "sig", "client_secret", "password", "X-Amz-Signature")


class Canaries:
    """`secret("where")` is a word to put there; `found` says which of them came out where."""

    def __init__(self) -> None:
        self.places: list[str] = []

    def __call__(self, place: str) -> str:
        self.places.append(place)
        return f"CANARY-{len(self.places)}-X"

    def found(self, outputs: Mapping[str, str]) -> list[str]:
        return [
            f"{place} in {name}"
            for name, text in outputs.items()
            for number, place in enumerate(self.places, 1)
            if f"CANARY-{number}-X" in text
        ]


def told(records: Sequence[ExchangeRecord], verdicts: Sequence[Verdict] = ()) -> dict[str, str]:
    """What is told of exchanges, in every way."""
    said = {f"a report as {form}": write(list(records), verdicts, form) for form in WRITERS}
    return said | {
        "the record": "".join(map(repr, records)) + "".join(map(str, records)),
        "the journal": "\n".join(map(line, records)),
        "the line": "\n".join(map(exchange_line, records)),
        "the timeline": timeline(records),
        "the verdicts": repr(verdicts) + "\n".join(map(str, verdicts)),
    }


def summary(leaks: Sequence[str]) -> str:
    """For the page of security."""
    return "found nowhere" if not leaks else "; ".join(leaks)
