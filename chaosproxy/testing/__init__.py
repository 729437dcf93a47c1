"""For those who write faults: play a script against them in virtual time, and check what every fault must stand.

Rules: may import everything, is imported by nothing; importing it loads no Trio. Must not know: test frameworks.
"""

from chaosproxy.testing.checks import check_fault, check_session, check_splitter
from chaosproxy.testing.play import Cue, Upload, play
from chaosproxy.testing.played import Played
from chaosproxy.testing.together import Asked, play_together

__all__ = [
    "Asked",
    "Cue",
    "Played",
    "Upload",
    "check_fault",
    "check_session",
    "check_splitter",
    "play",
    "play_together",
]
