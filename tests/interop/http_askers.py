"""HTTP/2 clients with stacks of their own, or another way to use one: curl, nghttp, httpx (h2) and Node's http2."""

import json
import re
import ssl
from collections.abc import Awaitable, Callable, Sequence

import httpx
import trio

from tests.interop.asked import PING_EVERY, WAITS, Asked, in_threads, said
from tests.interop.conftest import find

AT_ONCE = 4
"""Programs that run at a time."""
NODE = """
import fs from "node:fs";
import http2 from "node:http2";
const [asked, every] = JSON.parse(process.argv[1]);
const ask = ({url, path, patience, ca, pings, upload}) => new Promise((say) => {
  const client = http2.connect(url, ca ? {ca: fs.readFileSync(ca)} : {});
  const over = (words) => { clearTimeout(timer); clearInterval(pinging); client.destroy(); say(words); };
  const why = (error) => over((/NGHTTP2_\\w+/.exec(error.message) ?? [error.code ?? error.message])[0]);
  const timer = setTimeout(() => over("waits"), patience * 1000);
  const pinging = pings ? setInterval(() => { if (!client.destroyed) client.ping(() => {}); }, every * 1000) : 0;
  client.on("error", why);
  const stream = client.request({":path": path, ":method": upload ? "POST" : "GET"});
  let body = "";
  stream.setEncoding("latin1");
  stream.on("data", (piece) => { body += piece; });
  stream.on("error", (error) => setTimeout(why, 50, error));  // what its session says is nearer to the reason
  stream.on("close", () => {
    const words = stream.rstCode ? `closed with code ${stream.rstCode}` : body.split("data: ").length - 1;
    setTimeout(over, 100, words);
  });
  if (upload) stream.end(fs.readFileSync(upload));
});
console.log(JSON.stringify(await Promise.all(asked.map(ask))));
process.exit(0);
"""


async def node(asked: Sequence[Asked]) -> list[str]:
    """All in one process."""
    told = [
        {
            "url": one.url,
            "path": f"/{one.name}",
            "patience": one.patience,
            "ca": one.ca and str(one.ca),
            "pings": one.pings,
            "upload": str(one.upload) if one.body else None,
        }
        for one in asked
    ]
    argv = [find("node"), "--input-type=module", "--eval", NODE, "--", json.dumps([told, PING_EVERY])]
    done = await trio.run_process(argv, capture_stdout=True, capture_stderr=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [said(one) if isinstance(one, int) else one for one in json.loads(done.stdout)]


async def _each(asked: Sequence[Asked], ask: Callable[[Asked], Awaitable[str]]) -> list[str]:
    found: dict[int, str] = {}
    free = trio.CapacityLimiter(AT_ONCE)

    async def one(number: int) -> None:
        async with free:
            found[number] = await ask(asked[number])

    async with trio.open_nursery() as nursery:
        for number in range(len(asked)):
            nursery.start_soon(one, number)
    return [found[number] for number in range(len(asked))]


async def _program(one: Asked, argv: Sequence[str]) -> tuple[int, bytes, str]:
    """Exit status, output and complaints; status -1 where it had to be stopped."""
    with trio.move_on_after(one.patience):
        done = await trio.run_process(argv, capture_stdout=True, capture_stderr=True, check=False)
        return done.returncode, done.stdout, done.stderr.decode()
    return -1, b"", ""


async def curl(asked: Sequence[Asked]) -> list[str]:
    """`curl`, over HTTP/2 alone where there is no TLS that could choose."""

    async def ask(one: Asked) -> str:
        speak = ["--http2", "--cacert", str(one.ca)] if one.ca else ["--http2-prior-knowledge"]
        body = ["--data-binary", f"@{one.upload}", "-H", "Expect:"] if one.body else []
        argv = [find("curl"), "-sS", "-N", "--noproxy", "*", *speak, *body, f"{one.url}/{one.name}"]
        status, output, _ = await _program(one, argv)
        if status < 0:
            return WAITS
        return f"error {status}" if status else said(output.count(b"data: "))

    return await _each(asked, ask)


async def nghttp(asked: Sequence[Asked]) -> list[str]:
    """`nghttp`."""

    async def ask(one: Asked) -> str:
        body = ["-d", str(one.upload)] if one.body else []
        status, output, complaints = await _program(one, [find("nghttp"), *body, f"{one.url}/{one.name}"])
        if status < 0:
            return WAITS
        if "not processed" in complaints:
            return "not processed"
        return f"exit {status}" if status else said(output.count(b"data: "))

    return await _each(asked, ask)


async def in_process(asked: Sequence[Asked]) -> list[str]:
    """httpx, with h2; its blocking client, in threads."""

    def ask(one: Asked) -> str:
        got = ""
        verify = ssl.create_default_context(cafile=one.ca) if one.ca else False
        method, url = "POST" if one.body else "GET", f"{one.url}/{one.name}"
        options = {"http1": bool(one.ca), "http2": True, "verify": verify, "trust_env": False, "timeout": one.patience}
        try:
            with httpx.Client(**options) as client, client.stream(method, url, content=one.body) as answer:
                for piece in answer.iter_text():
                    got += piece
            return said(got.count("data: "))
        except httpx.TimeoutException:
            return WAITS
        except Exception as error:  # noqa: BLE001 -- whatever it raises is what it reports: h2's own errors too
            event = re.search(r"<(\w+) .*?error_code:(?:ErrorCodes\.)?(\w+)", str(error))
            why = f": {event[1]} {event[2]}" if event else ""
            return f"{type(error).__name__}{why}"

    return await in_threads(ask, asked)


ASKERS = {"httpx": in_process, "curl": curl, "nghttp": nghttp, "Node http2": node}
