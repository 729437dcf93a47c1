"""The base of every preset: a real machine in front of a server, its settings in its vendor's own words.

A preset is data. Its fields are parameters, spelt and valued as the vendor does; `faults` says what a machine with these
settings does to an exchange, in the language of scenarios, as a hop's `faults:` would. The loader puts that in the place
of the preset, so that nothing happens which a user could not have written.
Rules: what is not known has no default, and where it is not given nothing is done. Must not know: how faults work, how it
is read, where it stands in a chain.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeVar

Plain = dict[str, object]
"""A mapping as it would be written in a scenario: one fault with its parameters, or keys of the file."""

Switch = Literal["on", "off"]

Grade = Literal["measured", "documented", "quoted", "reported", "contradictory", "unknown"]
"""How firm it is: seen on the real program; said by the vendor's own page; the vendor's words as others quote them; told by
users; said in several ways; said by nobody."""

RESERVED = frozenset({"preset", "name", "faults"})
"""Keys of a hop that are not the preset's."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where one thing is known from."""

    what: str
    """The thing, in a few words: `idle_timeout 60s`, `the ending over HTTP/2`."""
    where: str
    """A document and its place in it, or the program that was measured with its version."""
    grade: Grade = "documented"
    date: str = ""
    """When the document was written or last looked at, as far as known: 2026-11-30."""
    says: str = ""
    """What it says, in our words, where that is more than the thing itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One machine. Field names are the keys in YAML (with `_` behind a word of Python's); each field's docstring says what
    it is, the vendor's default, and where that is documented."""

    name: ClassVar[str]
    """As scenarios call it: `nginx-1.22`."""
    about: ClassVar[str]
    """What such a machine does to a stream by default, in a sentence or two."""
    measured: ClassVar[str]
    """What was seen on the real program, and on which version of it."""
    not_measured: ClassVar[str] = ""
    """What is taken from documents alone, and what this preset does not do though the machine does."""
    sources: ClassVar[Sequence[Source]] = ()

    def faults(self) -> list[Plain]:
        """What it does, in the order in which a response meets it."""
        raise NotImplementedError  # a preset without it is a bug of whoever wrote it

    def behind(self) -> list[Plain]:
        """The same where other hops stand nearer the server: what only the first can do is left out."""
        return self.faults()

    def alone(self) -> Plain:
        """What else it brings where it is a scenario by itself, beside its hop: `upstream` and `connections`, which are the
        file's and no hop's."""
        return {}

    def problems(self) -> list[tuple[str, str]]:
        """Values that do not go together, as (parameter, message)."""
        return []


P = TypeVar("P", bound=type[Preset])

PRESETS: dict[str, type[Preset]] = {}
"""Every known preset by its name."""


def preset(spec: P) -> P:
    """Class decorator, above `@dataclass`: make a preset known by its name. TypeError for a parameter whose name is taken."""
    taken = RESERVED & {field.name for field in fields(spec)}
    if taken:
        raise TypeError(f"{spec.__qualname__}: `{min(taken)}` is a key of the hop, and no parameter")
    PRESETS[spec.name] = spec
    return spec


def family_of(spec: type[Preset]) -> str:
    """The machines that are told of together: those of one file."""
    return spec.__module__.rpartition(".")[2]


def given(**parameters: object) -> Plain:
    """Parameters of a fault without those that are None; `if_` is written `if`."""
    return {key.removesuffix("_"): value for key, value in parameters.items() if value is not None}


def those(faults: Iterable[Plain | None]) -> list[Plain]:
    """The faults that there are: None stands for one that these settings do not bring."""
    return [one for one in faults if one is not None]
