"""The cases about gRPC against clients of which it is known what they do; and that they are about gRPC alone."""

import contextlib
import math
from dataclasses import replace

import grpc
import pytest
import trio

from chaosproxy.check.card import Examination
from chaosproxy.check.case import GRPC, TEXT, Case
from chaosproxy.check.client import InProcess
from chaosproxy.check.grpc_origin import GrpcOrigin, message
from chaosproxy.check.runner import Limits
from chaosproxy.check.table import CASES

RUN = [case for case in CASES if case.kinds == GRPC]
STREAM = "/chaosproxy.Check/Stream"
LIMITS = Limits(patience=15, start=20, timeout=0.5)
IMPATIENT = replace(LIMITS, patience=2, busy=math.inf)
"""Whoever is to be found bad is bad on a busy machine too."""
GENEROUS = 20.0
OWN = {"grpc-status", "grpc-last-message", "grpc-deadline"}
"""Rules that only these cases are of."""


class Good:
    """Lets errors out, has a deadline, and believes nothing without the last word."""

    def __init__(self, case: str) -> None:
        self.case = case

    @property
    def deadline(self) -> float | None:
        """That of the card where it is to come, else one that a busy machine does not meet."""
        return LIMITS.timeout if "stall" in self.case else GENEROUS

    def ask(self, url: str) -> str:
        target = url.partition("://")[2]
        with grpc.insecure_channel(target, [("grpc.enable_http_proxy", 0)]) as channel:
            call = channel.unary_stream(STREAM, lambda text: text.encode(), self.read)(" ", timeout=self.deadline)
            return self.text(call)

    @staticmethod
    def read(raw: bytes) -> str:
        text = raw[2:].decode()
        if message(text)[5:] != raw:
            raise ValueError("no StringValue")
        return text

    def text(self, call) -> str:
        texts = []
        for text in call:
            texts.append(text)
            if len(texts) == 3 and "leave" in self.case:
                call.cancel()
                break
        self.looked_at(texts)
        return "".join(texts)

    def looked_at(self, texts: list[str]) -> None:
        if "leave" not in self.case and texts[-1:] != [""]:
            raise EOFError("no last word")


class Swallows(Good):
    """Takes an error of the library for the end."""

    def text(self, call) -> str:
        texts: list[str] = []
        try:
            texts.extend(call)
            self.looked_at(texts)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise
        return "".join(texts)


class TrustsOk(Good):
    """Takes the status for the last word."""

    def looked_at(self, texts: list[str]) -> None:
        pass


class Patient(Good):
    """Has no deadline."""

    @property
    def deadline(self) -> None:
        return None


WRONG = {"grpc-status": Swallows, "grpc-last-message": TrustsOk, "grpc-deadline": Patient}


def of(*rules: str) -> list[Case]:
    return [case for case in RUN if case.rule.id in rules]


async def seen(kind: type[Good], cases: list[Case], limits: Limits = LIMITS) -> dict[str, tuple[str, bool | None, str]]:
    """The verdict on each case."""

    class Trying:
        async def run(self, at, watch):
            return await InProcess(kind(at.case).ask).run(at, watch)

    card = await Examination(Trying(), cases, limits=limits, jobs=6).run()
    return {result.case.id: (result.judged.verdict, result.judged.good, result.judged.seen) for result in card.results}


async def test_who_does_everything_right_has_a_clean_card():
    found = await seen(Good, RUN)
    assert {case: told for case, told in found.items() if told[1] is False} == {}
    for case in ("grpc-whole", "grpc-goaway"):
        assert found[case][:2] == ("whole", True), found[case]
    for case in ("grpc-fin", "grpc-unavailable", "grpc-no-trailers", "grpc-ok-early", "grpc-undecodable"):
        assert found[case][:2] == ("raised", True), found[case]
    assert "StatusCode.UNAVAILABLE" in found["grpc-unavailable"][2]
    assert "EOFError" in found["grpc-ok-early"][2]
    assert "Exception deserializing" in found["grpc-undecodable"][2]
    assert "StatusCode.INTERNAL" in found["grpc-gzip-cut"][2]


async def test_who_breaks_a_rule_fails_it():
    found: dict[str, dict[str, tuple[str, bool | None, str]]] = {}

    async def examine(rule: str) -> None:
        cases = [case for case in of("sound", *OWN) if case.suite == "quick" or case.rule.id == rule]
        found[rule] = await seen(WRONG[rule], cases, IMPATIENT)

    async with trio.open_nursery() as nursery:
        for rule in WRONG:
            nursery.start_soon(examine, rule)
    for rule in WRONG:
        bad = {case for case, (_, good, _) in found[rule].items() if good is False}
        assert bad == {case.id for case in of(rule)}
    assert found["grpc-last-message"]["grpc-ok-early"][0] == "truncated"
    assert found["grpc-deadline"]["grpc-stall"][0] == "hangs"


def test_each_rule_of_theirs_has_somebody_who_breaks_it():
    others = {case.rule.id for case in CASES if case.kinds != GRPC}
    assert {case.rule.id for case in RUN} - others == OWN == WRONG.keys()


async def test_other_cases_are_not_about_a_client_of_grpc():
    """The first tells, and no other is run."""
    some = [case for case in CASES if case.id in {"whole", "fin", "429-once", "h2-reset", "grpc-goaway"}]
    found = await seen(Good, some)
    assert found.pop("grpc-goaway")[:2] == ("whole", True)
    assert {told for _, good, told in found.values() if good is None} >= {"it asks for grpc: the case is about HTTP"}
    assert {verdict for verdict, _, _ in found.values()} == {"not_applicable"}


async def test_cases_of_grpc_are_not_about_others():
    class Other(Good):
        def ask(self, url: str) -> str:
            with contextlib.suppress(OSError):
                from urllib.request import urlopen  # noqa: PLC0415 - of this one alone

                urlopen(f"{url}/sse", timeout=GENEROUS).read()
            return TEXT

    found = await seen(Other, of("grpc-status", "sound"))
    assert {verdict for verdict, _, _ in found.values()} == {"not_applicable"}


class Gone:
    """A connection whose peer has reset it: it is met by a write before a read has told."""

    def __init__(self, sent: int) -> None:
        self.left = sent
        self.asked = False

    async def receive_some(self, _most: int) -> bytes:
        if self.asked:
            await trio.lowlevel.checkpoint()
            if not self.left:
                raise trio.BrokenResourceError
            return b"more"
        self.asked = True
        return b"POST / HTTP/1.1\r\n\r\n"

    async def send_all(self, _data: bytes) -> None:
        if not self.left:
            raise trio.BrokenResourceError
        self.left -= 1


@pytest.mark.parametrize("sent", [0, 1, 4])
async def test_a_client_that_is_gone_ends_its_answer_and_nothing_else(sent):
    origin = GrpcOrigin(["one", " two", " three", " four"], 0.0, 0.0)
    with trio.fail_after(GENEROUS):
        await origin.serve(Gone(sent))
    assert origin.stats() == {"tokens": max(0, sent - 1)}


@pytest.mark.parametrize(
    ("text", "raw"), [("", "0000000000"), ("hi", "0000000004 0a026869"), (" 雨", "0000000006 0a0420e99ba8")]
)
def test_a_message_is_a_string_value(text, raw):
    assert message(text) == bytes.fromhex(raw)
