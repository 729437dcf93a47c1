"""What stands in front of servers in a Kubernetes cluster: the ingress controller of nginx, a mesh of Envoys.

They are nginx and Envoy with other defaults, and so are their presets; of the controller the parameters are the keys of its
ConfigMap, with `_` for `-`. Must not know: how these two behave.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration
from chaosproxy.presets.envoy import Envoy140
from chaosproxy.presets.figures import Figures
from chaosproxy.presets.managed import kept, of_clients
from chaosproxy.presets.nginx import Nginx
from chaosproxy.presets.preset import Plain, Source, Switch, preset


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesIngress(Nginx):
    """ingress-nginx, as it is installed."""

    name: ClassVar[str] = "kubernetes-ingress"
    about: ClassVar[str] = (
        "ingress-nginx with its defaults: passes each event as it is read, and gives the server 60 s between any two reads: "
        "before the head a 504, in mid-stream a cut."
    )
    measured: ClassVar[str] = "nginx by itself (see nginx-1.22 and nginx-1.31), not the controller."
    not_measured: ClassVar[str] = "Other endpoints that are tried, reloads, the headers that the controller adds."
    sources: ClassVar[Sequence[Source]] = Figures("kubernetes", "kubernetes-ingress")
    server: ClassVar[str] = "nginx"

    proxy_buffering: Switch = "off"
    """Whether what the server sends may wait in buffers. Default off."""
    proxy_read_timeout: Duration = 60.0
    """The longest time between two reads from the server. Default 60s."""
    server_tokens: Switch = "off"
    """Whether the Server field, and error pages, tell the version. Default off."""
    keep_alive: Duration = 75.0
    """How long a client's connection on which nothing runs is kept. Default 75s."""

    def alone(self) -> Plain:
        return {"upstream": {"protocol": "http/1.1"}, **of_clients(kept(self.keep_alive))}


@preset
@dataclass(frozen=True, slots=True, kw_only=True)
class Istio(Envoy140):
    """A sidecar or a gateway of Istio, as it is installed."""

    name: ClassVar[str] = "istio"
    about: ClassVar[str] = (
        "Envoy as Istio sets it up: each event passes as it is read, the answer may take as long as it likes, and a silence of "
        "5 min ends it."
    )
    measured: ClassVar[str] = "Envoy by itself (see envoy-1.40), not Istio."
    not_measured: ClassVar[str] = "Its retries, its circuit breakers, the headers that it adds."
    sources: ClassVar[Sequence[Source]] = Figures("kubernetes", "istio")

    timeout: Duration = 0.0
    """Of a VirtualService's route: from the end of the request to the end of the answer; 0: none. Default 0s."""
    stream_idle_timeout: Duration = 300.0
    """The longest silence of a stream; 0: none. Default 5m."""
