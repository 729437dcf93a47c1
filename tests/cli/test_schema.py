"""`schema` prints one JSON Schema, and nothing else."""

import json

import jsonschema
from click.testing import CliRunner

from chaosproxy.cli import schema


def test_the_schema_is_json_and_a_schema():
    result = CliRunner().invoke(schema.command, [])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    jsonschema.Draft202012Validator.check_schema(found)
    validator = jsonschema.Draft202012Validator(found)
    assert validator.is_valid({"version": 1, "rules": [{"match": {"path": "/a"}}]})
    assert not validator.is_valid({"version": 1, "rules": [{"match": {"pth": "/a"}}]})
    # What YAML reads as a number stands for the word that it looks like.
    assert validator.is_valid({"version": 1, "faults": [{"framing": {"http": 1.0}}]})
    assert not validator.is_valid({"version": 1, "faults": [{"framing": {"http": 1.1}}]})
