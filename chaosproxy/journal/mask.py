"""Values that carry secrets, masked before they are kept anywhere.

Must not know: which record they go into.
"""

import re
from functools import lru_cache
from sys import intern
from urllib.parse import unquote_plus

from chaosproxy.model.headers import Headers

MASK = "***"

_FIELDS = re.compile(
    r"authorization|proxy-authorization|cookie|set-cookie|(x-)?api-?key|x-goog-api-key|.*token.*|.*secret.*|.*password.*|.*-api-key",
    re.ASCII,
)
_PARAMETERS = {"key", "api_key", "apikey", "api-key", "access_token", "token", "sig", "signature", "password", "secret"}


def is_secret(name: str) -> bool:
    """Whether the field called `name` (lower case) carries a secret."""
    return _FIELDS.fullmatch(name) is not None


def masked_headers(headers: Headers) -> list[list[str]]:
    """`[name, value]` pairs of text, secret values masked; bytes read as latin-1, so nothing is lost or refused."""
    shown: list[list[str]] = []
    for raw_name, raw_value in headers:
        name, secret, is_target = (_known if len(raw_name) <= _LONGEST else _looked_at)(raw_name)
        if secret:
            shown.append([name, MASK])
        elif is_target:
            shown.append([name, masked_target(raw_value.decode("latin-1"))])
        else:
            shown.append([name, intern(raw_value.decode("latin-1"))])  # mostly the same as in the record before
    return shown


def _looked_at(raw: bytes) -> tuple[str, bool, bool]:
    """A field's name as text, whether its value is a secret, whether it is a target that may hold some."""
    name = intern(raw.decode("latin-1"))  # the same few in every record
    lower = name.lower()
    return name, is_secret(lower), lower == "location"


_LONGEST = 64
"""Longer names are looked at each time, so that what is remembered has a bound."""
_known = lru_cache(maxsize=512)(_looked_at)


def masked_target(target: str) -> str:
    """A target or URL with user information and secret query parameters masked."""
    before, mark, query = target.partition("?")
    scheme, separator, rest = before.partition("://")
    if separator and "@" in rest.partition("/")[0]:
        authority, slash, path = rest.partition("/")
        before = f"{scheme}://{MASK}@{authority.rpartition('@')[2]}{slash}{path}"
    return f"{before}{mark}{masked_query(query)}"


def masked_query(query: str) -> str:
    """A query string with the values of secret parameters masked."""
    if not query:
        return query
    parts: list[str] = []
    for part in query.split("&"):
        name, equals, _ = part.partition("=")
        parts.append(f"{name}={MASK}" if equals and unquote_plus(name).lower() in _PARAMETERS else part)
    return "&".join(parts)
