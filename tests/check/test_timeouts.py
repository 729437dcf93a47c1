"""The timeouts of clients that have some, and of one that has none, are found."""

import time
from itertools import islice
from urllib.request import Request, urlopen

import pytest
import trio

from chaosproxy.check.client import InProcess
from chaosproxy.check.timeouts import SAID, Found, Search
from tests.check.clients.good import QUESTION, Good
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


class CannotReadComments(Good):
    def field(self, line):
        return ("data", line) if line.startswith(":") else super().field(line)


class Content(Good):
    """Leaves behind the last token but one, without a complaint."""

    def ask(self, url):
        with urlopen(Request(url + self.path, QUESTION, {"Content-Type": "application/json"})) as answer:
            tokens = (line for line in answer if b'"content":' in line)
            return "".join(str(token) for token in islice(tokens, int(UP_TO * 10) - 1))


CLIENTS = {
    "content": Content,
    "impatient": Impatient,
    "total only": TotalOnly,
    "has none": lambda: IsTakenInByComments(10.0),
    "no comments": CannotReadComments,
}


@pytest.fixture(scope="module")
def found():
    """Of all of them, side by side: mostly they wait."""
    made = {}

    async def search(name, make):
        limits = await Search(InProcess(lambda url: make().ask(url)), UP_TO, patience=1.0).run()
        made[name] = {one.place: one for one in limits}

    async def all_of_them():
        async with trio.open_nursery() as nursery:
            for name, make in CLIENTS.items():
                nursery.start_soon(search, name, make)

    trio.run(all_of_them)
    return made


def test_each_limit_is_found_and_tried(found):
    limits = found["impatient"]
    assert limits["head"].seconds == pytest.approx(0.5, abs=0.4)
    assert limits["idle"].seconds == pytest.approx(0.8, abs=0.4)
    assert limits["content"].seconds == pytest.approx(1.5, abs=0.5)
    assert limits["total"].seconds is None
    assert "none within 2.5s" in limits["total"].seen


def test_a_limit_of_the_whole_is_no_limit_between_bytes(found):
    assert found["total only"]["total"].seconds == pytest.approx(1.2, abs=0.4)
    assert "it is the total that is limited" in found["total only"]["idle"].seen


def test_who_has_none_is_watched_to_the_end(found):
    assert {place: one.seconds for place, one in found["has none"].items()} == dict.fromkeys(SAID)


def test_who_is_content_with_what_came_has_met_no_limit(found):
    assert found["content"]["total"].seen == "none within 2.5s"


def test_who_leaves_with_the_first_comment_has_no_limit_there(found):
    content = found["no comments"]["content"]
    assert (content.seconds, content.seen) == (None, "it leaves with the first comment")


def test_it_is_said_in_words_and_in_json():
    idle = Found("idle", 1.52, 3, 5.9, "a silence of three quarters of it is survived")
    assert idle.seen == "1.5s, 3 requests: 5.9s until it gave up; a silence of three quarters of it is survived"
    assert idle.as_json()["seconds"] == 1.52
