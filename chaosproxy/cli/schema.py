"""`chaosproxy schema`: the JSON Schema of a scenario, for editors."""

import json

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of a scenario file."""
    from chaosproxy.scenario.describe import schema  # noqa: PLC0415 - pydantic is loaded by whoever needs it

    click.echo(json.dumps(schema(), indent=2))
