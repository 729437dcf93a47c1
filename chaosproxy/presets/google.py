"""Google's hops in front of HTTP servers: the external Application Load Balancer, Cloud Run.

Parameters are spelt as in Google's own settings. Must not know: other vendors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration
from chaosproxy.presets.figures import Figures
from chaosproxy.presets.managed import NOT_MEASURED, RUNS_ON, kept, limits, of_clients, page
from chaosproxy.presets.preset import Plain, Preset, Source, preset, those


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleAlb(Preset):
    """The global external Application Load Balancer."""

    name: ClassVar[str] = "gcp-alb"
    about: ClassVar[str] = (
        "Ends every exchange 30 s after it began, in full flow: heartbeats do not help, only a longer `timeout_sec` does."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "Its headers, the keep-alive towards the backend, a backend's 502."
    sources: ClassVar[Sequence[Source]] = Figures("google", "gcp-alb")

    timeout_sec: Duration = 30.0
    """`timeoutSec` of the backend service: how long the whole exchange may take. Default 30s."""
    http_keep_alive_timeout_sec: Duration = 610.0
    """`httpKeepAliveTimeoutSec`: how long a client's connection on which nothing runs is kept. Default 610s."""

    def faults(self) -> list[Plain]:
        return those([limits(page(504, "Gateway Timeout"), total=self.timeout_sec)])

    def alone(self) -> Plain:
        return of_clients(kept(self.http_keep_alive_timeout_sec))


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class CloudRun(Preset):
    """Cloud Run, in front of a container."""

    name: ClassVar[str] = "gcp-cloudrun"
    about: ClassVar[str] = (
        "Ends every exchange 5 min after it began, in full flow; the container is not told, and works on for nobody."
    )
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("google", "gcp-cloudrun")

    timeout: Duration = 300.0
    """`--timeout`: how long the whole exchange may take, up to 60m. Default 5m."""

    def faults(self) -> list[Plain]:
        return those([RUNS_ON, limits(page(504, "Gateway Timeout"), total=self.timeout)])
