"""What carries a secret is not kept, wherever it stands; what stands beside it is."""

import pytest

from chaosproxy.model.mask import (
    masked_address,
    masked_arguments,
    masked_command,
    masked_headers,
    masked_query,
    masked_target,
)


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


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("client --api-key X --token=Y", "client --api-key *** --token=***"),
        ("A_TOKEN=X python -u client.py --max-tokens 5", "A_TOKEN=*** python -u client.py --max-tokens 5"),
        ("curl -H 'Authorization: Bearer X' -u me:word", "curl -H 'Authorization: Bearer ***' -u ***"),
        ("curl http://me:word@host/?key=X&a=1", "curl http://***@host/?key=***&a=1"),
        (
            'curl http://host:80/secret -d \'{"password": "X"}\'',
            'curl http://host:80/secret -d \'{"password": "***"}\'',
        ),
    ],
)
def test_a_command(written, kept):
    assert masked_command(written) == kept


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["curl", "-H", "Authorization: Token r8_S"], "curl -H 'Authorization: ***'"),
        (["curl", "-H", "Cookie: session=S; b=S"], "curl -H 'Cookie: ***'"),
        (["curl", "-H", "Ocp-Apim-Subscription-Key: S"], "curl -H 'Ocp-Apim-Subscription-Key: ***'"),
        (["a", "--password", "a&S; S"], "a --password '***'"),
        (["a", "--api-key=a S"], "a '--api-key=***'"),
        (["curl", "-u", "me:S S", "http://h/"], "curl -u '***' http://h/"),
        (["a", "http://me:S@h/?key=S"], "a 'http://***@h/?key=***'"),
        (["sh", "-c", "curl -H 'Cookie: S' h"], """sh -c 'curl -H '"'"'Cookie: ***'"'"' h'"""),
        (["python", "client.py", "--stream", "a:b"], "python client.py --stream a:b"),
    ],
)
def test_a_command_argument_by_argument(arguments, kept):
    assert masked_arguments(arguments) == kept


@pytest.mark.parametrize("long", ["x" * 300_000, "-" * 300_000, "token " * 50_000, "-u " * 100_000, "://" * 100_000])
def test_a_long_one_takes_no_longer_than_its_length(long):
    """Else this would take hours."""
    for mask in (masked_command, masked_address, masked_target, masked_query):
        mask(long)
