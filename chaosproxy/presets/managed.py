"""What the presets of managed hops have in common: their limits of time, their own pages, what they are known from.

Nobody can run these machines at home, so that a preset of one is made of its vendor's pages, and its figures say which and
how firm (`figures`). A figure that no page of the vendor's own has is no default: the parameter has none, and without a
value the rule is left out. Must not know: any particular hop.
"""

from collections.abc import Sequence

from chaosproxy.model.units import show_duration, show_rate, show_size
from chaosproxy.presets.preset import Plain, given

NOT_MEASURED = (
    "nothing. It is made of the vendor's documents, read in stored copies, and where it says so of what users report; its page "
    "has each figure with its address, and how firm it is."
)
RUNS_ON: Plain = {"client_abort": "ignore"}
"""Who is behind such a hop does not hear that its client has left."""


def time(seconds: float | None) -> str | None:
    """As a scenario has it."""
    return None if seconds is None else show_duration(seconds)


def limits(
    first: Plain | None = None,
    *,
    first_byte: float | None = None,
    between_bytes: float | None = None,
    total: float | None = None,
    later: str = "abort",
    side: str | None = None,
    methods: list[str] | None = None,
) -> Plain | None:
    """A `timeout` with those limits that there are, for all methods or these: `first` while no head has passed, afterwards
    `later`, and `abort` where that cannot be. None if there is no limit."""
    times = given(first_byte=time(first_byte), between_bytes=time(between_bytes), total=time(total))
    if not times:
        return None
    early = first if "first_byte" in times or "total" in times else None
    then = [one for one in (early, None if later == "abort" else later, "abort") if one is not None]
    return {
        "timeout": {
            **times,
            "then": then,
            **given(side=side),
            **given(if_=None if methods is None else {"method": methods}),
        }
    }


def silence(first: Plain | None, seconds: float | None) -> Plain | None:
    """One limit for the first byte and for each next one."""
    return limits(first, first_byte=seconds, between_bytes=seconds)


def page(status: int, words: str) -> Plain:
    """A hop's own answer, as a page of HTML. Of no hop are the words known; where they are told apart it is by these."""
    return answer(
        status, f"<!DOCTYPE html><title>{status}: {words}</title><h1>{words}</h1>\n", "text/html; charset=UTF-8"
    )


def answer(status: int, body: str, content_type: str) -> Plain:
    """A hop's own answer."""
    return {"status": status, "headers": {"content-type": content_type}, "body": body}


def whole() -> list[Plain]:
    """Nothing leaves before all of it has come, the head neither."""
    return [{"buffer": {"until_end": True}}, {"hold_head": "end"}]


def at_most(size: int) -> Plain:
    """A longer answer breaks off; one of exactly this size is whole."""
    return {"cut": {"at": {"bytes": size + 1}, "then": "abort"}}


def whole_or(broken: Plain, size: int) -> list[Plain]:
    """The same of an answer that has come whole and is no larger than that; of any other there is an answer of the hop's own."""
    return [at_most(size), *whole(), {"broken_end": [broken, "abort"]}]


def throttled(rate: float, unthrottled: int) -> Plain:
    """A line that has so much to give away first."""
    return {"bandwidth": {"rate": show_rate(rate), "burst": show_size(unthrottled)}}


def of_clients(*faults: Plain | None) -> Plain:
    """What such a hop does to its clients' connections; only where nothing stands nearer the client, which is where it
    stands alone."""
    there: Sequence[Plain] = [one for one in faults if one is not None]
    return {"connections": [{"match": {"side": "client"}, "faults": list(there)}]} if there else {}


def kept(seconds: float | None) -> Plain | None:
    """A client's connection is closed so long after the last answer."""
    return None if seconds is None else {"keepalive": {"close_after": show_duration(seconds)}}
