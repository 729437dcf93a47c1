"""Amazon's hops in front of HTTP servers: two balancers, the API gateway, CloudFront, Lambda's URLs, App Runner.

Parameters are spelt as in Amazon's own attributes, without their units: `idle_timeout.timeout_seconds` is `idle_timeout`.
Must not know: other vendors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.model.units import Count, Duration, Size
from chaosproxy.presets.figures import Figures
from chaosproxy.presets.managed import (
    NOT_MEASURED,
    RUNS_ON,
    answer,
    at_most,
    kept,
    limits,
    of_clients,
    page,
    silence,
    throttled,
    time,
    whole_or,
)
from chaosproxy.presets.preset import Plain, Preset, Source, preset, those

MB = 1024 * 1024
GATEWAY_TIMEOUT = answer(504, '{"message": "Endpoint request timed out"}', "application/json")
BAD_GATEWAY = answer(502, '{"message": "Internal server error"}', "application/json")


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Alb(Preset):
    """The Application Load Balancer."""

    name: ClassVar[str] = "aws-alb"
    about: ClassVar[str] = (
        "Cuts what is silent for 60 s, with a 504 where no head has passed; any byte of the body keeps it, a PING does not."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = (
        "The 502 of a target that closes its kept connections too soon, the 460 of the log, its headers."
    )
    sources: ClassVar[Sequence[Source]] = Figures("aws", "aws-alb")

    idle_timeout: Duration = 60.0
    """`idle_timeout.timeout_seconds`: how long nothing may be sent or received. It also closes a client's connection on which
    nothing runs. Default 60s."""
    client_keep_alive: Duration = 3600.0
    """`client_keep_alive.seconds`: how long a client's connection is kept, however busy it is. Default 1h."""
    target_type: Literal["instance", "ip", "lambda"] = "instance"
    """What stands behind. Of a Lambda function the whole answer is waited for, and one of more than 1 MB is a 502. Default
    instance."""

    def faults(self) -> list[Plain]:
        large = whole_or(page(502, "Bad Gateway"), MB) if self.target_type == "lambda" else []
        return those([*large, silence(page(504, "Gateway Time-out"), self.idle_timeout)])

    def alone(self) -> Plain:
        return of_clients(
            kept(self.idle_timeout), {"age": time(self.client_keep_alive)}, {"goaway": {"stream": 10_000}}
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Nlb(Preset):
    """The Network Load Balancer."""

    name: ClassVar[str] = "aws-nlb"
    about: ClassVar[str] = (
        "Forgets a connection on which nothing was sent for 350 s, and tells nobody: the client waits for ever, the target "
        "is reset when it next says something."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = (
        "It knows connections, not exchanges: over HTTP/2 the real one waits for a silence of all streams. The target is "
        "reset at once here. TCP keep-alives are not seen."
    )
    sources: ClassVar[Sequence[Source]] = Figures("aws", "aws-nlb")

    tcp_idle_timeout: Duration = 350.0
    """`tcp.idle_timeout.seconds`: how long neither side may say anything. Default 350s."""

    def faults(self) -> list[Plain]:
        return [{"abort_upstream": {"at": {"idle": time(self.tcp_idle_timeout)}, "then": "rst"}}]


Integration = Literal["HTTP_PROXY", "AWS_PROXY"]


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class ApiGatewayRest(Preset):
    """The API Gateway, a REST API whose answers are not streamed."""

    name: ClassVar[str] = "aws-apigw-rest"
    about: ClassVar[str] = (
        "Waits for the whole answer, 29 s at most, and passes it on in one piece; what takes longer is a 504 of JSON, "
        "what is larger than 10 MB a 502."
    )
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("aws", "aws-apigw-rest")

    integration_timeout: Duration = 29.0
    """How long the integration may take until its answer is complete. Default 29s, the most that can be had unless the quota
    was raised."""
    payload_limit: Size = 10 * MB
    """The largest answer. Default 10MiB."""
    integration_type: Integration = "HTTP_PROXY"
    """What stands behind: an HTTP server, or with `AWS_PROXY` a Lambda function, which runs on when the gateway has given up.
    Default HTTP_PROXY."""

    def faults(self) -> list[Plain]:
        return those(
            [
                RUNS_ON if self.integration_type == "AWS_PROXY" else None,
                *whole_or(BAD_GATEWAY, self.payload_limit),
                limits(GATEWAY_TIMEOUT, total=self.integration_timeout),
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class ApiGatewayStream(Preset):
    """The API Gateway, a REST API with the response transfer mode STREAM."""

    name: ClassVar[str] = "aws-apigw-stream"
    about: ClassVar[str] = (
        "Streams for 15 min at most, and cuts what is silent for 5 min (an edge-optimised API: 30 s); after 10 MB at 2 MB/s."
    )
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("aws", "aws-apigw-stream")

    endpoint_type: Literal["REGIONAL", "PRIVATE", "EDGE"] = "REGIONAL"
    """Decides the idle time-out. Default REGIONAL."""
    idle_timeout: Duration | None = None
    """How long nothing may come. Default 5m, with `endpoint_type: EDGE` 30s."""
    integration_timeout: Duration = 900.0
    """How long a stream may last. Default 15m, the most that can be had."""
    unthrottled: Size = 10 * MB
    """So many bytes have no limit of bandwidth. Default 10MiB."""
    integration_type: Integration = "HTTP_PROXY"
    """What stands behind: an HTTP server, or with `AWS_PROXY` a Lambda function, which runs on when the gateway has given up.
    Default HTTP_PROXY."""

    def faults(self) -> list[Plain]:
        edge = 30.0 if self.endpoint_type == "EDGE" else 300.0
        idle = edge if self.idle_timeout is None else self.idle_timeout
        return those(
            [
                RUNS_ON if self.integration_type == "AWS_PROXY" else None,
                throttled(2 * MB, self.unthrottled),
                limits(GATEWAY_TIMEOUT, first_byte=idle, between_bytes=idle, total=self.integration_timeout),
            ]
        )


SENT_ONCE = ["P*", "DELETE", "OPTIONS"]
"""The methods that CloudFront does not send again: POST, PUT, PATCH and these."""


def asked_again(wait: float, times: int) -> Plain:
    """What CloudFront does with a GET or HEAD that has no answer in time; the last try ends with a 504 of its own."""
    again = {"on": "timeout", "times": times, "timeout": time(wait), "methods": ["GET", "HEAD"]}
    return {"retry_upstream": again}


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFront(Preset):
    """CloudFront, in front of an origin of one's own."""

    name: ClassVar[str] = "aws-cloudfront"
    about: ClassVar[str] = (
        "Waits 30 s for the first byte, and 30 s for each next one. A GET that has no answer by then is sent again, three tries "
        "in all, each of which the origin works for; then there is a 504."
    )
    measured: ClassVar[str] = NOT_MEASURED
    not_measured: ClassVar[str] = "Its cache, its coding, its headers, the keep-alive towards the origin."
    sources: ClassVar[Sequence[Source]] = Figures("aws", "aws-cloudfront")

    origin_response_timeout: Duration = 30.0
    """`OriginReadTimeout`: how long until the first byte, and between any two. Default 30s."""
    response_completion_timeout: Duration | None = None
    """`ResponseCompletionTimeout`: how long until the answer is complete. Default: no limit."""
    connection_attempts: Count = 3
    """`ConnectionAttempts`: how often a GET or HEAD is tried; once where other hops stand nearer the server, since only the
    first can ask again. Default 3."""

    def faults(self) -> list[Plain]:
        if self.connection_attempts == 1:
            return self.behind()
        again = asked_again(self.origin_response_timeout, self.connection_attempts - 1)
        return [again, *self._limits(SENT_ONCE)]

    def behind(self) -> list[Plain]:
        return self._limits(None)

    def _limits(self, methods: list[str] | None) -> list[Plain]:
        """With the limit on the first byte for these alone, or for all."""
        late, wait = page(504, "Gateway Timeout"), self.origin_response_timeout
        return those(
            [
                limits(late, first_byte=wait, methods=methods),
                limits(late, between_bytes=wait, total=self.response_completion_timeout),
                {"headers": {"remove": "trailer"}},
            ]
        )

    def problems(self) -> list[tuple[str, str]]:
        most = self.response_completion_timeout
        if most is not None and most < self.origin_response_timeout:
            return [("response_completion_timeout", "it must not be shorter than `origin_response_timeout`")]
        return []


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaUrl(Preset):
    """The URL of a Lambda function."""

    name: ClassVar[str] = "aws-lambda-url"
    about: ClassVar[str] = (
        "Streams, after 6 MB at 2 MB/s, up to 200 MB. A client that leaves stops nothing: the function runs to its end."
    )
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("aws", "aws-lambda-url")

    invoke_mode: Literal["RESPONSE_STREAM", "BUFFERED"] = "RESPONSE_STREAM"
    """`InvokeMode`: whether an answer is streamed, or passed on whole. Default RESPONSE_STREAM."""
    timeout: Duration | None = None
    """The time-out of the function, up to 15m. Default: no limit, for each function has its own."""
    payload_limit: Size | None = None
    """The largest answer. Default 200MiB, with `BUFFERED` 6MiB."""

    def faults(self) -> list[Plain]:
        streams = self.invoke_mode == "RESPONSE_STREAM"
        most = (200 if streams else 6) * MB if self.payload_limit is None else self.payload_limit
        return those(
            [
                RUNS_ON,
                *([at_most(most), throttled(2 * MB, 6 * MB)] if streams else whole_or(BAD_GATEWAY, most)),
                limits(answer(504, '{"Message": null}', "application/json"), total=self.timeout),
            ]
        )


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class AppRunner(Preset):
    """App Runner's own balancer."""

    name: ClassVar[str] = "aws-apprunner"
    about: ClassVar[str] = "Ends every exchange after 120 s, in full flow; heartbeats do not help."
    measured: ClassVar[str] = NOT_MEASURED
    sources: ClassVar[Sequence[Source]] = Figures("aws", "aws-apprunner")

    request_timeout: Duration = 120.0
    """How long a request may take, its answer written. Default 120s; it cannot be changed."""

    def faults(self) -> list[Plain]:
        return those([limits(page(503, "Service Unavailable"), total=self.request_timeout)])
