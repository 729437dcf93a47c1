"""`--watch`: reload the scenario when its files change.

A file that does not validate changes nothing and is reported. The files are looked at twice a second: an editor that
replaces a file, a mounted volume and a plain write all show in what is seen there.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import trio

from chaosproxy.errors import ScenarioError
from chaosproxy.scenario.load import load
from chaosproxy.scenario.schema import Scenario

PERIOD = 0.5


class Watch:
    """Calls `reload(scenario)` after each change that validates, `complain(text)` after each that does not."""

    def __init__(
        self, files: Sequence[Path], reload: Callable[[Scenario], None], complain: Callable[[str], None]
    ) -> None:
        self._files = tuple(files)
        self._reload = reload
        self._complain = complain
        self._seen = self._look()

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            await trio.sleep(PERIOD)
            self.check()

    def check(self) -> None:
        """Look once."""
        now = self._look()
        if now == self._seen:
            return
        self._seen = now
        try:
            scenario = load(*self._files)
        except ScenarioError as error:
            self._complain(f"the scenario stays as it was:\n{error}")
            return
        self._reload(scenario)
        self._complain(f"reloaded {', '.join(str(file) for file in self._files)}")

    def _look(self) -> list[tuple[int, int, int] | None]:
        seen: list[tuple[int, int, int] | None] = []
        for file in self._files:
            try:
                status = file.stat()
            except OSError:  # not there, as while an editor replaces it
                seen.append(None)
            else:
                seen.append((status.st_mtime_ns, status.st_size, status.st_ino))
        return seen
