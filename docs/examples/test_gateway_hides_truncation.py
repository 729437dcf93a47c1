"""An engine dies in the middle of an answer. Between it and the client stands a gateway that passes lines on: the one of
many tutorials ends its own answer as if all were well, and no client behind it can know.

Two proxies: one between gateway and engine breaks the answer, one in front of the gateway judges what comes of it.
"""

import http.server
import threading
import urllib.request

import openai
import pytest

DIES = {"version": 1, "name": "dies", "faults": [{"cut": {"at": {"event": 3}}}]}
TOLD = {"version": 1, "name": "told", "expect": [{"ended": {"by": "upstream", "how": "fin"}}]}
QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": True}


class Gateway(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    careful = False

    def do_POST(self):
        question = self.rfile.read(int(self.headers["content-length"]))
        asked = urllib.request.Request(self.server.engine + self.path, question, {"content-type": "application/json"})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        complete = False
        with urllib.request.urlopen(asked) as answer:
            for line in answer:  # which ends, without a word, where the connection does
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                complete = complete or line.startswith(b"data: [DONE]")
        if complete or not self.careful:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True  # no last chunk: this answer is not whole

    def log_message(self, *_):
        pass


class CarefulGateway(Gateway):
    careful = True


@pytest.fixture
def serve(chaosproxy_factory):
    servers = []

    def start(handler):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        server.engine = chaosproxy_factory(DIES).url
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        return chaosproxy_factory(TOLD, upstream=f"http://127.0.0.1:{server.server_address[1]}")

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def read(front):
    with openai.OpenAI(base_url=f"{front.url}/v1", api_key="none", max_retries=0) as client:
        return [part.choices[0].delta.content for part in client.chat.completions.create(**QUESTION)]


def test_a_careful_gateway_hands_the_failure_on(serve):
    with pytest.raises(openai.APIConnectionError):
        read(serve(CarefulGateway))


@pytest.mark.chaosproxy(judge=False)  # else the test would fail, as it should
def test_the_usual_one_hides_it(serve):
    front = serve(Gateway)
    assert len(read(front)) == 3, "three words of eight, and no error"
    front.settle()
    assert not front.verdict().good
