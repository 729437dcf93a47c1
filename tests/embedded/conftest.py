"""An upstream in a thread, for tests that are no Trio program: a stream of server-sent events."""

import contextlib
import http.server
import threading
from collections.abc import Iterator

import pytest

EVENT = b"data: %d\n\n"


class Stream(http.server.BaseHTTPRequestHandler):
    """`/N`: N events; `/forever`: one, and then silence until the client leaves."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        forever = self.path == "/forever"
        for number in range(1 if forever else int(self.path[1:])):
            self._chunk(EVENT % number)
        if forever:
            self.connection.settimeout(60)
            self.connection.recv(1)
            self.close_connection = True
        else:
            self._chunk(b"")

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that leaves is no error


@contextlib.contextmanager
def served() -> Iterator[str]:
    with Server(("127.0.0.1", 0), Stream) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def upstream():
    with served() as url:
        yield url
