"""Presets of managed hops, each with each of its rules, in virtual time: when it fires, and what its client sees of that over
HTTP/1.1 and over HTTP/2; and what keeps it from firing.
"""

import pytest
import trio

from chaosproxy.testing.peers import Origin, Pause
from chaosproxy.testing.proxied import linked
from tests.presets.managed import EVENT, LAST, MUTE, PING, SILENT, Row, Seen, beats, hop, large, late, over_h1, over_h2
from tests.virtual.shipped import SSE

EDGE = {"endpoint_type": "EDGE"}
STREAM = {"do_stream": True}
ROWS = [
    # One timer for the first byte and for the next ones, which any byte of a body starts anew.
    Row("aws-alb", MUTE, "clean", 60, 504),
    Row("aws-alb", SILENT, "abort", 60),
    Row("aws-alb", late(50), "abort", 110),
    Row("aws-alb", beats(55, 220), "clean", 220),
    Row("aws-alb", [SSE, EVENT, *[Pause(50), PING] * 4, LAST], "clean", 200),
    Row("aws-alb", MUTE, "clean", 5, 504, {"idle_timeout": "5s"}),
    Row("aws-cloudfront", SILENT, "abort", 30),
    Row("aws-cloudfront", MUTE, "clean", 30, 504, method="POST"),
    Row("aws-cloudfront", MUTE, "clean", 90, 504),
    Row("aws-cloudfront", MUTE, "clean", 30, 504, {"connection_attempts": 1}),
    Row("aws-cloudfront", beats(25, 100), "clean", 100),
    Row("aws-cloudfront", beats(25, 100), "abort", 60, 200, {"response_completion_timeout": "60s"}),
    Row("cloudflare", MUTE, "clean", 125, 524),
    Row("cloudflare", SILENT, "abort", 125),
    Row("cloudflare", beats(120, 480), "clean", 480),
    Row("cloudflare", MUTE, "clean", 100, 524, {"proxy_read_timeout": "100s"}),
    Row("azure-appgw", MUTE, "clean", 20, 504),
    Row("azure-appgw", SILENT, "abort", 20, 200, {"enable_response_buffering": False}),
    Row("azure-appgw", beats(15, 60), "clean", 60, 200, {"enable_response_buffering": False}),
    Row("azure-appservice", MUTE, "abort", 230, None),
    Row("azure-appservice", SILENT, "abort", 230),
    Row("azure-appservice", beats(200, 800), "clean", 800),
    Row("kubernetes-ingress", MUTE, "clean", 60, 504),
    Row("kubernetes-ingress", SILENT, "abort", 60),
    Row("kubernetes-ingress", beats(55, 220), "clean", 220),
    Row("istio", MUTE, "clean", 300, 504),
    Row("istio", beats(250, 1000), "clean", 1000),
    # A patience of its own for the first byte.
    Row("fastly", MUTE, "clean", 15, 503),
    Row("fastly", late(14), "clean", 24),
    Row("fastly", SILENT, "clean", 10, 200, STREAM),
    Row("fastly", beats(9, 45), "clean", 45, 200, STREAM),
    Row("fastly", beats(9, 45), "clean", 20, 200, {**STREAM, "fetch_timeout": "20s"}),
    Row("fastly", MUTE, "clean", 10, 503, {"fetch_timeout": "10s"}),
    Row("akamai", MUTE, "clean", 20, 504),
    Row("akamai", late(19), "abort", 24),
    Row("akamai", SILENT, "abort", 5),
    Row("akamai", beats(4, 40), "clean", 40),
    Row("azure-frontdoor", MUTE, "clean", 30, 504),
    Row("azure-frontdoor", [*SILENT[:2], Pause(5000), LAST], "clean", 5000),
    Row("azure-frontdoor", SILENT, "abort", 90, 200, {"idle_timeout": "90s"}),
    Row("heroku", MUTE, "clean", 30, 503),
    Row("heroku", late(29), "abort", 84),
    Row("heroku", beats(50, 200), "clean", 200),
    Row("vercel-edge", MUTE, "clean", 25, 504),
    Row("vercel-edge", [*SILENT[:2], Pause(5000), LAST], "clean", 5000),
    Row("vercel-edge", beats(10, 400), "abort", 300, 200, {"max_duration": "300s"}),
    Row("netlify-edge", MUTE, "clean", 40, 504),
    Row("netlify-edge", [*SILENT[:2], Pause(5000), LAST], "clean", 5000),
    # The whole exchange, however lively it is.
    Row("gcp-alb", MUTE, "clean", 30, 504),
    Row("gcp-alb", beats(1, 60), "abort", 30),
    Row("gcp-alb", beats(60, 600), "clean", 600, 200, {"timeout_sec": "1h"}),
    Row("gcp-cloudrun", MUTE, "clean", 300, 504),
    Row("gcp-cloudrun", beats(10, 600), "abort", 300),
    Row("aws-apprunner", MUTE, "clean", 120, 503),
    Row("aws-apprunner", beats(10, 200), "abort", 120),
    Row("vercel", MUTE, "clean", 300, 504),
    Row("vercel", beats(10, 400), "abort", 300),
    Row("vercel", SILENT, "abort", 35, 200, {"idle_timeout": "35s"}),
    Row("netlify", MUTE, "clean", 60, 504),
    Row("netlify", beats(10, 100), "abort", 60),
    Row("railway", MUTE, "clean", 900, 502),
    Row("railway", beats(60, 1200), "abort", 900),
    Row("railway", SILENT, "abort", 300, 200, {"idle_timeout": "5m"}),
    Row("render", MUTE, "clean", 6000, 502),
    Row("render", beats(200, 8000), "abort", 6000),
    Row("aws-lambda-url", MUTE, "clean", 900, 504, {"timeout": "15m"}),
    Row("aws-lambda-url", beats(60, 1200), "abort", 900, 200, {"timeout": "15m"}),
    Row("aws-lambda-url", beats(60, 1200), "clean", 1200),
    Row("aws-apigw-stream", MUTE, "clean", 300, 504),
    Row("aws-apigw-stream", SILENT, "abort", 300),
    Row("aws-apigw-stream", SILENT, "abort", 30, 200, EDGE),
    Row("aws-apigw-stream", beats(25, 100), "clean", 100, 200, EDGE),
    Row("aws-apigw-stream", beats(60, 1200), "abort", 900),
    # Nothing before all of it has come.
    Row("aws-apigw-rest", MUTE, "clean", 29, 504),
    Row("aws-apigw-rest", beats(1, 60), "clean", 29, 504),
    Row("aws-apigw-rest", beats(5, 25), "clean", 25, head=25),
    Row("azure-appgw", beats(5, 50), "clean", 50, head=50),
    Row("fastly", beats(5, 50), "clean", 50, head=50),
    Row("fly", SILENT, "silence"),
    Row("fly", MUTE, "clean", 60, 500, {"idle_timeout": "60s"}),
    Row("fly", SILENT, "abort", 60, 200, {"idle_timeout": "60s"}),
    Row("aws-lambda-url", beats(5, 50), "clean", 50, 200, {"invoke_mode": "BUFFERED"}, head=50),
    # No more than so much.
    Row("aws-apigw-rest", large(1025), "clean", 0, 502, {"payload_limit": 1024}),
    Row("aws-alb", large(1024 * 1024 + 1), "clean", 0, 502, {"target_type": "lambda"}),
    Row("aws-alb", beats(5, 50), "clean", 50, 200, {"target_type": "lambda"}, head=50),
    Row("aws-apigw-rest", large(1024), "clean", 0, 200, {"payload_limit": 1024}),
    Row("aws-lambda-url", large(1025), "abort", 0, 200, {"payload_limit": 1024}),
    Row("aws-lambda-url", large(1025), "clean", 0, 502, {"invoke_mode": "BUFFERED", "payload_limit": 1024}),
    Row("netlify", large(1025), "abort", 0, 200, {"streamed_payload": 1024}),
    # No faster than so much.
    Row("aws-apigw-stream", large(640 * 1024), "clean", 0.25, 200, {"unthrottled": "128KiB"}),
    # Connections that are forgotten.
    Row("aws-nlb", MUTE, "silence", None, None),
    Row("aws-nlb", SILENT, "silence"),
    Row("aws-nlb", [SSE, EVENT, Pause(360), EVENT, LAST], "silence"),
    Row("aws-nlb", beats(340, 1020), "clean", 1020),
    Row("azure-lb", MUTE, "silence", None, None),
    Row("azure-lb", [SSE, EVENT, Pause(250), EVENT, LAST], "silence"),
    Row("azure-lb", beats(230, 690), "clean", 690),
    Row("azure-lb", MUTE, "rst", 240, None, {"enable_tcp_reset": True}),
    Row("azure-lb", SILENT, "rst", 240, 200, {"enable_tcp_reset": True}),
    Row("azure-apim", [SSE, EVENT, Pause(250), EVENT, LAST], "silence"),
    Row("azure-apim", MUTE, "clean", 200, 504, {"forward_request_timeout": "200s"}),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_what_a_client_sees(row, autojump_clock):
    seen: dict[str, Seen] = {}

    async def one(over) -> None:
        seen[over.__name__] = await over(row, proxied)

    async with linked(hop(row), Origin(row.script).serve) as proxied, trio.open_nursery() as nursery:
        nursery.start_soon(one, over_h1)
        nursery.start_soon(one, over_h2)
    for found in seen.values():
        assert (found.status, found.how) == (row.status, row.how), seen
        if row.how != "silence":
            assert found.at == pytest.approx(row.at, abs=0.02), seen
        if row.head is not None:
            assert found.head == row.head, seen
    assert set(seen) == {"over_h1", "over_h2"}
