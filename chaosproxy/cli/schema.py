"""`chaosproxy schema`: the JSON Schema of a scenario, for editors."""

import json

import click

from chaosproxy.cli.own_faults import own_faults


@click.command("schema")
@own_faults
def command() -> None:
    """Print the JSON Schema of a scenario file."""
    from chaosproxy.scenario.describe import schema  # noqa: PLC0415 - pydantic is loaded by whoever needs it

    click.echo(json.dumps(schema(), indent=2))
