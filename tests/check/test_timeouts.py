"""The timeouts of clients that have some, and of one that has none, are found."""

import time

import pytest

from chaosproxy.check.client import InProcess
from chaosproxy.check.timeouts import Search
from tests.check.clients.good import Good
from tests.check.clients.wrong import IsTakenInByComments

UP_TO = 2.5


class Impatient(Good):
    def __init__(self):
        super().__init__(0.8)
        self.head_limit = self.first_limit = 0.5
        self.content_limit = 1.5


class TotalOnly(Good):
    """Reads with one deadline for all, as a client whose timeout is the whole's."""

    def __init__(self):
        super().__init__(10.0)
        self.head_limit = self.content_limit = 10.0

    def ask(self, url):
        self.until = time.monotonic() + 1.2
        return super().ask(url)

    @property
    def idle(self):
        return max(0.01, self.until - time.monotonic())


async def found_in(make):
    return {one.place: one for one in await Search(InProcess(lambda url: make().ask(url)), UP_TO, patience=1.0).run()}


async def test_each_limit_is_found_and_tried():
    found = await found_in(Impatient)
    assert found["head"].seconds == pytest.approx(0.5, abs=0.3)
    assert found["idle"].seconds == pytest.approx(0.8, abs=0.3)
    assert found["content"].seconds == pytest.approx(1.5, abs=0.4)
    assert found["total"].seconds is None
    assert "none within 2.5s" in found["total"].seen
    assert "is survived" in found["idle"].seen


async def test_a_limit_of_the_whole_is_no_limit_between_bytes():
    found = await found_in(TotalOnly)
    assert found["total"].seconds == pytest.approx(1.2, abs=0.3)
    assert "it is the total that is limited" in found["idle"].seen


async def test_who_has_none_is_watched_to_the_end():
    found = await found_in(lambda: IsTakenInByComments(10.0))
    assert {place: one.seconds for place, one in found.items()} == dict.fromkeys(("head", "idle", "content", "total"))
