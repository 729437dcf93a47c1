"""The command line that runs a proxy again, as a failed test shows it.

Rules: it can be pasted into a shell; the scenario is named as it was given, or written down whole; what it asks of the
environment is named, and not told: it may be a secret. Must not know: how a proxy runs.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from chaosproxy.embedded.setup import read
from chaosproxy.errors import Error
from chaosproxy.scenario.schema import TRANSPARENT, Scenario

VARIABLE = "${"
ORIGIN = "http://127.0.0.1:8000"
"""Where `chaosproxy origin` listens unless told otherwise."""


def command(scenario: Scenario, upstreams: Sequence[str], seed: int, speed: float) -> str:
    """`chaosproxy run idle-drop --upstream URL --seed 7`; with no upstream in front of an embedded origin. A second line
    is the text of the file that the first one names."""
    file, text = _reads_environment(scenario)
    if not file:
        file, text = _file(scenario)
    paced = f" --speed {speed:g}" if speed != 1 else ""
    words = ["run", *([file] if file else [])]
    words += [word for url in upstreams or [ORIGIN] for word in ("--upstream", url)]
    line = f"chaosproxy {shlex.join([*words, '--seed', str(seed)])}{paced}"
    if not upstreams:
        line = f"chaosproxy origin{paced} & {line}"
    return f"{line}\n{file}: {text}" if text else line


def _reads_environment(scenario: Scenario) -> tuple[str, str]:
    given = scenario.given
    if isinstance(given, Mapping):
        text = json.dumps(given, default=str)
        return (f"{scenario.name}.json", text) if VARIABLE in text else ("", "")
    if isinstance(given, str) and VARIABLE in given:
        return f"{scenario.name}.yaml", f"\n{given.strip()}"
    return (str(given), "") if isinstance(given, str | Path) and VARIABLE in _text(given) else ("", "")


def _text(name: str | Path) -> str:
    """Of a file, or of a shipped scenario; nothing where it is neither."""
    from chaosproxy.scenario.library import find  # noqa: PLC0415 - loaded only where a test has failed

    try:
        return find(name).read_text(encoding="utf-8")
    except (LookupError, OSError, ValueError):
        return ""


def _file(scenario: Scenario) -> tuple[str, str]:
    """What stands on the command line, and what has to be in it if nobody has such a file."""
    if scenario == TRANSPARENT:
        return "", ""
    for name in (scenario.given, scenario.name):
        if isinstance(name, str | Path) and _is(name, scenario):
            return str(name), ""
    from chaosproxy.scenario.dump import dump  # noqa: PLC0415 - loaded only where a test has failed

    return f"{scenario.name}.json", json.dumps(dump(scenario))


def _is(name: str | Path, scenario: Scenario) -> bool:
    """It names a file, or a shipped scenario, that says this."""
    from chaosproxy.scenario.library import find  # noqa: PLC0415 - loaded only where a test has failed

    try:
        return find(name).is_file() and read(name) == scenario
    except (Error, LookupError, OSError, ValueError):
        return False
