"""The engine: the faults of all hops in a row, sans-IO.

Rules: it alone owns order, time, room and cancellation; faults only answer. A way is `span - stage - span - ... -
exit`: a stage is the place of a fault that is awake, a span a run of places whose faults rest and costs one counter.
Everything at rest is one span. Must not know: sessions, sockets, scenarios, which faults exist.
"""
