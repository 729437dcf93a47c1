"""The embedded origin: an inference engine in miniature, behind the interfaces of the usual providers.

Rules: it stands where a model server would: requests wait for a slot, tokens leave on an absolute timetable, KV blocks
are taken and given back, and a client that leaves frees all of it, unless a link of that chain is left out on purpose.
Must not know: the proxy, its scenarios, its faults.
"""
