"""`make client-matrix`: what real clients make of every case of the report card.

`installed` puts the clients at the versions that are pinned beside their probes, each probe is run through
`chaosproxy check`, `compared` holds the outcome against what was measured by hand, `page` writes it down.
"""
