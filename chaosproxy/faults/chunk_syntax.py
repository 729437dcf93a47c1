"""`chunk_syntax`: chunks that are spelt as few servers do, legal and not quite legal.

RFC 9112 section 7.1 allows zeros in front of a size, extensions behind it and trailers behind the last chunk, and hardly
anybody sends them, so that parsers have never met them. Blanks behind a size, line feeds alone and a size line that is empty
are not allowed; servers have sent them, and who takes an empty size for 0 sees a whole answer where it broke off.
"""

from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.asking import RunningAsk
from chaosproxy.model import asked
from chaosproxy.model.headers import Headers
from chaosproxy.model.units import Count, counted

_ZEROS, _SPACES = 4, 2


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSyntax(FaultSpec):
    """Spells the framing of a chunked body in another way."""

    name: ClassVar[str] = "chunk_syntax"
    main: ClassVar[str | None] = "zeros"

    zeros: bool | Count = False
    """So many zeros in front of each size; `true` is 4. Legal."""
    spaces: bool | Count = False
    """So many spaces behind each size; `true` is 2. Legal only before an extension (BWS)."""
    extension: str | None = None
    """Behind each size and a semicolon: `a=b`. Legal if it is a token, or a token, `=` and a value."""
    trailers: Headers = ()
    """Fields behind the last chunk, after those that the answer has. Legal."""
    empty_size: bool | Count = False
    """The number of a chunk whose size line is empty, from 1; `true`: that of the last chunk (the `0`). Not legal."""
    bare_lf: bool = False
    """LF in place of every CRLF that frames a chunk. Not legal."""
    on_abort: str | None = None
    """Stands in front of the FIN where the body breaks off behind a chunk: h2o writes `"\\r\\n1\\r\\n"`, which is none, so that
    every parser says that the answer is broken."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if not self._words and self.extension is None and not self.on_abort:
            found.append(((), f"nothing to spell; expected one of {', '.join(_NAMES)}"))
        if self.extension is not None and not (
            self.extension and self.extension.isascii() and self.extension.isprintable()
        ):
            found.append((("extension",), "an extension is one line of printable ASCII, and not empty; expected a=b"))
        return found

    @property
    def _words(self) -> list[str]:
        """What is asked for, for a person."""
        words = {
            "zeros": counted(self._count(self.zeros, _ZEROS), "zero"),
            "spaces": counted(self._count(self.spaces, _SPACES), "space"),
            "extension": "an extension",
            "trailers": counted(len(self.trailers), "trailer"),
            "empty_size": "no size of "
            + ("the last chunk" if self.empty_size is True else f"chunk {self.empty_size:d}"),
            "bare_lf": "bare LF",
            "on_abort": "no chunk where it breaks off",
        }
        return [words[name] for name in _NAMES if getattr(self, name)]

    @staticmethod
    def _count(given: bool | int, usual: int) -> int:
        return usual if given is True else given

    def start(self, context: Context) -> Fault:
        wanted = asked.ChunkSyntax(
            zeros=self._count(self.zeros, _ZEROS),
            spaces=self._count(self.spaces, _SPACES),
            extension=(self.extension or "").encode(),
            trailers=self.trailers,
            empty_size=self._count(self.empty_size, 0) if self.empty_size else None,
            bare_lf=self.bare_lf,
            on_abort=(self.on_abort or "").encode(),
        )
        return RunningAsk(wanted, ", ".join(self._words), possible=context.protocol != "h2")


_NAMES = ("zeros", "spaces", "extension", "trailers", "empty_size", "bare_lf", "on_abort")
