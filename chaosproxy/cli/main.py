"""The program: its commands, and how an error becomes one line and an exit status."""

import contextlib
import errno
import io
import os
import signal
import sys
import traceback
from importlib import import_module
from typing import Any

import click

from chaosproxy.errors import Error, ScenarioError, UsageError, alone
from chaosproxy.model.mask import masked_command
from chaosproxy.model.shown import LONGEST_LINE, message, shown

COMMANDS = {
    "run": "chaosproxy.cli.run",
    "demo": "chaosproxy.cli.demo",
    "diagnose": "chaosproxy.cli.diagnose",
    "scenarios": "chaosproxy.cli.scenarios",
    "faults": "chaosproxy.cli.faults",
    "lint": "chaosproxy.cli.lint",
    "schema": "chaosproxy.cli.schema",
    "origin": "chaosproxy.cli.origin",
    "report": "chaosproxy.cli.report",
    "healthcheck": "chaosproxy.cli.healthcheck",
    "check": "chaosproxy.cli.check",
}

_LEFT = 128 + 13
"""The exit status where the reader of stdout has left, as that of a program that SIGPIPE ends."""
_LAST = 0.3
"""Seconds for a slow reader of stderr."""


class Lazy(click.Group):
    """Imports a command when it is asked for: `lint` need not load a proxy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(f"no such command {args[0]!r}; there are: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except BrokenPipeError:  # by `--help`, which is shown here
            raise click.exceptions.Exit(_LEFT) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise click.exceptions.Exit(_LEFT) from None  # click itself would make it a 1, which is a bad answer


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="chaosproxy", prog_name="chaosproxy")  # which reads it only when it is asked for
def program() -> None:
    """A programmable buffering and chaos proxy for streaming clients."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit status."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    _open_standard()
    status = _run(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:  # again, where it has failed before
        status = _unread(error, status)
    sys.exit(status)


def _open_standard() -> None:
    """Of stdin, stdout and stderr those that we were started without: the next socket would be what is written to."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end


def _unread(error: OSError, status: int) -> int:
    """What stdout was given it does not take; the exit status. Python would try once more at its end, and complain."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError) or status:
        return status  # whoever read it has had enough, or it has been said
    _say([f"chaosproxy: stdout: {error.strerror}"])
    return 3


def status_of(arguments: list[str] | None = None) -> int:
    """Run the program inside another one, whose signals are its own again afterwards; its exit status."""
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    try:
        return _run(arguments)
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)


def _run(arguments: list[str] | None) -> int:
    try:
        result: Any = program.main(args=arguments, prog_name="chaosproxy", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        _say(message(masked_command(said.getvalue())).rstrip("\n").split("\n"))
        return 2
    except click.Abort:
        return 130
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - whatever it is: a line of ours, and a status
        return _told(alone(error))
    return result if isinstance(result, int) else 0


def _told(error: BaseException) -> int:
    """Say what went wrong; the exit status of it."""
    match error:
        case ScenarioError():
            lines = [str(problem) for problem in error.problems]
        case Error():
            lines = [f"chaosproxy: {shown(str(error), LONGEST_LINE)}"]
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG | errno.EIO):
            lines = [f"chaosproxy: {error.strerror}"]
        case _:
            if "CHAOSPROXY_DEBUG" in os.environ:
                traceback.print_exception(error)
            what = shown(f"{type(error).__name__}: {error}", LONGEST_LINE)
            lines = [f"chaosproxy: internal error: {what} (CHAOSPROXY_DEBUG=1 shows where)"]
    _say(lines)
    return 2 if isinstance(error, ScenarioError | UsageError) else 3


def _say(lines: list[str]) -> None:
    """On stderr; who does not read it is not waited for."""
    from chaosproxy.embedded.outlet import outlets_of  # noqa: PLC0415 - for whoever has something to say

    (outlet,) = outlets_of(sys.stderr)
    with contextlib.suppress(OSError):
        for line in lines:
            if outlet is None:
                click.echo(line, err=True)
            else:
                outlet.write(f"{line}\n".encode(sys.stderr.encoding, "backslashreplace"))
    if outlet is not None:
        outlet.finish(_LAST)
