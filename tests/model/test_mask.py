"""What carries a secret is not kept, wherever it stands; what stands beside it is."""

import pytest

from chaosproxy.model.mask import masked_headers, masked_target


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        ("/v1/models", "/v1/models"),
        ("/v1?alt=sse&key=AIza1&b", "/v1?alt=sse&key=***&b"),
        ("/v1?api%5Fkey=1", "/v1?api%5Fkey=***"),
        ("http://me:word@host:80/a@b?x=1", "http://***@host:80/a@b?x=1"),
        ("http://host/a@b", "http://host/a@b"),
        ("http://me@host", "http://***@host"),
    ],
)
def test_a_target(target, kept):
    assert masked_target(target) == kept


def test_fields():
    given = (
        (b"Authorization", b"Bearer 1"),
        (b"X-Session-Token", b"1"),
        (b"Location", b"https://me:word@host/v1?token=1&a=2"),
        (b"Accept", b"*/*"),
    )
    assert masked_headers(given) == [
        ["Authorization", "***"],
        ["X-Session-Token", "***"],
        ["Location", "https://***@host/v1?token=***&a=2"],
        ["Accept", "*/*"],
    ]


def test_a_name_however_long():
    assert masked_headers(((b"x" * 200 + b"-secret", b"1"), (b"y" * 200, b"2"))) == [
        ["x" * 200 + "-secret", "***"],
        ["y" * 200, "2"],
    ]
