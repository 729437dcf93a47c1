"""For those who write faults: play a script against them in virtual time. Imports everything, is imported by nothing."""

from chaosproxy.testing.play import Played, play

__all__ = ["Played", "play"]
