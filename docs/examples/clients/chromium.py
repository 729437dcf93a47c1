"""Chromium's fetch and its EventSource, on a page that tells what came: python chromium.py fetch|eventsource [SECONDS].

The time-out of fetch is one for everything, EventSource has none.
"""

import os
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlencode

FLAGS = [
    *("--headless", "--no-sandbox", "--no-first-run", "--no-proxy-server", "--disable-gpu", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    *("--disable-web-security", "--disable-features=LocalNetworkAccessChecks"),  # the page is from another origin
    "--ignore-certificate-errors",
]
PAGE = Path(__file__).with_suffix(".html").read_bytes()


class Page(BaseHTTPRequestHandler):
    """The page, and what it tells."""

    told = None

    def do_GET(self):
        self.reply(PAGE)

    def do_POST(self):
        Page.told = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.reply(b"")

    def reply(self, content):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


with HTTPServer(("127.0.0.1", 0), Page) as server, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    asked = {"how": sys.argv[1], "url": os.environ.get("CHAOSPROXY_URL", "http://127.0.0.1:8666")}
    asked |= {"seconds": sys.argv[2]} if len(sys.argv) > 2 else {}
    page = f"http://127.0.0.1:{server.server_port}/?{urlencode(asked)}"
    program = [os.environ.get("CHROMIUM", "chromium"), *FLAGS, f"--user-data-dir={profile}", page]
    with subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=sys.stderr) as browser:
        while Page.told is None and browser.poll() is None:
            server.timeout = 1
            server.handle_request()
        browser.terminate()
print(Page.told, flush=True)
