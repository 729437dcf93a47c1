"""CPU time and memory of a family of processes, and which processor runs what (Linux).

Rules: nanoseconds as the scheduler accounts them; a process that is gone counts nothing.
"""

import os
from pathlib import Path

PROC = Path("/proc")


def family(root: int) -> list[int]:
    """`root` and every process below it."""
    parents: dict[int, int] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                # The command's name may hold blanks and parentheses: the fields begin behind the last one.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            parents[int(entry.name)] = int(fields[1])
    found = [root]
    for pid in found:
        found.extend(child for child, parent in parents.items() if parent == pid)
    return found


def spent(pids: list[int]) -> int:
    """Nanoseconds on a processor so far, of all threads of all `pids`."""
    total = 0
    for pid in pids:
        for task in (PROC / str(pid) / "task").glob("*/schedstat"):
            try:
                total += int(task.read_text().split()[0])
            except (OSError, IndexError):
                continue  # the thread has ended meanwhile
    return total


def resident(pids: list[int]) -> int:
    """Bytes in memory, of all `pids`; what they share counts for each."""
    total = 0
    for pid in pids:
        try:
            total += int((PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            continue  # the process has ended meanwhile
    return total


def processors() -> tuple[set[int], set[int]]:
    """Where the proxies run, and where origin and reader run: apart if there are two processors, else together."""
    usable = sorted(os.sched_getaffinity(0))
    return ({usable[0]}, {usable[1]}) if len(usable) > 1 else ({usable[0]}, {usable[0]})
