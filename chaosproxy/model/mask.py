"""What carries a secret, and how it is shown without: before it is kept in a journal, and wherever a message tells of it.

Rules: by names alone (of a field, a parameter, an option); no value is looked at to see whether it might be one. A body
is never shown, so that nothing of it need be masked. Must not know: records, who shows what.
"""

import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from sys import intern
from urllib.parse import unquote_plus

from chaosproxy.model.headers import Headers

MASK = "***"

_FIELDS = re.compile(
    r"(.*-)?authorization|(set-)?cookie2?|.*api-?key|.*(access|account|auth|functions|private|subscription)-key"
    r"|.*(token|secret|password|passwd|credential).*",
    re.ASCII,
)
"""Fields of a head, in lower case."""
_PARAMETERS = re.compile(
    r"key|sig|pwd|jwt|auth|authorization|token|awsaccesskeyid|subscription[-_]key"
    r"|.*(secret|password|passwd|signature|credential|assertion|verifier|(api|access)[-_]?key"
    r"|(access|auth|bearer|id|refresh|security|session)[-_]?token)",
    re.ASCII,
)
"""Parameters of a query or a fragment, in lower case. No more than these: what is masked in two requests is the same
in both, and a token that only says which page is wanted would make one call of two."""
_TARGETS = frozenset({"location", "content-location", "referer"})
"""Fields that hold a URL."""
_PROTOCOLS = "sec-websocket-protocol"
"""Browsers have no other field of a WebSocket's request to put a key in."""
_USERINFO = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?//|(?!/))[^/?#]*@")
_OFFERED = re.compile(r"((?:api-?key|token|bearer|authorization[a-z0-9.]*)\.)[^,\s]+", re.IGNORECASE)
_SAID = r"[\w-]*(?:authorization|cookie2?|(?:api|access|account|auth|functions|private|subscription)[-_]?key|token|secret|password|passwd|credential)"
_WORDS = re.compile(
    rf"((?:(?<![\w-]){_SAID}['\"]*\s*[:=]\s*['\"]*(?:(?:bearer|basic)\s+)?|(?<!\S)--?{_SAID}\s+['\"]*|[?&;](?:key|sig|pwd|jwt|auth)=))"
    r"[^\s'\"&;]+",
    re.IGNORECASE | re.ASCII,
)
_NAMED = re.compile(r"-*+(\w[\w-]*+)\s*+[:=]\s*", re.ASCII)
_LOGINS = frozenset({"-u", "--user"})
_LOGIN = re.compile(r"((?<!\S)(?:-u|--user)[=\s]+['\"]?)[^\s:'\"/]+:[^\s'\"]+")
_BEHIND = re.compile(r"([?#]).*", re.DOTALL)
_USER = re.compile(r"(://)[^\s/?#'\"]*@")


def is_secret(name: str) -> bool:
    """Whether the field called `name` (lower case) carries a secret."""
    return _FIELDS.fullmatch(name) is not None


def masked_headers(headers: Headers) -> list[list[str]]:
    """`[name, value]` pairs of text, secret values masked; bytes read as latin-1, so nothing is lost or refused."""
    shown: list[list[str]] = []
    for raw_name, raw_value in headers:
        name, secret, holds_some = (_known if len(raw_name) <= _LONGEST else _looked_at)(raw_name)
        if secret:
            shown.append([name, MASK])
        elif holds_some:
            shown.append([name, _masked_value(name.lower(), raw_value.decode("latin-1"))])
        else:
            shown.append([name, intern(raw_value.decode("latin-1"))])  # mostly the same as in the record before
    return shown


def _looked_at(raw: bytes) -> tuple[str, bool, bool]:
    """A field's name as text, whether its value is a secret, whether some part of it may be one."""
    name = intern(raw.decode("latin-1"))  # the same few in every record
    lower = name.lower()
    return name, is_secret(lower), lower in _TARGETS or lower == _PROTOCOLS


_LONGEST = 64
"""Longer names are looked at each time, so that what is remembered has a bound."""
_known = lru_cache(maxsize=512)(_looked_at)


def is_secret_field(raw: bytes) -> bool:
    """`is_secret` for a name as it came, in whichever case."""
    return (_known_secret if len(raw) <= _LONGEST else _is_secret)(raw)


def _is_secret(raw: bytes) -> bool:
    return is_secret(raw.decode("latin-1").lower())


_known_secret = lru_cache(maxsize=512)(_is_secret)


def _masked_value(name: str, value: str) -> str:
    return _OFFERED.sub(rf"\1{MASK}", value) if name == _PROTOCOLS else masked_target(value)


def masked_target(target: str) -> str:
    """A target or URL with user information and the secret parameters of its query and fragment masked."""
    front, hash_, fragment = target.partition("#")
    before, mark, query = front.partition("?")
    if "@" in before:
        before = _USERINFO.sub(rf"\1{MASK}@", before)
    return f"{before}{mark}{masked_query(query)}{hash_}{masked_query(fragment)}"


def masked_query(query: str) -> str:
    """A query string with the values of secret parameters masked."""
    if "=" not in query:
        return query
    parts: list[str] = []
    for part in re.split("([&;])", query):
        name, equals, _ = part.partition("=")
        secret = bool(equals) and _PARAMETERS.fullmatch(unquote_plus(name).lower()) is not None
        parts.append(f"{name}={MASK}" if secret else part)
    return "".join(parts)


def masked_address(text: str) -> str:
    """Of what should be the URL of a server and is none, for a message: without its query, its fragment, and whatever stands
    in front of an `@`."""
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "", text
    _, at, host = rest.rpartition("@")
    shown = f"{scheme}{separator}{MASK}@{host}" if at else text
    return _BEHIND.sub(rf"\1{MASK}", shown)


def masked_arguments(arguments: Sequence[str]) -> str:
    """A command as it would be typed. What stands behind a secret option, or behind the name of a secret in the same
    argument (`Cookie: a=b; c=d`), is masked whole, whatever it is."""
    shown: list[str] = []
    before = ""
    for argument in arguments:
        named = _NAMED.match(argument)
        if _is_option(before) or (before in _LOGINS and ":" in argument):
            shown.append(MASK)
        elif named is not None and is_secret(named[1].lower()):
            shown.append(named[0] + MASK)
        else:
            shown.append(masked_command(argument))
        before = argument
    return shlex.join(shown)


def _is_option(argument: str) -> bool:
    return argument.startswith("-") and is_secret(argument.lstrip("-").lower())


def masked_command(text: str) -> str:
    """Words of a command, with the values behind secret options, variables, fields and parameters masked."""
    return _USER.sub(rf"\1{MASK}@", _LOGIN.sub(rf"\1{MASK}", _WORDS.sub(rf"\1{MASK}", text)))
