"""Names of our own descriptors, as /dev/stdout and /dev/fd/N: what has been written there stays, and a pipe is read."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chaosproxy import files
from chaosproxy.check import baseline
from chaosproxy.cli.ready import check, ready_file
from chaosproxy.errors import UsageError

OURS = ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/2"]


def test_our_own_outputs_are_no_links_of_others_and_are_not_cut_off(tmp_path, shown):
    """`> file`, which has one place for all that is written there."""
    for name in OURS:
        program = f"""
from chaosproxy import files; from pathlib import Path
print("before", flush=True)
files.write(Path({name!r}), ["said\\n"])
print("behind")"""
        with (tmp_path / "out").open("wb") as out:
            subprocess.run([sys.executable, "-c", program], stdout=out, stderr=out, check=True)
        assert (tmp_path / "out").read_text() == "before\nsaid\nbehind\n", name
    shown(
        "files",
        f"what is written is {', '.join(OURS)}, which are redirected to a file",
        tried=len(OURS),
        must="what stands there stays, what comes is behind it",
        happens="all of it, in order",
    )


def test_what_is_no_descriptor_of_ours_to_write_to_is_refused(tmp_path):
    (tmp_path / "read").write_text("mine")
    with (tmp_path / "read").open("rb") as reading:
        names = [str(reading.fileno()), "999999", "9" * 30, "x", "-1"]
        for name in names:
            with pytest.raises(OSError, match=r"No such file|Bad file descriptor"):
                files.write(Path("/dev/fd") / name, ["said"])
    assert (tmp_path / "read").read_text() == "mine"


def test_a_pipe_of_the_shell_is_read_to_its_end(tmp_path):
    """`--baseline <(...)`, whose writer takes its time."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as late, ThreadPoolExecutor() as pool:
        read = pool.submit(baseline.read, Path(f"/dev/fd/{reading}"))
        late.write(b'{"version": 1, "known": ')
        late.flush()
        late.write(b'{"a": "b"}}')
        late.close()
        assert read.result(timeout=20) == {"a": "b"}
    os.close(reading)


def test_a_pipe_of_the_shell_is_not_read_for_ever_nor_from_its_wrong_end(shown):
    said = []
    reading, writing = os.pipe()
    with subprocess.Popen(["cat", "/dev/zero"], stdout=writing) as endless:
        for end in (reading, writing):
            with pytest.raises(UsageError) as refused:
                baseline.read(Path(f"/dev/fd/{end}"))
            said.append(str(refused.value).rpartition(": ")[2])
        os.close(reading)
        os.close(writing)
    assert endless.returncode
    assert said == ["larger than 1 MiB", "Bad file descriptor"]
    shown(
        "files",
        "a pipe without end, and the wrong end of one, as --baseline /dev/fd/N",
        tried=len(said),
        must="refused, when so much has come, or at once",
        happens="; ".join(said),
    )


def test_the_ready_file_may_be_stdout_which_is_not_removed(monkeypatch):
    removed: list[Path] = []
    monkeypatch.setattr(Path, "unlink", lambda self, **_: removed.append(self))
    check(Path("/dev/stdout"))
    with ready_file(Path("/dev/stdout"), ["http://x"]):
        pass
    assert removed == []
