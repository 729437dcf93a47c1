"""Azure's hops in front of HTTP servers: two balancers, Front Door, App Service, API Management.

Parameters are spelt as in Azure's own settings. Must not know: other vendors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration, Size, show_size
from chaosproxy.presets.figures import Figures
from chaosproxy.presets.managed import NOT_MEASURED, RUNS_ON, limits, page, silence, time, whole
from chaosproxy.presets.preset import Plain, Preset, Source, preset, those


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBalancer(Preset):
    """The Azure Load Balancer."""

    name: ClassVar[str] = "azure-lb"
    about: ClassVar[str] = (
        "Forgets a connection that was silent for 4 min. Nobody is told, unless `enable_tcp_reset` is on: what is said "
        "afterwards goes nowhere, and the client waits for ever."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = (
        "It knows connections, not exchanges: over HTTP/2 the real one waits for a silence of all streams. TCP keep-alives are "
        "not seen."
    )
    sources: ClassVar[Sequence[Source]] = Figures("azure", "azure-lb")

    idle_timeout: Duration = 240.0
    """`IdleTimeoutInMinutes`: how long neither side may say anything; 4m to 100m. Default 4m."""
    enable_tcp_reset: bool = False
    """`EnableTcpReset`: whether both sides get a TCP reset then. Default false."""

    def faults(self) -> list[Plain]:
        forgotten = {"idle": time(self.idle_timeout)}
        if self.enable_tcp_reset:
            return [{"abort_upstream": {"at": forgotten, "then": "rst"}}, {"cut": {"at": forgotten, "then": "rst"}}]
        return [{"blackhole": {"at": forgotten}}]


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationGateway(Preset):
    """The Application Gateway, version 2."""

    name: ClassVar[str] = "azure-appgw"
    about: ClassVar[str] = (
        "Gathers answers unless buffering was switched off, and gives the backend 20 s for the first byte and for each "
        "next one: before the head a 504, in mid-stream a cut."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "The second try with another member of the pool, its firewall, its headers."
    sources: ClassVar[Sequence[Source]] = Figures("azure", "azure-appgw")

    request_timeout: Duration = 20.0
    """`requestTimeout` of the backend settings: how long without a byte of the backend. Default 20s."""
    enable_response_buffering: bool = True
    """`enableResponseBuffering`: whether answers are gathered. Default true."""
    response_buffer: Size | None = None
    """So many bytes are gathered before they go on. Default: the whole answer, since how much it is, is not documented."""

    def faults(self) -> list[Plain]:
        size = self.response_buffer
        held = whole() if size is None else [{"buffer": show_size(size)}]
        return those(
            [
                silence(page(504, "Gateway Time-out"), self.request_timeout),
                *(held if self.enable_response_buffering else []),
            ]
        )

    def problems(self) -> list[tuple[str, str]]:
        if self.response_buffer is not None and not self.enable_response_buffering:
            return [("response_buffer", "nothing is gathered where `enable_response_buffering` is false")]
        return []


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class FrontDoor(Preset):
    """Front Door, Standard or Premium."""

    name: ClassVar[str] = "azure-frontdoor"
    about: ClassVar[str] = (
        "Gives the origin 30 s to answer; then 504. What a silence in mid-stream does is not documented."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "Its cache, its coding, its headers."
    sources: ClassVar[Sequence[Source]] = Figures("azure", "azure-frontdoor")

    origin_response_timeout: Duration = 30.0
    """`originResponseTimeoutSeconds`: how long until the first byte, 16s to 240s. Default 30s."""
    idle_timeout: Duration | None = None
    """How long between any two bytes. Default: no limit, since none is documented."""

    def faults(self) -> list[Plain]:
        return those(
            [
                limits(
                    page(504, "Gateway Timeout"),
                    first_byte=self.origin_response_timeout,
                    between_bytes=self.idle_timeout,
                ),
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class AppService(Preset):
    """App Service and Functions, behind their own balancer."""

    name: ClassVar[str] = "azure-appservice"
    about: ClassVar[str] = (
        "The client of a server that says nothing for 230 s is disconnected; the server is not told, and works on for nobody."
    )
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("azure", "azure-appservice")

    idle_timeout: Duration = 230.0
    """How long nothing may come. Default 230s; it cannot be changed."""

    def faults(self) -> list[Plain]:
        return those([RUNS_ON, silence(None, self.idle_timeout)])


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class ApiManagement(Preset):
    """API Management, with the policy `forward-request`."""

    name: ClassVar[str] = "azure-apim"
    about: ClassVar[str] = (
        "Gathers 8 KB at a time unless `buffer_response` is off, gives the backend 5 min for its headers, and stands behind a "
        "balancer that forgets what was silent for 4 min."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "Policies that need the whole answer, the logging of bodies, which holds it too."
    sources: ClassVar[Sequence[Source]] = Figures("azure", "azure-apim")

    forward_request_timeout: Duration = 300.0
    """`timeout` of `forward-request`: how long until the headers have come. Default 300s."""
    buffer_response: bool = True
    """`buffer-response` of the same: whether what comes is gathered, 8KiB at a time. Default true."""
    idle_timeout: Duration = 240.0
    """That of the balancer below: how long nothing may come before it forgets the connection. Default 4m."""

    def faults(self) -> list[Plain]:
        return those(
            [
                limits(page(504, "Gateway Timeout"), first_byte=self.forward_request_timeout),
                {"buffer": "8KiB"} if self.buffer_response else None,
                {"blackhole": {"at": {"idle": time(self.idle_timeout)}}},
            ]
        )
