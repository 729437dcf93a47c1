"""For those who write faults: play a script against them in virtual time, and check what every fault must stand.

Imports everything, is imported by nothing.
"""

from chaosproxy.testing.checks import check_fault, check_session, check_splitter
from chaosproxy.testing.play import Cue, Played, Upload, play

__all__ = ["Cue", "Played", "Upload", "check_fault", "check_session", "check_splitter", "play"]
