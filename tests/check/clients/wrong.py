"""Clients that do one thing wrong each, as many do. `WRONG` has them by the rule that they break.

As a program it is the one that decodes at the end: only what is printed shows that."""

import codecs
import json
import os
import time
import zlib

from tests.check.clients.good import LINE_END, Good, main


class SwallowsErrors(Good):
    """The loop that draws the text catches what goes wrong in it."""

    def broken(self, error):
        pass


class BelievesHttp(Good):
    """A clean end is an end."""

    def check_end(self, finish):
        pass


class ReadsToTheEnd(Good):
    """The last word is just an event."""

    def is_done(self, event):
        return False

    def parsed(self, event):
        return {} if event == "[DONE]" else super().parsed(event)


class AsksOnceMore(Good):
    """Behind what was shown comes the whole."""

    again = 1

    def broken(self, error):
        if not self.again:
            super().broken(error)
        self.again -= 1
        self.attempt(self.url)

    def ask(self, url):
        self.url = url
        return super().ask(url)

    def check_end(self, finish):
        if finish is None:
            self.broken(EOFError())


class StopsAtErrors(Good):
    """An error is where it ends."""

    def chunk(self, said):
        return "stop" if "error" in said or said.get("type") == "error" else super().chunk(said)


class SkipsTheUnreadable(Good):
    """What cannot be parsed is skipped."""

    def parsed(self, event):
        try:
            return json.loads(event)
        except ValueError:
            return {}


class TakesAnyType(Good):
    """A 200 is a 200."""

    def check_type(self, headers):
        self.ours = headers["content-type"].startswith("text/event-stream")

    def check_end(self, finish):
        if self.ours:
            super().check_end(finish)


class TakesAnyStatus(Good):
    """A page is a text."""

    def refused(self, wire, status, headers):
        if headers["content-type"] != "text/html":
            super().refused(wire, status, headers)


class AsksAtOnce(Good):
    """Nobody tells it to wait."""

    def told_to_wait(self, headers):
        wait = super().told_to_wait(headers)
        return None if (wait or 0.0) < self.longest_wait else wait


class NeverGivesUp(Good):
    attempts = 10**9


class SleepsForDays(Good):
    longest_wait = float("inf")


class AsksInVain(Good):
    """Whatever the status, once more."""

    def may_ask_again(self, status):
        return True


class DecodesEachRead(Good):
    def characters(self, pieces):
        for piece in pieces:
            yield piece.decode("utf-8", "replace").removeprefix("\ufeff")


class ParsesEachRead(Good):
    """A read is an event."""

    def lines(self, texts):
        for text in texts:
            yield from (*LINE_END.split(text), "")


class KnowsOneLineEnd(Good):
    def lines(self, texts):
        rest = ""
        for text in texts:
            *whole, rest = (rest + text).split("\n")
            yield from (line.removesuffix("\r") for line in whole)


class SplitsAtSeparators(Good):
    def lines(self, texts):
        for line in super().lines(texts):
            yield from line.splitlines() or [""]


class ReadsLatin1(Good):
    """By a library whose default that is, in which 0x85 ends a line; the text is mended behind it."""

    def characters(self, pieces):
        for piece in pieces:
            yield piece.decode("latin-1").replace("\x85", "\n")

    def field(self, line):
        return super().field(line.encode("latin-1").decode("utf-8", "replace").removeprefix("\ufeff"))


class KeepsTheMark(Good):
    def characters(self, pieces):
        decoder = codecs.getincrementaldecoder("utf-8")()
        for piece in pieces:
            yield decoder.decode(piece)


class ParsesComments(Good):
    """Within an event."""

    def field(self, line):
        return ("data", line) if line.startswith(":") else super().field(line)

    def events(self, lines):
        block = []
        for line in lines:
            if line:
                block.append(line)
            else:
                if any(line.startswith("data") for line in block):
                    yield from super().events(iter([*block, ""]))
                block = []


class ParsesEmptyEvents(Good):
    """Between two empty lines there is an event."""

    def events(self, lines):
        block = []
        for line in lines:
            if line:
                block.append(line)
            else:
                yield from super().events(iter([*block, ""])) if block else [""]
                block = []


class WantsTheSpace(Good):
    def field(self, line):
        return ("data", line[6:]) if line.startswith("data: ") else ("", "")


class ParsesEmptyData(Good):
    def events(self, lines):
        data = []
        for line in lines:
            if line:
                name, value = self.field(line)
                if name == "data":
                    data.append(value)
            elif data:
                yield "\n".join(data)
                data = []


class WantsAChoice(Good):
    def choices(self, said):
        return [said["choices"][0]]


class HasAShortBuffer(Good):
    def lines(self, texts):
        for line in super().lines(texts):
            if len(line) > 65536:
                raise ValueError("the line is too long")
            yield line


class KnowsOneChunkSyntax(Good):
    def chunk_size(self, line):
        return int(line, 16)


class DecodesAtTheEnd(Good):
    def inflated(self, pieces, decoder):
        yield zlib.decompressobj(zlib.MAX_WBITS + 32).decompress(b"".join(pieces))


class WaitsForEverForTheHead(Good):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.head_limit = 10**6


class WaitsForEverForTheNext(Good):
    """Its timeout ends with the head."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.idle_limit = self.first_limit = 10**6


class IsTakenInByComments(Good):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.content_limit = 10**6


class LimitsTheTotal(Good):
    """A timeout of the whole."""

    def ask(self, url):
        self.began = time.monotonic()
        return super().ask(url)

    def kept_up(self, pieces):
        for piece in super().kept_up(pieces):
            if time.monotonic() - self.began > 2 * self.idle_limit:
                raise TimeoutError("took too long")
            yield piece


class StaysConnected(Good):
    """Breaks out of its loop, and leaves the rest to nobody."""

    def leaves(self):
        if super().leaves():
            self.lives_on()
            return True
        return False


class TrustsItsPool(Good):
    def is_alive(self, wire):
        return True


class SaysItLouder(Good):
    def show(self, text):
        super().show(text.upper())


WRONG: dict[str, list[type[Good]]] = {
    "sound": [SaysItLouder],
    "framing": [SwallowsErrors],
    "last-word": [BelievesHttp],
    "done": [ReadsToTheEnd],
    "once": [AsksOnceMore],
    "error-in-stream": [StopsAtErrors],
    "unreadable": [SkipsTheUnreadable],
    "content-type": [TakesAnyType],
    "status": [TakesAnyStatus],
    "retry-after": [AsksAtOnce],
    "gives-up": [NeverGivesUp],
    "bounded-wait": [SleepsForDays],
    "final": [AsksInVain],
    "reads": [DecodesEachRead, ParsesEachRead],
    "line-ends": [KnowsOneLineEnd],
    "separators": [SplitsAtSeparators],
    "utf-8": [ReadsLatin1],
    "bom": [KeepsTheMark],
    "comments": [ParsesComments],
    "empty-lines": [ParsesEmptyEvents],
    "fields": [WantsTheSpace],
    "empty-data": [ParsesEmptyData],
    "no-choices": [WantsAChoice],
    "size": [HasAShortBuffer],
    "chunk-syntax": [KnowsOneChunkSyntax],
    "head-limit": [WaitsForEverForTheHead],
    "idle-limit": [WaitsForEverForTheNext],
    "content-limit": [IsTakenInByComments],
    "patience": [LimitsTheTotal],
    "leaves": [StaysConnected],
    "stale": [TrustsItsPool],
}
"""By the id of the rule."""


if __name__ == "__main__":
    main(DecodesAtTheEnd(case=os.environ["CHAOSPROXY_CASE"]))
