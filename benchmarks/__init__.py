"""How much the proxy costs: `python -m benchmarks [--quick]`.

Compared in one run, visited in turn, round after round: no proxy at all (`direct`), chaosproxy (transparent, with one
armed trigger, with six faults in three hops, all armed or two of them latencies), a bare Trio byte splice, and, where
found on the machine, nginx with buffering off, HAProxy and mitmproxy in streaming mode.

What is measured, and why so:

- CPU time of all processes and threads of the proxy, from the kernel's scheduler accounting, per event or per byte.
  Wall-clock rates on a shared machine say more about the neighbours than about the proxy.
- Added latency: each event carries the clock of its sending; the reader subtracts. p50 and p99, less those of `direct`.
- Medians of interleaved rounds, and ratios to the splice of the same run. Differences below 15 % mean nothing.
- CPU per event falls with load (a wake-up costs more than an event): compare at equal load only.

The proxies run on one processor, origin and reader on another, where there are two. Must not be imported by anything.
"""
