"""Bodies that are compressed, well or badly. Must not know: how a client is judged."""

from chaosproxy.check.case import SAYS_SO, WHOLE, Case, Rule, of_theme
from chaosproxy.check.table.endings import LAST_WORD

DECODES = Rule(
    "decodes",
    "Who offers gzip decodes it piece by piece.",
    "Feed each read to the decoder and take out what there is; or do not offer gzip for streams.",
)

CASES = of_theme(
    "coding",
    [
        Case(
            id="gzip",
            title="gzip, flushed behind each event",
            rule=DECODES,
            good=WHOLE,
            source="zlib, Z_SYNC_FLUSH",
            scenario="faults: [{compress: {coding: gzip, flush: sync}}]",
            gap="40ms",
        ),
        Case(
            id="gzip-held",
            title="gzip, flushed only at the end: everything comes at once",
            rule=DECODES,
            good=WHOLE,
            neutral=frozenset({"late"}),
            suite="full",
            source="expressjs/compression #17, traefik/traefik #7882",
            scenario="faults: [{compress: {coding: gzip, flush: end}}]",
            gap="40ms",
        ),
        Case(
            id="gzip-cut",
            title="gzip ends behind the sixth event without its trailer; HTTP ends in good order",
            rule=LAST_WORD,
            good=SAYS_SO,
            source="the format's own trailer (RFC 1952) says where it ends; nobody looks",
            scenario="faults: [{cut: {at: {event: 6}, then: clean}}, {compress: {coding: gzip, flush: sync, footer: false}}]",
        ),
        Case(
            id="gzip-torn",
            title="gzip is cut inside a block; HTTP ends in good order",
            rule=LAST_WORD,
            good=SAYS_SO,
            suite="full",
            source="RFC 1951, section 3.2.3",
            scenario="faults: [{compress: {coding: gzip, flush: end, cut: 120}}]",
        ),
        Case(
            id="deflate",
            title="deflate, flushed behind each event",
            rule=DECODES,
            good=WHOLE,
            suite="full",
            source="RFC 9110, section 8.4.1.2",
            scenario="faults: [{compress: {coding: deflate, flush: sync}}]",
            gap="40ms",
        ),
    ],
)
