"""The cases of the card, a file for each theme; `CASES` has all of them in their order.

Rules: data alone; each case has its reason, its source and its mend. Must not know: how a client is run or judged.
"""

from chaosproxy.check.case import Case
from chaosproxy.check.table import coding, endings, errors, grpc, http2, leaving, legal, silence, slow, statuses

CASES: tuple[Case, ...] = (
    *endings.CASES,
    *errors.CASES,
    *statuses.CASES,
    *legal.CASES,
    *coding.CASES,
    *silence.CASES,
    *leaving.CASES,
    *http2.CASES,
    *grpc.CASES,
    *slow.CASES,
)
