"""What the markers of a test say, and how a mistake is told: one message, without a traceback of ours.

Must not know: proxies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

OPTIONS = ("upstream", "speed", "seed", "tls", "upstream_ca", "upstream_insecure")
"""Of `serve`, those that a marker may give."""
FLAGS = ("sdk_env", "judge")
"""True or False."""
MARKER = f"""chaosproxy(scenario=None, *, {", ".join(OPTIONS)}, mount=None, sdk_env=False, judge=True): the proxy of this test: \
what it does to streams, and where it leads; sdk_env: the environment leads the known SDKs to it, to its `mount` if one is given; \
judge: what the scenario expects fails the test where it is not so"""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the markers of a test say together, those of its module and class too; of each argument the nearest counts."""

    given: bool
    """A scenario is named, None too."""
    scenario: Any
    options: Mapping[str, Any]
    mount: str | None
    """Which rules of the scenario this test is about."""
    sdk_env: bool | None
    """None: nobody has said."""
    judge: bool

    @classmethod
    def of(cls, item: pytest.Item) -> "Asked":
        said: dict[str, Any] = {}
        for marker in item.iter_markers("chaosproxy"):  # the nearest first
            said = _arguments(marker) | said
        given = "scenario" in said
        scenario, mount = said.pop("scenario", None), said.pop("mount", None)
        sdk_env, judge = said.pop("sdk_env", None), said.pop("judge", True)
        return cls(given, scenario, said, mount, sdk_env, judge)


def _arguments(marker: pytest.Mark) -> dict[str, Any]:
    said = dict(marker.kwargs)
    if len(marker.args) + ("scenario" in said) > 1:
        raise wrong("the marker takes one scenario, and everything else by its name")
    if marker.args:
        said["scenario"] = marker.args[0]
    known = ("scenario", *OPTIONS, "mount", *FLAGS)
    for name in said:
        if name not in known:
            raise wrong(f"the marker has no argument {name!r}; there are: {', '.join(known)}")
    for name in FLAGS:
        if not isinstance(said.get(name, False), bool):
            raise wrong(f"{name} is True or False; found {said[name]!r}")
    return said


def wrong(message: str) -> BaseException:
    """To be raised."""
    return pytest.fail.Exception(f"chaosproxy: {message}", pytrace=False)
