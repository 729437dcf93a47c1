"""The presets at a glance: how long each waits, how it ends what it ends, what it gathers; read from the faults that it is."""

from dataclasses import astuple, dataclass, field

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.faults import AbortUpstream, Blackhole, BrokenEnd, Buffer, Compress, Cut, RetryUpstream, Timeout
from chaosproxy.model.units import show_duration, show_size
from chaosproxy.presets.preset import PRESETS
from chaosproxy.scenario.load import load

HEAD = ["preset", "first byte", "next byte", "the whole", "before the head", "after it", "gathers"]
Cell = dict[str, None]
"""What is said in it, each once, in order."""


@dataclass
class Row:
    """The cells of one preset."""

    first: Cell = field(default_factory=dict)
    following: Cell = field(default_factory=dict)
    whole: Cell = field(default_factory=dict)
    before: Cell = field(default_factory=dict)
    after: Cell = field(default_factory=dict)
    gathers: Cell = field(default_factory=dict)


def table() -> list[str]:
    """One row a preset, with its defaults."""
    lines = [HEAD, ["---"] * len(HEAD)]
    for name in sorted(PRESETS):
        row = Row()
        for fault in load(f"version: 1\npreset: {name}").rules[0].hops[0].faults:
            _enter(fault, row)
        lines.append([f"`{name}`", *[", ".join(cell) for cell in astuple(row)]])
    return ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in lines]


def _enter(fault: FaultSpec, row: Row) -> None:
    match fault:
        case Timeout():
            _limits(fault, row)
        case Blackhole() | AbortUpstream() | Cut() if fault.at is not None and fault.at.idle is not None:
            said = {"blackhole": "nobody is told", "abort_upstream": "the client is not told"}
            for cell in (row.first, row.following):
                cell[show_duration(fault.at.idle)] = None
            for cell in (row.before, row.after):
                cell[said.get(fault.name, "cut")] = None
        case BrokenEnd(then=(*_, ending)) if fault.if_ is None and row.after:
            row.after = {str(ending): None}  # what comes behind a limit makes that of how it ends
        case Buffer() if fault.if_ is not None and fault.if_.headers:
            pass  # only where the server asks for it
        case RetryUpstream():
            row.first[f"{fault.times + 1} times {show_duration(fault.timeout)}"] = None
        case Buffer(until_end=True):
            row.gathers["all"] = None
        case Buffer(sizes=(first, *_)):
            row.gathers[show_size(first)] = None
        case Compress(flush="end"):
            row.gathers["all, coded"] = None


def _limits(fault: Timeout, row: Row) -> None:
    waits = {
        "first_byte": (row.first,),
        "between_bytes": (row.following,),
        "idle": (row.first, row.following),
        "response": (row.whole,),
        "total": (row.whole,),
    }
    there = {limit: cells for limit, cells in waits.items() if getattr(fault, limit) is not None}
    for limit, cells in there.items():
        for cell in cells:
            cell[show_duration(getattr(fault, limit))] = None
    if set(there) - {"between_bytes"}:
        row.before[str(fault.then[0])] = None
    if set(there) - {"first_byte"}:
        row.after[next(str(ending) for ending in fault.then if ending.kind != "status")] = None
