"""`chaosproxy healthcheck [URL]`: exit status 0 if a proxy accepts connections there."""

import socket

import click

from chaosproxy.proxy.address import parse_upstream

TIMEOUT = 2.0


@click.command("healthcheck")
@click.argument("url", default="http://127.0.0.1:8666")
def command(url: str) -> int:
    """Exit 0 if something accepts connections at URL, 1 if not."""
    address = parse_upstream(url if "://" in url else f"http://{url}")
    try:
        with socket.create_connection((address.host, address.port), timeout=TIMEOUT):
            return 0
    except OSError as error:
        click.echo(f"chaosproxy: {url}: {error.strerror or error}", err=True)
        return 1
