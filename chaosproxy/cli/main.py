"""The program: its commands, and how an error becomes one line and an exit status."""

import os
import signal
import sys
import traceback
from importlib import import_module
from typing import Any

import click

from chaosproxy.errors import Error, ScenarioError, UsageError, alone
from chaosproxy.model.shown import LONGEST_LINE, shown

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


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="chaosproxy", prog_name="chaosproxy")  # which reads it only when it is asked for
def program() -> None:
    """A programmable buffering and chaos proxy for streaming clients."""


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit status."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    sys.exit(status_of(arguments))


def status_of(arguments: list[str] | None = None) -> int:
    """Run the program; its exit status."""
    try:
        result: Any = program.main(args=arguments, prog_name="chaosproxy", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        return 130
    except BrokenPipeError:
        return 0
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
        case _:
            if "CHAOSPROXY_DEBUG" in os.environ:
                traceback.print_exception(error)
            what = shown(f"{type(error).__name__}: {error}", LONGEST_LINE)
            lines = [f"chaosproxy: internal error: {what} (CHAOSPROXY_DEBUG=1 shows where)"]
    for line in lines:
        click.echo(line, err=True)
    return 2 if isinstance(error, ScenarioError | UsageError) else 3
