"""`cache`: the machine keeps an answer, whole or broken off, and gives it to whoever asks for the same next.

Imitates a proxy that stored a truncated answer and served it as if it were complete (Squid's bug 4735, CloudFront with a
body that nothing delimits), and a delivery network that recorded an event stream and plays it back in one burst. Who gets
a truncated one from a cache cannot know it: the end is clean.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.endings import CLEAN, Ending
from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.caching import Key, Serving, Store, Storing
from chaosproxy.model.headers import Headers
from chaosproxy.model.units import ENDLESS, Duration, Size
from chaosproxy.model.validate import field_problem


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Cache(FaultSpec):
    """Keeps answers with status 200, at most 1,000 of them and 16 MiB in all, their heads and keys too, and answers from them by itself. A request
    that comes while the first answer is still on its way goes to the upstream too."""

    name: ClassVar[str] = "cache"
    main: ClassVar[str | None] = "ttl"

    ttl: Duration = ENDLESS
    """How long an answer is kept. Default forever."""
    key: Literal["url", "path"] = "url"
    """What is the same: method and URL, or method and path, whatever the query. Default `url`. The body of a request does
    not count: two prompts are one."""
    vary: tuple[str, ...] = ()
    """The names of request header fields that count too."""
    methods: tuple[str, ...] = ()
    """Only requests of these methods. Default all, POST too."""
    truncated: bool = True
    """Keep an answer that broke off, too. Default true."""
    cut: Size | None = None
    """Keep no more than so many bytes of a body, and give them out as if they were all."""
    limit: Size = 1024 * 1024
    """An answer with a longer body is not kept. Default 1MiB."""
    honour: bool = True
    """Keep nothing that says `Cache-Control: no-store`, `no-cache` or `private`. Default true."""
    headers: Headers = ()
    """Header fields put on an answer that is given out; it has an Age (RFC 9111 section 5.1) in any case."""
    then: tuple[Ending, ...] = (CLEAN,)
    """How an answer that is given out ends; of a list the first that is possible. Default `clean`."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        wrong = [(name, field_problem(name.encode(), b"")) for name in self.vary]
        return [(("vary",), message) for _, message in wrong if message is not None]

    def share(self) -> object:
        return Store()

    def start(self, context: Context) -> Fault:
        store = context.shared if isinstance(context.shared, Store) else Store()
        key = _key(self, context)
        kept = store.find(key, context.began, self.ttl / context.speed)
        return Storing(self, context, store, key) if kept is None else Serving(self, context, kept)


def _key(spec: Cache, context: Context) -> Key:
    request = context.request
    target = request.target.partition(b"?")[0] if spec.key == "path" else request.target
    wanted = {name.lower().encode() for name in spec.vary}
    varying = tuple((name.lower(), value) for name, value in request.headers if name.lower() in wanted)
    return (request.method, request.authority, target, varying)
