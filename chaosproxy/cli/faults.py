"""`chaosproxy faults [NAME]`: every fault there is, or the reference of one, with those that are your own.

Rules: it says what the fault's own file says. Must not know: any particular fault.
"""

import shutil
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from chaosproxy.cli.own_faults import own_faults
from chaosproxy.errors import UsageError

if TYPE_CHECKING:
    from chaosproxy.scenario.reference import Parameter, Reference

WIDEST = 100
"""Columns; longer lines are hard to read."""


@click.command("faults")
@click.argument("name", required=False, metavar="[NAME]")
@own_faults
def command(name: str | None) -> None:
    """List every fault with what it does, or say everything about the one called NAME."""
    from chaosproxy.scenario import catalogue, reference  # noqa: PLC0415 - loaded by whoever needs them
    from chaosproxy.scenario.reading import unknown_name  # noqa: PLC0415 - loaded by whoever needs it

    width = min(shutil.get_terminal_size().columns, WIDEST)
    if name is None:
        click.echo("\n".join(_listing([reference.reference(spec) for spec in catalogue.every()], width)))
        return
    spec = catalogue.spec_of(name)
    if spec is None:
        raise UsageError(unknown_name("fault", name, catalogue.names()))
    click.echo("\n".join(_page(reference.reference(spec), width)))


def _listing(faults: list["Reference"], width: int) -> Iterator[str]:
    longest = max(len(fault.name) for fault in faults)
    for fault in faults:
        yield from _hanging(f"{fault.name:<{longest}}  ", fault.does or fault.summary, width)
    yield ""
    yield "chaosproxy faults NAME says everything about one."


def _page(fault: "Reference", width: int) -> Iterator[str]:
    for paragraph in (f"{fault.name}: {fault.does or fault.summary}", *fault.imitates.split("\n\n"), fault.summary):
        if paragraph:
            yield from textwrap.wrap(" ".join(paragraph.split()), width)
            yield ""
    if fault.parameters:
        yield "Parameters" if fault.main is None else f"Parameters (a bare value is `{fault.main}`)"
    for one in fault.parameters:
        yield from _hanging(f"  {one.key}: ", one.form.replace("`", ""), width)
        yield from _hanging("      ", _meaning(one), width)
    under = "yes" if fault.on_connections else "yes, on HTTP/2 sessions" if fault.on_sessions else "no"
    if not fault.in_hops:
        yield f"at: {fault.at}; under connections: only there{under.removeprefix('yes')}"
    else:
        yield f"at: {fault.at}; way: {' or '.join(fault.ways)}; under connections: {under}"


def _meaning(one: "Parameter") -> str:
    default = "Required." if one.default is None else f"Default {one.default}." if one.default else ""
    return one.words if not default or "Default" in one.words else f"{one.words} {default}"


def _hanging(before: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=before, subsequent_indent=" " * len(before)) or [before.rstrip()]
