"""Model files as data that tests change, and the schema that they keep to."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parents[1] / "docs" / "model.schema.json").read_text("utf-8"))


def read_model(path):
    """What a file holds without its checksum, so that a change is refused for what it is."""

    def refuse(token):
        raise AssertionError(f"the file holds {token}, which is no JSON")

    data = json.loads(Path(path).read_text("utf-8"), parse_constant=refuse)
    return {name: value for name, value in data.items() if name != "checksum"}


def validate(path):
    """Hold a file to the published schema."""
    Draft202012Validator(SCHEMA).validate(json.loads(Path(path).read_text("utf-8")))
