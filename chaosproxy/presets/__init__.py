"""The presets, one family of machines a file: real proxies and balancers, said with the ordinary faults.

Importing this package makes them known to `presets.preset.PRESETS`. Rules: a preset's parameters have the vendor's own names
and values; one that is another machine with other defaults derives from its preset. Must not know: the scenario's text, faults.
"""

from chaosproxy.presets import (
    apache,
    aws,
    azure,
    caddy,
    edges,
    envoy,
    google,
    h2o,
    haproxy,
    kubernetes,
    lighttpd,
    nghttpx,
    nginx,
    platforms,
    squid,
    traefik,
    varnish,
)

__all__ = [
    "apache",
    "aws",
    "azure",
    "caddy",
    "edges",
    "envoy",
    "google",
    "h2o",
    "haproxy",
    "kubernetes",
    "lighttpd",
    "nghttpx",
    "nginx",
    "platforms",
    "squid",
    "traefik",
    "varnish",
]
