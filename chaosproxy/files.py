"""Files that somebody names: read whole up to a bound, written whole or not at all, and no link followed that another has planted.

Rules: every failure is an OSError whose `strerror` is a few words for a person. Must not know: what is in a file, who
names it.
"""

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

_OUR_OWN = {Path("/dev/stdin"): 0, Path("/dev/stdout"): 1, Path("/dev/stderr"): 2}
_OUR_OWN_FOLDERS = {Path("/dev/fd"), Path("/proc/self/fd")}
LINKED = "a symbolic link is not followed; name the file itself"


def read(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes (a whole number of MiB): a device would never end, and a
    pipe that nobody writes to never begin. One that is a descriptor of ours, as `<(...)` of a shell, is read to its end."""
    try:
        # Not blocking: opening a pipe that nobody writes to must not hang.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error)) from error
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, "a directory; name a file in it")
        if stat.S_ISFIFO(mode) and is_our_own(path):
            os.read(_number(path), 0)  # of one that is only for writing we would wait for ourselves
            os.set_blocking(descriptor, True)
        elif not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB")
    return content


def create(path: Path, flags: int = os.O_WRONLY, *, mode: int) -> int:
    """The descriptor of a file to write to, new or emptied. A link is refused. The name of one of our own descriptors
    means that one: what has been written there stays, what comes is behind it."""
    try:
        if is_our_own(path):
            return _duplicate(path)
        return os.open(path, flags | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), mode)
    except ValueError as error:  # a NUL in the name
        raise OSError(errno.EINVAL, str(error)) from error
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise OSError(errno.ELOOP, LINKED) from error
        raise


def write(path: Path, pieces: Iterable[str]) -> None:
    """Write the file whole, or leave what there is: it is made beside its place and moved there. A pipe or a device is
    written to where it stands."""
    if is_our_own(path) or (not path.is_symlink() and path.exists() and not path.is_file()):
        _fill(create(path, mode=0o666), pieces)
        return
    if is_refused_link(path):
        raise OSError(errno.ELOOP, LINKED)
    # Two that write the same at the same time have one each; no name becomes too long by it.
    part = path.with_name(f"{path.name[:40]}.{os.urandom(8).hex()}.part")
    descriptor = create(part, os.O_WRONLY | os.O_EXCL, mode=0o666)
    try:
        _fill(descriptor, pieces)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def is_refused_link(path: Path) -> bool:
    """Whether `write` will not have it, because it is a link."""
    return path.is_symlink() and not is_our_own(path)


def _fill(descriptor: int, pieces: Iterable[str]) -> None:
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)


def is_our_own(path: Path) -> bool:
    """Whether it is the name of a descriptor of this process."""
    return path in _OUR_OWN or path.parent in _OUR_OWN_FOLDERS


def _duplicate(path: Path) -> int:
    """The descriptor of ours that it names, once more, with one place in the file. OSError if nothing can be written there."""
    descriptor = os.dup(_number(path))
    try:
        os.write(descriptor, b"")
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _number(path: Path) -> int:
    if path in _OUR_OWN:
        return _OUR_OWN[path]
    if not (path.name.isascii() and path.name.isdecimal() and len(path.name) < 10):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return int(path.name)
