"""A child of a fork keeps no socket of the proxy's.

A test process that forks, as `multiprocessing` does, would else leave clients hanging on a port that nobody accepts from;
and a connection that the parent closes would stay open for its peer: no RST, no FIN, as long as the child lives. What a
child starts with `exec` has none of them anyway. Must not know: what the sockets are for.
"""

import os
import socket
import weakref

_ours: "weakref.WeakSet[socket.socket]" = weakref.WeakSet()

parents_alone = _ours.add
"""Called with each socket that is made."""


def _close_in_child() -> None:
    for sock in list(_ours):
        sock.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
