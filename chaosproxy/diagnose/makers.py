"""Who a hop is, as far as it says so: by the fields that it has put into the answer.

Rules: pure; a field that the hop inside has sent already says nothing of this one. Who says nothing stays unknown. Must
not know: what the maker's machine does.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from chaosproxy.client.answer import Answer
from chaosproxy.model.headers import values
from chaosproxy.model.shown import shown


class Maker(StrEnum):
    """The usual ones."""

    NGINX = "nginx"
    HAPROXY = "HAProxy"
    APACHE = "Apache"
    CADDY = "Caddy"
    ENVOY = "Envoy"
    TRAEFIK = "Traefik"
    VARNISH = "Varnish"
    SQUID = "Squid"
    LIGHTTPD = "lighttpd"
    H2O = "h2o"
    NGHTTPX = "nghttpx"
    IIS = "IIS"
    CLOUDFLARE = "Cloudflare"
    CLOUDFRONT = "CloudFront"
    FASTLY = "Fastly"
    AKAMAI = "Akamai"
    API_GATEWAY = "API Gateway"
    GOOGLE = "Google's load balancer"
    APPLICATION = "the application"
    UNKNOWN = ""


_SIGNS: tuple[tuple[str, str, Maker], ...] = (
    ("cf-ray", "", Maker.CLOUDFLARE),
    ("x-amz-cf-id", "", Maker.CLOUDFRONT),
    ("x-amz-apigw-id", "", Maker.API_GATEWAY),
    ("apigw-requestid", "", Maker.API_GATEWAY),
    ("x-served-by", r"\bcache-", Maker.FASTLY),
    ("x-akamai-request-id", "", Maker.AKAMAI),
    ("x-varnish", "", Maker.VARNISH),
    ("x-envoy-upstream-service-time", "", Maker.ENVOY),
    ("via", r"caddy", Maker.CADDY),
    ("via", r"varnish", Maker.VARNISH),
    ("via", r"squid", Maker.SQUID),
    ("via", r"nghttpx", Maker.NGHTTPX),
    ("via", r"cloudfront", Maker.CLOUDFRONT),
    ("via", r"^1\.1 google", Maker.GOOGLE),
    ("server", r"^(?:nginx|openresty|tengine)", Maker.NGINX),
    ("server", r"^apache", Maker.APACHE),
    ("server", r"^caddy", Maker.CADDY),
    ("server", r"^envoy|^istio", Maker.ENVOY),
    ("server", r"^squid", Maker.SQUID),
    ("server", r"^lighttpd", Maker.LIGHTTPD),
    ("server", r"^h2o", Maker.H2O),
    ("server", r"^nghttpx", Maker.NGHTTPX),
    ("server", r"^cloudflare", Maker.CLOUDFLARE),
    ("server", r"^microsoft-iis", Maker.IIS),
    (
        "server",
        r"uvicorn|hypercorn|gunicorn|granian|daphne|werkzeug|waitress|python|tornado|kestrel|puma|jetty|tomcat",
        Maker.APPLICATION,
    ),
    ("x-powered-by", "", Maker.APPLICATION),
)
"""A field's name, what stands in its value, and whose it is; whoever is sure comes first."""
HINTS = (
    "server", "via", "x-powered-by", "x-cache", "age", "cache-control", "x-accel-buffering", "content-type",
    "content-length", "content-encoding", "transfer-encoding", "connection", "vary",
)  # fmt: skip
"""Fields that say something of what becomes of a stream."""

_OF_THE_CONNECTION = frozenset({b"transfer-encoding", b"connection", b"keep-alive", b"content-length"})


@dataclass(frozen=True, slots=True)
class Known:
    """Who it is."""

    maker: Maker
    says: str = ""
    """In its own words, with the version if it tells."""
    why: str = ""
    """By what it is known."""


def known(answer: Answer, inside: Answer | None) -> Known:
    """By what is in `answer`, and was not in that of the hop inside, whatever its value was there."""
    for field, pattern, maker in _SIGNS:
        found = _matching(answer, field, pattern)
        if found and (inside is None or not _matching(inside, field, pattern)):
            value = shown(found[0])
            return Known(maker, value if field == "server" else maker.value, f"{field}: {value}")
    return _by_spelling(answer, inside)


def _matching(answer: Answer, field: str, pattern: str) -> list[str]:
    said = (value.decode("latin-1") for value in values(answer.headers, field.encode()))
    return [text for text in said if re.search(pattern, text, re.IGNORECASE)]


def _by_spelling(answer: Answer, inside: Answer | None) -> Known:
    """HAProxy adds nothing and writes every name in small letters."""
    if inside is None or answer.protocol == "h2" or inside.protocol == "h2":
        return Known(Maker.UNKNOWN)
    names, before = _own_names(answer), _own_names(inside)
    lower = {name.lower() for name in before}
    if names and names <= lower and before != lower:
        return Known(Maker.HAPROXY, Maker.HAPROXY.value, "adds no field, and writes their names in small letters")
    return Known(Maker.UNKNOWN)


def _own_names(answer: Answer) -> set[bytes]:
    """Of its fields, but for those of the connection, which every hop writes for itself."""
    return {name for name, _ in answer.headers if name.lower() not in _OF_THE_CONNECTION}


def hints(answer: Answer) -> dict[str, str]:
    """Those fields of an answer that say something of its stream."""
    found = {
        name: ", ".join(value.decode("latin-1") for value in values(answer.headers, name.encode())) for name in HINTS
    }
    return {name: said for name, said in found.items() if said}
