"""One target under atheris: `python -m tests.fuzz.under TARGET [OPTIONS OF LIBFUZZER]`.

A process of its own, which ends with the first crash. Only the house is watched for coverage.
"""

import sys

import atheris

from tests.fuzz.targets import target

name, *options = sys.argv[1:]
with atheris.instrument_imports(include=["chaosproxy"]):
    found = target(name)


def one(data: bytes) -> None:
    found.run(data)


atheris.Setup([sys.argv[0], *options], one)
atheris.Fuzz()
