"""What stands in front of servers in a Kubernetes cluster: the ingress controller of nginx.

It is nginx with other defaults, and so is its preset; parameters are the keys of its ConfigMap, with `_` for `-`. Must not know:
how nginx behaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.model.units import Duration
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
    keep_alive: Duration = 75.0
    """How long a client's connection on which nothing runs is kept. Default 75s."""

    def alone(self) -> Plain:
        return {"upstream": {"protocol": "http/1.1"}, **of_clients(kept(self.keep_alive))}
