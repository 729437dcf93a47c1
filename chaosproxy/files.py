"""Files that somebody names: read whole up to a bound, written whole or not at all, and no link followed that another has planted.

Rules: every failure is an OSError whose `strerror` is a few words for a person. Must not know: what is in a file, who
names it.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

_OUR_OWN = {Path("/dev/stdout"), Path("/dev/stderr")}
_OUR_OWN_FOLDERS = {Path("/dev/fd"), Path("/proc/self/fd")}
LINKED = "a symbolic link is not followed; name the file itself"


def read(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes (a whole number of MiB): a device would never end, and a
    pipe that nobody writes to never begin."""
    try:
        # Not blocking: opening a pipe that nobody writes to must not hang.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error)) from error
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, "a directory; name a file in it")
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB")
    return content


def create(path: Path, flags: int = os.O_WRONLY, *, mode: int) -> int:
    """The descriptor of a file to write to, new or emptied. A link is refused, unless it is the name of one of our own
    descriptors."""
    flags |= os.O_CREAT | os.O_TRUNC
    if not _is_our_own(path):
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(path, flags, mode)
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error)) from error
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise OSError(errno.ELOOP, LINKED) from error
        raise


def write(path: Path, pieces: Iterable[str]) -> None:
    """Write the file whole, or leave what there is: it is made beside its place and moved there. A pipe or a device is
    written to where it stands."""
    if _is_our_own(path) or (not path.is_symlink() and path.exists() and not path.is_file()):
        _fill(create(path, mode=0o666), pieces)
        return
    if is_refused_link(path):
        raise OSError(errno.ELOOP, LINKED)
    part = path.with_name(path.name + ".part")
    with contextlib.suppress(FileNotFoundError):
        part.unlink()  # what a process that was killed has left, or a link to something else
    descriptor = create(part, os.O_WRONLY | os.O_EXCL, mode=0o666)
    try:
        _fill(descriptor, pieces)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_refused_link(path: Path) -> bool:
    """Whether `write` will not have it, because it is a link."""
    return path.is_symlink() and not _is_our_own(path)


def _fill(descriptor: int, pieces: Iterable[str]) -> None:
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)


def _is_our_own(path: Path) -> bool:
    return path in _OUR_OWN or path.parent in _OUR_OWN_FOLDERS
