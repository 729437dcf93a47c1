"""What is compared: of each program some settings, of each setting some rules.

A setting is written twice, as the program reads it and as its preset does; "" is the program's defaults.
"""

from tests.differential.programs import ENVOY_GZIP
from tests.differential.rows import Peer, Setting
from tests.differential.rules import EACH_WAY, LEAVING, SILENT

H1 = ("h1",)
GZIP = ("chunked, events of 600 bytes, gzip accepted",)
STALL = ("client does not read",)
LONG_STALL = ("client does not read for long",)
HALF = ("client half-closes",)
HINT = ("close-delimited, X-Accel-Buffering: no",)
TEXT = ("length, text/plain",)
SPARSE = ("chunked, 2 events a second",)
BREAKS = tuple(f"{framing}, upstream {how}" for framing in ("chunked", "close-delimited") for how in ("FIN", "RST"))
PATTERNS = ("chunked: head", "chunked", "close-delimited", "length")
ALL = (
    *EACH_WAY,
    *LEAVING,
    *HALF,
    *STALL,
    "request to the upstream",
    "fields of the head",
    "chunked, as fast as it is taken",
)


def _peer(name: str, *settings: Setting) -> Peer:
    return Peer(name, {one.name: one for one in settings})


_11 = 'proxy_http_version 1.1; proxy_set_header Connection "";\n'
_NGINX = (
    Setting("default", "", {}, (*ALL, *HINT)),
    Setting(
        "proxy_buffering off",
        f"{_11}proxy_buffering off;",
        {"proxy_http_version": "1.1", "proxy_buffering": "off"},
        (*EACH_WAY, *LEAVING, *STALL),
    ),
    Setting(
        "proxy_read_timeout 1s",
        f"{_11}proxy_read_timeout 1s;",
        {"proxy_http_version": "1.1", "proxy_read_timeout": "1s"},
        (*SILENT, "close-delimited, silent after 8 events"),
    ),
    Setting(
        "postpone_output 0",
        f"{_11}postpone_output 0;",
        {"proxy_http_version": "1.1", "postpone_output": 0},
        ("chunked: head",),
        H1,
    ),
    Setting(
        "proxy_max_temp_file_size 0",
        f"{_11}proxy_max_temp_file_size 0;",
        {"proxy_http_version": "1.1", "proxy_max_temp_file_size": 0},
        STALL,
    ),
    Setting(
        "proxy_buffers 8 1k",
        f"{_11}proxy_buffer_size 1k; proxy_buffers 8 1k; proxy_busy_buffers_size 2k;",
        {"proxy_http_version": "1.1", "proxy_buffer_size": "1k", "proxy_buffers": "8 1k"},
        PATTERNS,
        H1,
    ),
    Setting(
        "gzip on",
        f"{_11}gzip on; gzip_types text/event-stream;",
        {"proxy_http_version": "1.1", "gzip": "on", "gzip_types": "text/event-stream"},
        (*GZIP, "chunked"),
    ),
    Setting(
        "gzip on, proxy_buffering off",
        f"{_11}gzip on; gzip_types text/event-stream; proxy_buffering off;",
        {"proxy_http_version": "1.1", "gzip": "on", "gzip_types": "text/event-stream", "proxy_buffering": "off"},
        GZIP,
    ),
    Setting(
        "proxy_ignore_client_abort on",
        f"{_11}proxy_ignore_client_abort on;",
        {"proxy_http_version": "1.1", "proxy_ignore_client_abort": "on"},
        (*LEAVING, *HALF),
    ),
    Setting(
        "send_timeout 1s, proxy_buffering off",
        f"{_11}send_timeout 1s; proxy_buffering off;",
        {"proxy_http_version": "1.1", "send_timeout": "1s", "proxy_buffering": "off"},
        LONG_STALL,
    ),
)
_LOOPBACK = {"segment": 65483}
"""What a segment holds where the two are one machine."""
_HAPROXY = (
    Setting("default", "", _LOOPBACK, (*ALL, *SPARSE)),
    Setting(
        "option http-no-delay",
        "option http-no-delay",
        {"http_no_delay": True},
        ("chunked: head", "chunked", "length"),
        H1,
    ),
    Setting("timeout server 1s", "timeout server 1s", {**_LOOPBACK, "timeout_server": "1s"}, (*SILENT, LEAVING[1])),
    Setting(
        "timeout client 1s", "timeout client 1s", {**_LOOPBACK, "timeout_client": "1s"}, (*LONG_STALL, "chunked: head")
    ),
    Setting("option abortonclose", "option abortonclose", {**_LOOPBACK, "abortonclose": True}, (*LEAVING, *HALF)),
    Setting(
        "compression algo gzip",
        "compression algo gzip\ncompression type text/event-stream",
        {**_LOOPBACK, "compression_algo": "gzip", "compression_type": "text/event-stream"},
        GZIP,
    ),
)
_CADDY = (
    Setting("default", "", {}, (*ALL, *TEXT)),
    Setting(
        "flush_interval 300ms",
        "reverse_proxy UPSTREAM {\n flush_interval 300ms\n}",
        {"flush_interval": "300ms"},
        ("chunked", *TEXT),
        H1,
    ),
    Setting(
        "flush_interval -1",
        "reverse_proxy UPSTREAM {\n flush_interval -1\n}",
        {"flush_interval": "-1"},
        (*TEXT, *LEAVING),
        H1,
    ),
    Setting("encode gzip", "encode gzip", {"encode": "gzip"}, GZIP),
    Setting(
        "read_timeout 1s",
        "reverse_proxy UPSTREAM {\n transport http {\n read_timeout 1s\n }\n}",
        {"read_timeout": "1s"},
        SILENT,
    ),
)

PEERS: dict[str, Peer] = {
    one.name: one
    for one in (
        _peer("nginx-1.22", *_NGINX),
        _peer("nginx-1.31", *_NGINX),
        _peer("haproxy-2.6", *_HAPROXY),
        _peer("haproxy-2.8", *_HAPROXY),
        _peer(
            "apache-2.4",
            Setting("default", "", {}, ALL),
            Setting(
                "mod_deflate",
                "AddOutputFilterByType DEFLATE text/event-stream",
                {"AddOutputFilterByType": "text/event-stream"},
                GZIP,
            ),
            Setting("ProxyTimeout 1", "ProxyTimeout 1", {"ProxyTimeout": "1s"}, (*SILENT, LEAVING[1])),
        ),
        _peer("caddy-2.6", *_CADDY),
        _peer("caddy-2.11", *_CADDY),
        _peer(
            "traefik-3",
            Setting("default", "", {}, (*ALL, *TEXT)),
            Setting(
                "flushInterval 1s",
                "service: {responseForwarding: {flushInterval: 1s}}",
                {"flushInterval": "1s"},
                TEXT,
                H1,
            ),
            Setting(
                "responseHeaderTimeout 1s",
                "transport: {forwardingTimeouts: {responseHeaderTimeout: 1s}}",
                {"responseHeaderTimeout": "1s"},
                SILENT[:1],
            ),
            Setting("compress", "middleware: {compress: {}}", {"compress": True}, GZIP),
            Setting(
                "buffering",
                "middleware: {buffering: {memResponseBodyBytes: 1048576}}",
                {"buffering": True},
                (*PATTERNS, *BREAKS, *LEAVING),
            ),
        ),
        _peer(
            "envoy-1.40",
            Setting("default", "", {}, ALL),
            Setting("timeout 1s", "route: {timeout: 1s}", {"timeout": "1s"}, (*SILENT, "chunked")),
            Setting(
                "stream_idle_timeout 1s",
                "hcm: {stream_idle_timeout: 1s}\nroute: {timeout: 0s}",
                {"stream_idle_timeout": "1s", "timeout": "0s"},
                (*SILENT, *LONG_STALL),
            ),
            Setting(
                "max_stream_duration 1s",
                "hcm: {common_http_protocol_options: {max_stream_duration: 1s}}\nroute: {timeout: 0s}",
                {"max_stream_duration": "1s", "timeout": "0s"},
                SILENT,
            ),
            Setting("compressor", ENVOY_GZIP, {"compressor": "gzip", "timeout": "0s"}, GZIP),
        ),
        _peer(
            "varnish-7",
            Setting("pass", "", {}, ALL),
            Setting(
                "do_stream = false",
                "response: set beresp.do_stream = false;",
                {"do_stream": False},
                (*PATTERNS, *BREAKS, *LEAVING),
            ),
            Setting("do_gzip = true", "response: set beresp.do_gzip = true;", {"do_gzip": True}, GZIP),
            Setting("pipe", "receive: return (pipe);", {"pipe": True}, ("chunked", *BREAKS, *LEAVING), H1),
            Setting(
                "between_bytes_timeout 1s",
                'backend: ".between_bytes_timeout = 1s;"',
                {"between_bytes_timeout": "1s"},
                SILENT[1:],
            ),
            Setting(
                "first_byte_timeout 1s",
                'backend: ".first_byte_timeout = 1s;"',
                {"first_byte_timeout": "1s"},
                SILENT[:1],
            ),
        ),
        _peer(
            "lighttpd-1.4",
            Setting("default", "", {}, ALL),
            Setting(
                "stream-response-body = 1",
                "server.stream-response-body = 1",
                {"stream_response_body": 1},
                (*EACH_WAY, *LEAVING),
            ),
            Setting(
                "stream-response-body = 2, read-timeout 2",
                'server.stream-response-body = 2\n"read-timeout" => 2',
                {"stream_response_body": 2, "read_timeout": "2s"},
                (*SILENT, *STALL),
            ),
        ),
        _peer(
            "h2o-2.2",
            Setting("default", "", {}, ALL),
            Setting("proxy.timeout.io 1000", "proxy.timeout.io: 1000", {"proxy_timeout_io": "1s"}, SILENT),
        ),
        _peer(
            "nghttpx-1.52",
            Setting("default", "", {}, ALL),
            Setting("backend-read-timeout 1s", "--backend-read-timeout=1s", {"backend_read_timeout": "1s"}, SILENT),
        ),
        _peer(
            "squid-5",
            Setting("default", "", {}, ALL),
            Setting("read_timeout 2 seconds", "read_timeout 2 seconds", {"read_timeout": "2s"}, SILENT),
        ),
    )
}
"""All of them, by the name of the preset."""
