"""How much the proxy costs, and how exact it is: `python -m benchmarks [--quick] [--only NAME] [--json FILE]`.

Compared in one run, visited in turn, round after round: no proxy at all (`direct`), chaosproxy, a bare Trio byte splice,
and, where found on the machine, nginx with buffering off, HAProxy and mitmproxy in streaming mode; what is missing is
named. The scenes are in `scenes`, what is wanted of them in `targets`; docs/performance.md says what each means.

Rules, and why:

- CPU time of all processes and threads of the proxy, from the kernel's scheduler accounting, per event, byte or request.
  Wall-clock rates on a shared machine say more about the neighbours than about the proxy.
- Latency: each event carries the clock of its sending; the reader subtracts. Added is what is more than `direct`'s.
- Medians of interleaved rounds, and ratios within one run. Differences below 15 % mean nothing.
- CPU per event falls with load (a wake-up costs more than an event): compare at equal load only.

The proxies run on one processor, origin and reader on another, where there are two. Must not be imported by anything.
"""
