"""Ten thousand exchanges of all kinds through one proxy, over links: what there was at the start is what there is at the end,
and three who have counted agree."""

import gc
import json
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import trio
import trio.testing

from chaosproxy.journal.jsonl import JournalFile
from chaosproxy.testing.proxied import Linked, linked
from tests.loopback.test_leaks import tasks
from tests.soak.mix import SCENARIO, Mix
from tests.soak.origin import Counting

EXCHANGES = 10_000
WARM = EXCHANGES // 10
WORKERS = 20
OBJECTS = 100
BLOCKS = 500


@dataclass(frozen=True, slots=True)
class Held:
    descriptors: int
    tasks: int
    threads: int
    objects: int
    blocks: int

    @classmethod
    async def now(cls, proxied: Linked) -> "Held":
        """Once nothing runs."""
        with trio.fail_after(60):
            while proxied.proxy._clients or proxied.proxy._exchanges:
                await trio.sleep(0.1)
        await trio.sleep(60)  # deadlines that nobody waits for any more
        for upstream in proxied.proxy._pool.upstreams:
            upstream.retire()
        await trio.testing.wait_all_tasks_blocked()
        proxied.proxy.journal._records.clear()
        gc.collect()
        sys._clear_type_cache()
        descriptors = len(list(Path("/proc/self/fd").iterdir()))
        return cls(descriptors, tasks(), threading.active_count(), len(gc.get_objects()), sys.getallocatedblocks())


def counted(journal: Path) -> tuple[int, Counter[str]]:
    """Lines, and how often an upstream was asked, by the end of the path."""
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    asked: Counter[str] = Counter()
    for line in lines:
        if line["upstream"]["connection"] is not None:
            asked[line["request"]["path"].rpartition("/")[2]] += 1 + line["upstream"].get("retries", 0)
    return len(lines), asked


async def test_ten_thousand_exchanges(autojump_clock, tmp_path, shown):
    counting = Counting()
    lost: list[str] = []
    file = JournalFile(tmp_path / "journal.jsonl", lost.append)
    async with linked(SCENARIO, counting.serve) as proxied:
        proxied.proxy.journal.listen(file)

        async def connect():
            return proxied.connect()

        mix = Mix(connect, seed=1)
        start = await Held.now(proxied)
        await mix.run(WARM, WORKERS)
        warm = await Held.now(proxied)
        await mix.run(EXCHANGES - mix.total, WORKERS)
        end = await Held.now(proxied)
    file.close()
    lines, asked = counted(tmp_path / "journal.jsonl")
    assert lost == []
    assert lines == proxied.proxy.journal.total == mix.total >= EXCHANGES
    assert asked == counting.counted
    assert end.tasks == start.tasks
    assert end.descriptors <= start.descriptors
    assert end.threads <= start.threads  # those of other tests may have ended meanwhile
    assert end.objects - warm.objects <= OBJECTS
    assert end.blocks - warm.blocks <= BLOCKS
    shown(
        "held",
        "ten thousand exchanges of all kinds, twelve scenarios, the journal on",
        tried=EXCHANGES,
        must="descriptors, tasks and threads as at the start; memory flat from the first tenth on; journal = clients = origin",
        happens=f"descriptors, tasks, threads + 0; at most {OBJECTS} objects more; the three agree",
        figure=f"{end.objects - warm.objects:+d} objects, {end.blocks - warm.blocks:+d} blocks of memory; "
        f"{', '.join(f'{count} {kind}' for kind, count in sorted(mix.asked.items()))}",
    )
