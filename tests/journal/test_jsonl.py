"""The journal's file: whole lines or none, on a disk that is full for a while."""

import errno
import json
import os

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
