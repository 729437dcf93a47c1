"""The journal's file: whole lines or none, on a disk that is full for a while."""

import errno
import json
import os

import pytest

from chaosproxy.embedded.outlet import Outlet
from chaosproxy.journal import jsonl
from chaosproxy.journal.record import ClientView, ExchangeRecord


def record(number):
    return ExchangeRecord(number, "s", 0, 1, "2026-01-01T00:00:00.000Z", ClientView("http/1.1", 1))


def test_a_line_that_did_not_fit_is_absent_and_the_next_is_whole(tmp_path, monkeypatch):
    said, left = [], [10_000]

    def write(descriptor, data):
        """As much as there is room for; then the disk is full."""
        fits = data[: left[0]]
        if not fits:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= len(fits)
        return real(descriptor, fits)

    real = os.write
    monkeypatch.setattr(jsonl.os, "write", write)
    journal = jsonl.JournalFile(tmp_path / "j.jsonl", said.append)
    journal(record(1))
    left[0] = 30
    journal(record(2))
    journal(record(3))
    left[0] = 10_000
    journal(record(4))
    journal.close()
    lines = (tmp_path / "j.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [1, 4]
    assert journal.lost == 2
    assert said == [f"journal {tmp_path / 'j.jsonl'}: No space left on device; exchanges are being lost"]


@pytest.fixture
def named(tmp_path):
    """A journal in a named pipe, and what is said of it."""
    pipe, said = tmp_path / "pipe", []
    os.mkfifo(pipe)
    return pipe, jsonl.JournalFile(pipe, said.append, Outlet), said


def test_lines_in_a_named_pipe_that_nobody_read_are_lost_and_counted(named):
    pipe, journal, said = named
    for number in (1, 2, 3):
        journal(record(number))
    journal.close()
    assert journal.lost == 3
    assert said == [f"journal {pipe}: 3 exchanges lost, which nobody read"]


def test_lines_in_a_named_pipe_belong_to_whoever_has_it_open(named):
    """However slow."""
    pipe, journal, said = named
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        for number in (1, 2, 3):
            journal(record(number))
        journal.close()
        assert [json.loads(line)["id"] for line in reader.read().splitlines()] == [1, 2, 3]
    assert (journal.lost, said) == (0, [])


def test_lines_behind_a_reader_that_has_left_are_lost(named):
    pipe, journal, said = named
    for number in (1, 2, 3):
        journal(record(number))
    length = len(jsonl.line(record(1))) + 1
    with os.fdopen(os.open(pipe, os.O_RDONLY), "rb", buffering=0) as reader:
        assert reader.read(length + 1)[-2:] == b"\n{"
    journal.close()
    assert journal.lost == 2
    assert said == [f"journal {pipe}: 2 exchanges lost, which nobody read"]


def test_a_pipe_that_has_another_s_place_is_left_alone(named):
    pipe, journal, said = named
    journal(record(1))
    pipe.unlink()
    os.mkfifo(pipe)
    theirs = os.open(pipe, os.O_RDWR)
    try:
        os.write(theirs, b"theirs\n")
        journal.close()
        assert os.read(theirs, 100) == b"theirs\n"
    finally:
        os.close(theirs)
    assert (journal.lost, said) == (0, [])
