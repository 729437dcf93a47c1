"""`chaosproxy healthcheck [URL]`: exit status 0 if a proxy accepts connections there.

Without URL it asks where `run` would listen in the same environment, so that a container needs to say so only once.
"""

import socket

import click

from chaosproxy.cli.run import LISTEN
from chaosproxy.model.shown import message
from chaosproxy.proxy.address import parse_listen, parse_upstream

TIMEOUT = 2.0
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, never bound
"""Where one that listens everywhere is asked."""


@click.command("healthcheck")
@click.argument("url", required=False)
@click.option("--listen", envvar="CHAOSPROXY_LISTEN", default=LISTEN, hidden=True)
def command(url: str | None, listen: str) -> int:
    """Exit 0 if something accepts connections at URL, 1 if not. Default: the first of CHAOSPROXY_LISTEN, else
    http://127.0.0.1:8666."""
    if url is None:
        host, port = parse_listen((listen.split() or [LISTEN])[0])
        address = (LOOPBACK.get(host, host), port)
    else:
        upstream = parse_upstream(url if "://" in url else f"http://{url}", "URL")
        address = (upstream.host, upstream.port)
    try:
        with socket.create_connection(address, timeout=TIMEOUT):
            return 0
    except OSError as error:
        where = url or "{}:{}".format(*address)
        said = f"chaosproxy: nothing accepts connections at {where}: {error.strerror or error}"
        click.echo(message(said), err=True)
        return 1
